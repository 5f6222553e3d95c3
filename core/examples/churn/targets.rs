//! What the product is held to.

use std::fmt::Write as _;
use std::process::ExitCode;

use crate::groups::Size;
use crate::moves::{Churn, doubled_percent};

#[derive(Default)]
pub(crate) struct Targets {
    lines: Vec<(&'static str, String, f64, f64, bool)>,
}

const AVG: usize = 0;
const CIRCLE: usize = 1;
const DRAFT: usize = 3;

impl Targets {
    pub(crate) fn at_most(&mut self, id: &'static str, what: String, measured: f64, limit: f64) {
        self.lines.push((id, what, measured, limit, measured <= limit));
    }

    fn at_least(&mut self, id: &'static str, what: String, measured: f64, limit: f64) {
        self.lines.push((id, what, measured, limit, measured >= limit));
    }

    /// The targets of single changes.
    pub(crate) fn churn(&mut self, sizes: &[Size], churn: &[[Churn; 4]]) {
        for (size, of_size) in sizes.iter().zip(churn) {
            let (queues, members) = (size.queues, size.members);
            let [average, circle, draft] = [AVG, CIRCLE, DRAFT].map(|at| of_size[at]);
            let limits = LIMITS.iter().find(|limits| (limits.queues, limits.members) == (queues, members));
            let Some(limits) = limits else { continue };
            self.at_most(
                "T3",
                format!("leave / floor at ({queues}, {members})"),
                draft.leave.ratio(),
                limits.leave,
            );
            if let Some(limit) = limits.join {
                self.at_most(
                    "T5",
                    format!("join / floor at ({queues}, {members})"),
                    draft.join.ratio(),
                    limit,
                );
            }
            let fewer = |than: Churn| than.leave.moved as f64 / draft.leave.moved as f64;
            if let Some((than_average, than_circle)) = limits.fewer {
                let what = |name| format!("leave moves, times fewer than {name} at ({queues}, {members})");
                self.at_least("T6", what("AVG"), fewer(average), than_average);
                self.at_least("T6", what("AVG_BY_CIRCLE"), fewer(circle), than_circle);
            }
            if let Some(limit) = limits.doubled {
                let what = format!("% read twice while a leave spreads at ({queues}, {members})");
                self.at_most("T7", what, doubled_percent(&draft), limit);
            }
        }
    }

    /// The table in Markdown, and how the program ends.
    pub(crate) fn table(mut self) -> (String, ExitCode) {
        let mut out =
            "\n### Targets for AVG_BY_DRAFT\n\n| # | what | measured | target | |\n|---|---|---|---|---|\n"
                .to_owned();
        self.lines.sort_by_key(|line| line.0.trim_start_matches('T').parse::<u32>().unwrap_or(u32::MAX));
        let mut failed = 0;
        for (id, what, measured, limit, kept) in &self.lines {
            // Writing to a string does not fail.
            let _ = writeln!(
                out,
                "| {id} | {what} | {measured:.2} | {limit} | {} |",
                if *kept { "ok" } else { "FAIL" }
            );
            failed += u32::from(!kept);
        }
        let _ = writeln!(
            out,
            "\n{} targets, {failed} failed. T2 is `cargo test --test allocation draft_vectors`.",
            self.lines.len()
        );
        (out, if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

struct Limit {
    queues: usize,
    members: usize,
    leave: f64,
    join: Option<f64>,
    /// Than AVG and than AVG_BY_CIRCLE.
    fewer: Option<(f64, f64)>,
    doubled: Option<f64>,
}

const LIMITS: [Limit; 7] = [
    Limit { queues: 8, members: 3, leave: 1.15, join: Some(1.4), fewer: None, doubled: None },
    Limit { queues: 16, members: 5, leave: 1.33, join: Some(1.9), fewer: Some((1.4, 3.3)), doubled: None },
    Limit {
        queues: 64,
        members: 10,
        leave: 1.55,
        join: Some(2.0),
        fewer: Some((2.4, 6.0)),
        doubled: Some(1.3),
    },
    Limit {
        queues: 128,
        members: 16,
        leave: 2.0,
        join: Some(1.85),
        fewer: Some((2.7, 7.5)),
        doubled: Some(1.7),
    },
    Limit {
        queues: 1024,
        members: 64,
        leave: 3.1,
        join: Some(2.4),
        fewer: Some((6.5, 20.0)),
        doubled: Some(0.9),
    },
    Limit {
        queues: 1024,
        members: 100,
        leave: 3.5,
        join: Some(3.7),
        fewer: Some((8.0, 27.0)),
        doubled: None,
    },
    Limit { queues: 10_000, members: 300, leave: 4.0, join: None, fewer: None, doubled: None },
];
