//! Builds, checks and packs the npm package.
//!
//! ```text
//! cargo pack                     target/npm/evenkeel-VERSION.tgz, from nothing
//! cargo xtask build              the same up to the folder target/npm/package
//! cargo xtask test-npm [FILE…]   packs, and runs the tests in wasm/npm/test on the tarball
//! ```

mod bindings;
mod npm;
mod places;
mod run;

use anyhow::{Result, bail};
use places::Places;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = arguments.split_first().map_or(("", &[][..]), |(first, rest)| (first, rest));
    let places = Places::find()?;
    match command {
        "build" => npm::build(&places),
        "pack" => npm::pack(&places).map(drop),
        "test-npm" => npm::test(&places, rest),
        _ => bail!("{command:?} is none of build, pack, test-npm"),
    }
}
