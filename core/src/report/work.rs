//! How much there is to compute, so that too much is refused before it is begun.

use super::{Change, Error, ErrorCode, Options, RollIds, RollWord, Strategy};
use crate::plan::{Layout, Trials, said};

/// How much there is to compute.
pub(super) struct Work {
    queues: u64,
    members: u64,
    /// Plans that one trial makes.
    steps: u64,
    rolls_to_unknown: bool,
    samples: Option<usize>,
    seed: u64,
}

impl Work {
    /// The most trials that can be asked for.
    const MOST_SAMPLES: usize = 10_000;
    /// The most points of a hash ring: some hundred megabytes.
    const MOST_POINTS: u64 = 10_000_000;
    /// The most that a plan may take, in units of about a nanosecond.
    const MOST: u64 = 4_000_000_000;

    pub(super) fn new(layout: &Layout, changes: &[Change], options: &Options) -> Result<Self, Error> {
        if let Some(samples) = options.samples.filter(|&samples| samples > Self::MOST_SAMPLES) {
            let most = Self::MOST_SAMPLES;
            let text = said!(
                "{samples} trials; at most {most} can be asked for",
                "{samples} 次试验；最多可要求 {most} 次"
            );
            return Err(Error::new(ErrorCode::TooLarge, text).at("samples"));
        }
        let members = layout.members.len() + changes.iter().map(Change::joining).sum::<usize>();
        let grown: u64 = changes
            .iter()
            .filter_map(|change| match change {
                Change::Queues { read_queues, .. } => u64::try_from(*read_queues).ok(),
                _ => None,
            })
            .sum();
        let (mut steps, mut rolls_to_unknown) = (0, false);
        for change in changes {
            match change {
                Change::Roll { ids } => {
                    steps += 2 * members as u64;
                    rolls_to_unknown |= *ids == RollIds::Word(RollWord::New);
                }
                _ => steps += 1,
            }
        }
        Ok(Self {
            queues: layout.queues() + grown,
            members: members as u64,
            steps: steps + 1,
            rolls_to_unknown,
            samples: options.samples,
            seed: options.seed,
        })
    }

    /// One allocation of so many queues to so many members.
    pub(super) fn once(queues: u64, members: usize) -> Self {
        Self { queues, members: members as u64, steps: 1, rolls_to_unknown: false, samples: None, seed: 0 }
    }

    /// What one trial takes.
    fn of_trial(&self, strategy: &Strategy) -> u64 {
        let points = strategy.points() as u64;
        let hashed = if points > 0 { 100 * (self.queues + points * self.members) } else { 0 };
        let pairs = if strategy.is_slow() { 6 * self.queues * self.members } else { 0 };
        (40 * (self.queues + self.members) + hashed + pairs).saturating_mul(self.steps)
    }

    pub(super) fn fits(&self, strategy: &Strategy) -> Result<(), Error> {
        let points = (strategy.points() as u64).saturating_mul(self.members);
        if points > Self::MOST_POINTS {
            let most = Self::MOST_POINTS;
            let text = said!(
                "a ring of {points} points; at most {most} are computed",
                "哈希环有 {points} 个点；最多计算 {most} 个"
            );
            return Err(Error::new(ErrorCode::TooLarge, text).with_hint("use fewer virtual nodes"));
        }
        let all = self.of_trial(strategy).saturating_mul(self.samples.unwrap_or(1) as u64);
        if all > Self::MOST {
            let Self { queues, members, steps, .. } = self;
            let name = strategy.name();
            let text = said!(
                "{queues} queues and {members} consumers over {steps} steps are too much for {name}",
                "{queues} 个队列、{members} 个消费者、{steps} 步对 {name} 来说太多"
            );
            return Err(Error::new(ErrorCode::TooLarge, text)
                .with_hint("plan fewer topics at a time, or with fewer samples"));
        }
        Ok(())
    }

    /// A trial of a rolling restart is as long as the group, so fewer are made.
    pub(super) fn trials(&self, strategy: &Strategy) -> Trials {
        let few = || (200_000_000 / self.of_trial(strategy).max(1)).clamp(4, 500) as usize;
        Trials { samples: self.samples.or_else(|| self.rolls_to_unknown.then(few)), seed: self.seed }
    }
}
