//! The table of options: names, ranges, misspellings.

use crate::support;

use evenkeel_core::config::{ConfigError, Limits, OPTIONS, OptionRow, RebalanceBy};
use evenkeel_core::wire::request::MessageModel;
use std::collections::BTreeSet;
use support::{SECOND, config};

#[test]
fn every_range_is_enforced() {
    for row in OPTIONS {
        let mut limits = Limits::default();
        for bad in [row.min - 1, row.max + 1, i64::MIN, i64::MAX] {
            let error = row.set(&mut limits, bad).expect_err(row.name);
            assert!(
                matches!(error, ConfigError::OutOfRange { option, value, .. } if option == row.name && value == bad)
            );
            assert_eq!(limits, Limits::default(), "{} was changed by a refused value", row.name);
        }
        for good in [row.min, row.max] {
            row.set(&mut limits, good).expect(row.name);
            assert_eq!(row.value(&limits), good, "{}", row.name);
        }
        row.set(&mut limits, row.value(&Limits::default())).expect("the default is allowed");
        assert_eq!(limits, Limits::default(), "{} sets another field", row.name);
        assert!(row.min < row.max && !row.meaning.is_empty());
    }
}

#[test]
fn names_are_unique() {
    let names: Vec<&str> =
        OPTIONS.iter().flat_map(|row| [row.name, row.java]).filter(|name| !name.is_empty()).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    for row in OPTIONS {
        assert_eq!(OptionRow::find(row.name).map(|found| found.name), Some(row.name));
        assert!(row.java.is_empty() || OptionRow::find(row.java).is_some_and(|found| found.name == row.name));
    }
    assert!(OptionRow::find("").is_none());
}

#[test]
fn what_is_not_shared_is_not_handed_over() {
    let mut config = config(&["T"]);
    (config.limits.exclusive_handover, config.model) = (true, MessageModel::Broadcasting);
    let error = config.validate().expect_err("a broadcasting group has nothing to hand over");
    assert!(error.to_string().starts_with("exclusive_handover: members of a broadcasting group"), "{error}");
    config.model = MessageModel::Clustering;
    assert!(config.hands_over() && config.validate().is_ok());
    config.orderly = true;
    assert!(!config.hands_over() && config.validate().is_ok(), "it does so anyway");

    (config.orderly, config.limits.rebalance) = (false, RebalanceBy::Broker);
    let error = config.validate().expect_err("popped messages have no lock");
    assert!(error.to_string().contains("rebalance=client"), "{error}");
}

#[test]
fn misspellings() {
    for (given, meant) in [
        ("pull_bach", Some("pull_batch")),
        ("concurency", Some("concurrency")),
        ("PULLBATCHSIZE", Some("pullBatchSize")),
        ("rebalance_intervall", Some("rebalance_interval")),
        ("maxReconsumeTime", Some("maxReconsumeTimes")),
        ("colour", None),
        ("", None),
    ] {
        assert_eq!(OptionRow::nearest(given), meant, "{given}");
    }
}

#[test]
fn limits_of_a_configuration_are_checked() {
    for row in OPTIONS {
        let mut config = config(&["T"]);
        config.limits.concurrency = 0;
        assert!(config.validate().is_err(), "{}", row.name);
    }
    let mut config = config(&["T"]);
    config.limits.suspend = 31 * SECOND;
    let error = config.validate().expect_err("the hold is longer than the deadline");
    assert!(error.to_string().contains("pull_timeout"), "{error}");
}

#[test]
fn what_must_be_given() {
    type Spoil = fn(&mut evenkeel_core::config::ConsumerConfig);
    let spoilt: [(&str, Spoil); 5] = [
        ("subscription", |c| c.subscriptions.clear()),
        ("client id", |c| c.client = "".into()),
        ("group", |c| c.group = "".into()),
        ("group", |c| c.group = "two words".into()),
        ("topic", |c| c.subscriptions[0].topic = "a/b".into()),
    ];
    assert!(config(&["T"]).validate().is_ok());
    for (what, spoil) in spoilt {
        let mut config = config(&["T"]);
        spoil(&mut config);
        let error = config.validate().expect_err(what);
        assert!(error.to_string().contains(what), "{error}");
    }
}
