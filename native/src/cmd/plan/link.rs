//! `--url`: the plan as a link to the planning page.

use super::super::exit::Failure;
use super::super::source;
use evenkeel_core::report::link::{Shared, fragment};
use evenkeel_core::report::{Options, Snapshot, Strategies, Strategy};

/// A link to a page of this address; without one, its part from the `#` on.
pub(super) fn link(page: &str, shared: &Shared) -> Result<String, Failure> {
    if page.contains(['#', ' ']) {
        return Err(Failure::usage(format!("--url {page}: not the address of a page"))
            .with_hint("such as --url=https://host/planner/, without a #"));
    }
    let text = serde_json::to_string(shared)
        .map_err(|error| Failure::other(format!("cannot write the link: {error}")))?;
    let fragment = fragment(&text).map_err(source::failure)?;
    Ok(format!("{page}{fragment}"))
}

/// The strategies whose settings a link has to carry: those that were asked for, and of other names those that came with
/// a link. What the group runs stands in its snapshot.
pub(super) fn strategies(snapshot: &Snapshot, asked: &Options) -> Vec<Strategy> {
    let named: &[Strategy] = match &asked.strategies {
        Strategies::All => &[],
        Strategies::These(named) => named,
    };
    let others = asked.settings.iter().filter(|known| named.iter().all(|other| other.name() != known.name()));
    let with_settings = named.iter().chain(others).filter(|strategy| strategy.has_settings());
    with_settings.filter(|&strategy| snapshot.strategy.as_ref() != Some(strategy)).cloned().collect()
}
