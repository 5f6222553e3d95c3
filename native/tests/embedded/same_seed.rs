use crate::world::{World, config, heartbeat, pull, seconds, send};
use evenkeel::embedded::faults::{Rule, Verdict};
use evenkeel::embedded::{Config, Snapshot};
use evenkeel_core::wire::code::RequestCode;
use evenkeel_core::wire::command::Command;

fn run(seed: u64) -> (Snapshot, Vec<Option<Command>>) {
    let mut world = World::with(Config { seed, ..config() });
    let fault = Rule::on(RequestCode::SEND_MESSAGE_V2, Verdict::Delay(seconds(1))).per_mille(300);
    world.state.install(fault).keep();
    let conns: Vec<_> = (0..4).map(|_| world.client()).collect();
    let mut answers = Vec::new();
    for round in 0..20 {
        for (index, conn) in conns.iter().enumerate() {
            world.post(*conn, heartbeat(&format!("c{index}"), "g", &[("t", "*", 1)]));
            let sent = world.post(*conn, send("t", -1, &format!("{round}"), &[]));
            answers.push(world.answer(*conn, sent));
            let pulled = world.post(*conn, pull("g", round));
            answers.push(world.answer(*conn, pulled));
        }
        world.advance(seconds(1));
    }
    (world.state.snapshot(world.now), answers)
}

#[test]
fn the_same_seed_gives_the_same_run() {
    assert_eq!(run(7), run(7));
    assert_ne!(run(7).1, run(8).1);
}
