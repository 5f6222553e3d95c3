//! C14: MACHINE_ROOM gives queues of allowed rooms only, and the room is what stands before the one `@`.

use crate::sharing;

use evenkeel_core::allocate::{AllocateError, MachineRoom};
use evenkeel_core::model::MessageQueue;
use sharing::{by_broker, ids, queues, share, shares};

fn two_rooms() -> Vec<MessageQueue> {
    let mut all = queues("T", "roomA@b1", 4);
    all.extend(queues("T", "roomB@b2", 5));
    all
}

#[test]
fn c14_members_share_their_rooms_only() {
    let strategy = MachineRoom::new(["roomB"]);
    assert_eq!(
        by_broker(&shares(&strategy, &two_rooms(), &ids(["c1", "c2"]))),
        "roomB@b2/0 roomB@b2/1 roomB@b2/4 | roomB@b2/2 roomB@b2/3"
    );
    assert_eq!(
        by_broker(&shares(&strategy, &two_rooms(), &ids(["c1", "c2", "c3"]))),
        "roomB@b2/0 roomB@b2/3 | roomB@b2/1 roomB@b2/4 | roomB@b2/2"
    );
}

#[test]
fn c14_stray_broker_names() {
    let mut all = two_rooms();
    for stray in ["roomB", "roomB@", "roomB@x@y", "roomB@z@"] {
        all.push(MessageQueue::new("T", stray, 0));
    }
    assert_eq!(
        by_broker(&shares(&MachineRoom::new(["roomB"]), &all, &ids(["c1"]))),
        "roomB@b2/0 roomB@b2/1 roomB@b2/2 roomB@b2/3 roomB@b2/4 roomB@z@/0"
    );
    let nameless: Vec<_> = ["@", "@@", "@b", "@b@@", "@@b", ""].map(|b| MessageQueue::new("T", b, 0)).into();
    assert_eq!(by_broker(&shares(&MachineRoom::new([""]), &nameless, &ids(["c1"]))), "@b/0 @b@@/0");
}

#[test]
fn c14_rooms_that_were_never_set() {
    let unset = MachineRoom::default();
    assert_eq!(share(&unset, "c1", &two_rooms(), &ids(["c1"])), Err(AllocateError::RoomsNotSet));
    assert_eq!(share(&unset, "c1", &queues("T", "plain", 4), &ids(["c1"])), Ok(Vec::new()));
    assert_eq!(share(&MachineRoom::new([""; 0]), "c1", &two_rooms(), &ids(["c1"])), Ok(Vec::new()));
}
