//! The window against a model that is too simple to be wrong.

use crate::support;

use evenkeel_core::consumer::window::Window;
use proptest::prelude::*;
use std::collections::BTreeMap;
use support::cluster::message;
use support::queue;

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Ready,
    Running,
    Waiting,
    Done,
}

/// Every offset that was ever put in.
struct Model {
    next: i64,
    slots: BTreeMap<i64, (State, i32)>,
}

impl Model {
    fn commit_point(&self) -> i64 {
        let open = self.slots.iter().find(|(_, (state, _))| *state != State::Done);
        open.map_or(self.next, |(offset, _)| *offset)
    }

    fn gaps(&self) -> Vec<i64> {
        let done =
            self.slots.iter().rfind(|(_, (state, _))| *state == State::Done).map(|(offset, _)| *offset);
        let open = |(_, (state, _)): &(&i64, &(State, i32))| matches!(state, State::Ready | State::Waiting);
        self.slots.range(..done.unwrap_or(i64::MIN)).filter(open).map(|(offset, _)| *offset).collect()
    }

    fn count(&self, wanted: impl Fn(State) -> bool) -> usize {
        self.slots.values().filter(|(state, _)| wanted(*state)).count()
    }

    fn change(&mut self, offset: i64, from: &[State], to: State, tries: i32) -> bool {
        match self.slots.get_mut(&offset) {
            Some((state, times)) if from.contains(state) => {
                *state = to;
                *times += tries;
                true
            }
            _ => false,
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Insert(i64),
    Take(usize),
    Complete(i64),
    PutBack(i64, i32),
    Suspend(i64),
    PulledTo(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let offset = 0_i64..40;
    prop_oneof![
        4 => offset.clone().prop_map(Step::Insert),
        3 => (0_usize..6).prop_map(Step::Take),
        5 => offset.clone().prop_map(Step::Complete),
        2 => (offset.clone(), 0..3_i32).prop_map(|(offset, tries)| Step::PutBack(offset, tries)),
        2 => offset.clone().prop_map(Step::Suspend),
        1 => offset.prop_map(Step::PulledTo),
    ]
}

fn apply(window: &mut Window, model: &mut Model, step: &Step) {
    use State::{Done, Ready, Running, Waiting};
    match *step {
        Step::Insert(offset) => {
            let new = offset >= model.next;
            if new {
                model.slots.insert(offset, (Ready, 0));
                model.next = offset + 1;
            }
            assert_eq!(window.insert(message(&queue("T", 0), offset)), new);
        }
        Step::Take(most) => {
            let ready = model.slots.iter_mut().filter(|(_, (state, _))| *state == Ready).take(most);
            let expected: Vec<(i64, i32)> = ready
                .map(|(offset, (state, times))| {
                    *state = Running;
                    (*offset, *times)
                })
                .collect();
            let taken = window.take(most);
            let taken: Vec<_> = taken.iter().map(|m| (m.queue_offset, m.reconsume_times)).collect();
            assert_eq!(taken, expected);
        }
        Step::Complete(offset) => {
            assert_eq!(window.complete(offset), model.change(offset, &[Running, Waiting], Done, 0));
        }
        Step::PutBack(offset, tries) => {
            assert_eq!(
                window.put_back(offset, tries),
                model.change(offset, &[Running, Waiting], Ready, tries)
            );
        }
        Step::Suspend(offset) => {
            let expected = model.change(offset, &[Ready, Running, Waiting], Waiting, 0);
            assert_eq!(window.suspend(offset).map(|m| m.queue_offset), expected.then_some(offset));
        }
        Step::PulledTo(next) => {
            window.pulled_to(next);
            model.next = model.next.max(next);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn window_equals_its_model(start in 0_i64..5, steps in proptest::collection::vec(step(), 0..80)) {
        let mut window = Window::new(start);
        let mut model = Model { next: start, slots: BTreeMap::new() };
        let mut last = start;
        for step in &steps {
            apply(&mut window, &mut model, step);
            let held = model.count(|state| state != State::Done);
            prop_assert_eq!(window.commit_point(), model.commit_point());
            prop_assert_eq!(window.next(), model.next);
            prop_assert_eq!(window.count(), held);
            prop_assert_eq!(window.bytes(), held as u64 * 4);
            prop_assert_eq!(window.ready(), model.count(|state| state == State::Ready));
            prop_assert!(window.commit_point() >= last, "{} after {last}", window.commit_point());
            last = window.commit_point();
            prop_assert_eq!(window.gaps(), model.gaps());
            let ends = window.ends();
            prop_assert_eq!(ends.map(|(first, _)| first), (held > 0).then_some(last));
            prop_assert_eq!(window.span(), ends.map_or(0, |(first, end)| (end - first) as u64));
        }
    }
}

#[test]
fn ends_of_the_number_line() {
    let mut window = Window::new(i64::MIN);
    assert!(window.insert(message(&queue("T", 0), i64::MIN)));
    assert!(window.insert(message(&queue("T", 0), i64::MAX - 1)));
    assert!(!window.insert(message(&queue("T", 0), i64::MAX)));
    assert_eq!(window.span(), u64::MAX - 1);
    assert_eq!((window.count(), window.next()), (2, i64::MAX));
}
