//! C15: several processes with one client id, as the planner tells it.

use evenkeel_core::plan::Code;
use evenkeel_core::report::{Options, Strategy, allocate, plan, verify};

use crate::groups::{change, group, topic};

#[test]
fn c15_the_repeated_id_and_the_queues_without_owner_are_named() {
    let group = group(vec![topic("T", &[("b", 12)])], &["X", "Y", "X"]);
    let allocation = allocate(&group, Some(&Strategy::Avg {})).unwrap();
    let ids =
        |queues: &[evenkeel_core::report::QueueRef]| queues.iter().map(|queue| queue.id).collect::<Vec<_>>();
    assert_eq!(ids(&allocation.by_consumer[&"X".into()]), [0, 1, 2, 3]);
    assert_eq!(ids(&allocation.by_consumer[&"Y".into()]), [8, 9, 10, 11]);
    assert_eq!(ids(&allocation.stats.orphaned), [4, 5, 6, 7]);
    assert_eq!(ids(&allocation.stats.doubled), [0, 1, 2, 3]);

    let report = verify(&group).unwrap();
    let finding = &report.findings[0];
    assert_eq!((finding.code, finding.consumers[0].as_str()), (Code::R101, "X"));
    assert_eq!(ids(&finding.queues), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(
        (report.connections, report.consumers[0].processes, report.consumers[1].processes),
        (3, Some(2), None)
    );

    let planned = plan(&group, &[change(r#"{"kind":"add","ids":["Z"]}"#)], &Options::default()).unwrap();
    assert_eq!(planned.warnings[0].code, Code::R101);
    assert_eq!((planned.before.consumers, planned.after.consumers), (3, 4));
    let doubled = planned.results[0].moves.iter().find(|moved| moved.to_all.len() == 2);
    assert_eq!(doubled, None, "two processes of one id move together");
}
