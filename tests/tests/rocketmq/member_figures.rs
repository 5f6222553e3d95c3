//! What an operator sees of one member: how fast it is (`mqadmin consumerStatus -i`, request 307), and the offsets it holds
//! (request 221, which no command of `mqadmin` sends, but its library does).

use evenkeel::{Ack, Consumer, Outgoing, Producer, StartFrom};
use evenkeel_tests::java::{Cluster, Options, Version};
use evenkeel_tests::mqadmin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

const MINUTE: Duration = Duration::from_secs(60);
const COUNT: usize = 40;

#[test]
fn offsets_and_figures_of_a_member_on_4_9() {
    scenario(Version::V4);
}

#[test]
fn offsets_and_figures_of_a_member_on_5() {
    scenario(Version::V5);
}

fn scenario(version: Version) {
    let cluster = Cluster::start(version, &Options::default());
    cluster.create_topic("orders", 1);
    let runtime = Runtime::new().expect("a runtime");
    let done = Arc::new(AtomicUsize::new(0));
    let consumer = runtime.block_on(async {
        let producer = Producer::builder("p").name_servers(&cluster.namesrv()).start().expect("a producer");
        for _ in 0..COUNT {
            producer.send(Outgoing::new("orders", "x")).await.expect("a stored message");
        }
        producer.close().await;
        let counted = Arc::clone(&done);
        let builder =
            Consumer::builder("readers").name_servers(&cluster.namesrv()).client_id("127.0.0.1@measured");
        let builder = builder.subscribe("orders", "*").start_from(StartFrom::First);
        let builder = builder.handler(move |message| {
            let counted = Arc::clone(&counted);
            async move {
                tokio::time::sleep(Duration::from_millis(20)).await;
                counted.fetch_add(1, Ordering::Relaxed);
                if message.offset() == 7 && message.retries() == 0 { Err("no".into()) } else { Ok(Ack::Done) }
            }
        });
        builder.start().await.expect("a started member")
    });
    let begin = Instant::now();
    while done.load(Ordering::Relaxed) < COUNT {
        assert!(begin.elapsed() < MINUTE, "{done:?} are done");
        std::thread::sleep(Duration::from_millis(20));
    }

    let text = cluster.mqadmin(&["consumerStatus", "-g", "readers", "-i", "127.0.0.1@measured"]);
    println!("{version}: {text}");
    let [pull_rt, pull_tps, consume_rt, ok_tps, failed_tps, failed] =
        mqadmin::figures_of_member(&text, "orders").expect("a row of the topic");
    assert!(pull_rt >= 0.0 && pull_tps > 0.0, "{text}");
    // No bound above: on a busy machine a handler sleeps longer.
    assert!(consume_rt >= 20.0, "{text}");
    assert!(ok_tps > 0.0 && ok_tps > failed_tps && failed_tps > 0.0, "{text}");
    assert!(failed >= 1.0, "{text}");
    assert!(mqadmin::figures_of_member(&text, "%RETRY%readers").is_some(), "{text}");

    let text = cluster.offsets_of_member("readers", "orders", "127.0.0.1@measured");
    let wanted = r#""127.0.0.1@measured":{{"brokerName":"broker-a","queueId":0,"topic":"orders"}:40}"#;
    assert!(text.contains(wanted), "{text}");
    runtime.block_on(consumer.shutdown(Duration::from_secs(5)));
}
