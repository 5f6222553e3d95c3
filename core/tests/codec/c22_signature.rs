//! C22: the signature covers all fields by code unit order and the body, never itself; the secret stays inside.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use evenkeel_core::wire::acl::{Credentials, SIGNATURE, Secret, signed_content};

const FIELDS: [(&str, &str); 5] =
    [("consumerGroup", "GID"), ("topic", "TopicTest"), ("queueId", "0"), ("a", "1"), ("Zone", "z")];

fn credentials() -> Credentials {
    Credentials {
        access_key: "rocketmq2".to_owned(),
        secret_key: Secret::from("12345678"),
        security_token: None,
    }
}

fn signature(added: &[(&'static str, String)]) -> String {
    added.iter().find(|(name, _)| *name == SIGNATURE).unwrap().1.clone()
}

#[test]
fn values_stand_in_the_order_of_their_names() {
    let all = FIELDS.into_iter().chain([("AccessKey", "rocketmq2")]);
    assert_eq!(signed_content(all, b""), b"rocketmq2z1GID0TopicTest");
    assert_eq!(signature(&credentials().sign(FIELDS, b"")), "ubK8jxH2S7AE73P5Vy60pIC5nnU=");
}

#[test]
fn signing_again_changes_nothing() {
    let first = credentials().sign(FIELDS, b"body");
    let again = FIELDS.into_iter().chain(first.iter().map(|(name, value)| (*name, value.as_str())));
    assert_eq!(credentials().sign(again, b"body"), first);
}

/// The control: everything that is signed changes the signature.
#[test]
fn every_part_counts() {
    let base = signature(&credentials().sign(FIELDS, b"body"));
    assert_ne!(signature(&credentials().sign(FIELDS, b"bodx")), base);
    assert_ne!(signature(&credentials().sign(FIELDS[1..].iter().copied(), b"body")), base);
    let with_token = Credentials { security_token: Some(Secret::from("token")), ..credentials() };
    assert_ne!(signature(&with_token.sign(FIELDS, b"body")), base);
    let other_key = Credentials { secret_key: Secret::from("12345679"), ..credentials() };
    assert_ne!(signature(&other_key.sign(FIELDS, b"body")), base);
}

#[test]
fn the_secret_is_not_printed() {
    let with_token = Credentials { security_token: Some(Secret::from("tok-en")), ..credentials() };
    let printed = format!("{with_token:?} {with_token:#?}");
    assert!(printed.contains("rocketmq2"));
    assert!(!printed.contains("12345678") && !printed.contains("tok-en"), "{printed}");
}

#[test]
fn the_published_example() {
    let credentials =
        Credentials { access_key: "ak".to_owned(), secret_key: Secret::from("sk"), security_token: None };
    let added = credentials.sign([("topic", "TopicTest")], b"body");
    assert_eq!(signature(&added), "Hb5otFzGzzLi3cn/kIG569n1Gf4=");
}
