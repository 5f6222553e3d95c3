use crate::world::{World, config};
use evenkeel::embedded::{Config, Endpoint, Generation};
use evenkeel_core::rng::Rng;
use evenkeel_core::wire::code::RequestCode;
use evenkeel_core::wire::command::Command;

/// Names of fields that some request has, and texts that are odd for at least one of them.
const FIELDS: [&str; 30] = [
    "topic",
    "consumerGroup",
    "group",
    "queueId",
    "queueOffset",
    "maxMsgNums",
    "sysFlag",
    "commitOffset",
    "subVersion",
    "suspendTimeoutMillis",
    "offset",
    "delayLevel",
    "a",
    "b",
    "c",
    "e",
    "f",
    "g",
    "h",
    "i",
    "timestamp",
    "clientId",
    "maxMsgNums",
    "invisibleTime",
    "pollTime",
    "bornTime",
    "initMode",
    "extraInfo",
    "exp",
    "order",
];
const TEXTS: [&str; 15] = [
    "",
    "t",
    "g",
    "0",
    "1",
    "-1",
    "2147483647",
    "-2147483648",
    "9223372036854775807",
    "-9223372036854775808",
    "%RETRY%g",
    "TBW102",
    "0 1700000000000 60000 0 0 embedded-a 0 0",
    "TAGS\u{1}x\u{2}DELAY\u{1}3\u{2}",
    "\u{10FFFF}",
];
const BODIES: [&str; 11] = [
    "",
    "{",
    "[]",
    "null",
    "{\"clientID\":7,\"consumerDataSet\":[null,{\"groupName\":\"g\",\"subscriptionDataSet\":[{}]}]}",
    "{\"mqSet\":[{}],\"clientId\":null}",
    "\u{0}\u{0}\u{0}\u{1}",
    "{\"consumerGroup\":\"g\",\"topic\":\"t\",\"mode\":\"POP\",\"popShareQueueNum\":2147483647}",
    "{\"consumerGroup\":\"g\",\"topic\":\"t\",\"clientId\":\"c1\",\"strategyName\":\"AVG\"}",
    "{\"brokerName\":\"b\",\"acks\":[{\"b\":\"////\",\"c\":\"g\",\"t\":\"t\",\"r\":\"0\",\"so\":-9223372036854775808}]}",
    "{\"groupName\":\"g\",\"retryQueueNums\":-5}",
];
const CODES: [i32; 41] = [
    10, 11, 14, 15, 17, 29, 30, 31, 33, 34, 35, 36, 38, 41, 42, 46, 101, 103, 104, 105, 106, 200, 202, 203,
    204, 206, 208, 215, 222, 300, 307, 309, 310, 320, 400, 401, 200050, 200051, 200053, 200151, -1,
];

#[test]
fn no_request_brings_the_machine_down_and_each_gets_one_answer_at_most() {
    for generation in [Generation::V5, Generation::V4_9] {
        let mut world = World::with(Config { generation, ..config() });
        let mut conn = world.client();
        world.join(conn, "c1", "g");
        let mut rng = Rng::new(1);
        for _ in 0..30_000 {
            let code = *rng.pick(&CODES).expect("some");
            let mut request = Command::request(RequestCode(code));
            for _ in 0..rng.below(18) {
                let (name, text) = (rng.pick(&FIELDS).expect("some"), rng.pick(&TEXTS).expect("some"));
                request = request.with_field(name, text);
            }
            let request = request.with_body(*rng.pick(&BODIES).expect("some"));
            let opaque = world.post(conn, request);
            if world.answer(conn, opaque).is_some() {
                assert_eq!(world.answer(conn, opaque), None);
            }
            if rng.chance(20) {
                world.advance(crate::world::seconds(7));
            }
            if rng.chance(5) || world.closed.contains(&conn) {
                world.disconnect(conn);
                conn =
                    world.connect(if rng.chance(500) { Endpoint::NameServer } else { Endpoint::Broker(0) });
            }
            world.told(conn);
        }
    }
}
