//! Exports that look into the protocol.

use bytes::Bytes;
use evenkeel_core::wire::inspect::{self, Digits, Kind};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::Answer;
use crate::error::Refusal;
use crate::simulation;

fn kind(kind: &str) -> Result<Kind, Refusal> {
    kind.parse().map_err(|error| Refusal::bad_input(error).at("kind"))
}

/// What bytes of the protocol say.
#[wasm_bindgen]
pub fn decode(what: &str, bytes: &[u8]) -> Answer {
    Ok(inspect::inspect(kind(what)?, Bytes::copy_from_slice(bytes)).with_safe_numbers().to_text())
}

/// The same of text: digits of bytes, or an id.
#[wasm_bindgen(js_name = inspectText)]
pub fn decode_text(what: &str, text: &str, base64: bool) -> Answer {
    let digits = if base64 { Digits::Base64 } else { Digits::Hex };
    Ok(inspect::inspect_text(kind(what)?, text.trim().as_bytes(), digits).with_safe_numbers().to_text())
}

/// A consumer's machine, see [`simulation`].
#[wasm_bindgen]
#[derive(Debug)]
pub struct Simulation(simulation::Simulation);

#[wasm_bindgen]
impl Simulation {
    /// A consumer that has not started.
    #[wasm_bindgen(constructor)]
    pub fn new(settings: &str) -> Result<Self, JsValue> {
        Ok(Self(simulation::Simulation::new(settings)?))
    }

    /// One input, and what the machine wants done.
    pub fn step(&mut self, input: &str) -> Answer {
        Ok(self.0.step(input)?.with_safe_numbers().to_text())
    }
}
