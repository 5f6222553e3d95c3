//! What `evenkeel-core` knows, for JavaScript.
//!
//! Each export reads its arguments, asks core, and writes the answer; nothing is decided here. Values cross as JSON text
//! (see [`border`]), errors as [`error::Refusal`]. The package `evenkeel` in `npm/` gives these functions their
//! JavaScript shape; nothing else should call them.
//!
//! | feature, file | exports |
//! |---|---|
//! | `planner`, `evenkeel.wasm` | plans: [`planner`] |
//! | `protocol`, `protocol.wasm` | bytes and the consumer's machine: [`protocol`] |

#[cfg(feature = "planner")]
pub mod border;
pub mod error;
#[cfg(feature = "planner")]
pub mod planner;
#[cfg(feature = "protocol")]
pub mod protocol;
#[cfg(feature = "protocol")]
pub mod simulation;

/// An answer as JSON text, or the text of a [`error::Refusal`].
type Answer = Result<String, wasm_bindgen::JsValue>;

/// The version of core.
#[wasm_bindgen::prelude::wasm_bindgen(js_name = coreVersion)]
pub fn core_version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
