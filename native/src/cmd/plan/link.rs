//! `--url`: the plan as a link to the planning page.

use super::super::exit::Failure;
use super::super::source;
use evenkeel_core::report::link::{Shared, fragment};

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
