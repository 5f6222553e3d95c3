//! The simulation natively: settings on the first line of stdin, one input a line behind it, and one line of outputs for
//! each. The package's test of C20 compares these with what the wasm file answers to the same lines.

use std::io::{self, BufRead, Write};

use evenkeel_wasm::error::Refusal;
use evenkeel_wasm::simulation::Simulation;

fn main() -> io::Result<()> {
    let other = |refusal: Refusal| io::Error::other(refusal.to_string());
    let mut lines = io::stdin().lock().lines();
    let settings = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    let mut simulation = Simulation::new(&settings).map_err(other)?;
    let mut out = io::stdout().lock();
    for line in lines {
        let outputs = simulation.step(&line?).map_err(other)?;
        writeln!(out, "{}", outputs.with_safe_numbers().to_text())?;
    }
    Ok(())
}
