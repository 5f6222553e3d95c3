//! The push consumer's machine, moved step by step by whoever plays its servers.
//!
//! Commands of the remoting protocol are values here, in the shape in which `evenkeel decode frame` prints them: the
//! player sees a request's code and fields and answers with a code and fields. So nothing in between can decide
//! anything, and the trace is the one that the same inputs give natively.

mod input;
mod output;

use std::collections::BTreeMap;
use std::sync::Arc;

use evenkeel_core::allocate::{Average, named};
use evenkeel_core::config::{ConsumerConfig, Limits, OptionRow};
use evenkeel_core::consumer::{Consumer, Output};
use evenkeel_core::model::{Address, ClientId, Group};
use evenkeel_core::time::Instant;
use evenkeel_core::wire::json::{self, Value};
use evenkeel_core::wire::request::{ConsumeFrom, MessageModel, Request};

use crate::error::Refusal;
use input::Step;

/// A consumer and the calls it waits for.
#[derive(Debug)]
pub struct Simulation {
    consumer: Consumer,
    /// What each open call asked: its answer can only be read by that.
    calls: BTreeMap<u64, Request>,
}

impl Simulation {
    /// A consumer that has not started.
    ///
    /// # Errors
    /// `BAD_INPUT` if the settings are none, with the field that is wrong.
    pub fn new(settings: &str) -> Result<Self, Refusal> {
        let value = parse(settings)?;
        let config = config(&value)?;
        let seed = value.field("seed").to_i64().unwrap_or(1).cast_unsigned();
        let consumer = Consumer::new(config, seed, Instant::ZERO).map_err(Refusal::bad_input)?;
        Ok(Self { consumer, calls: BTreeMap::new() })
    }

    /// Gives the machine one input at a time, and returns what it wants done, up to and with its being idle.
    ///
    /// # Errors
    /// `BAD_INPUT` if the input is none. The machine has then not moved.
    pub fn step(&mut self, input: &str) -> Result<Value<'static>, Refusal> {
        let value = parse(input)?;
        let Step { at, input, ends } = Step::read(&value, &self.calls)?;
        if let Some(call) = ends {
            self.calls.remove(&call);
        }
        self.consumer.handle(at, input);
        let mut outputs = Vec::new();
        loop {
            let output = self.consumer.poll();
            let is_idle = matches!(output, Output::Idle { .. });
            outputs.push(output::shown(&output));
            if let Output::Call { call, request, .. } = output {
                self.calls.insert(call.0, request);
            }
            if is_idle {
                return Ok(Value::List(outputs));
            }
        }
    }
}

fn parse(text: &str) -> Result<Value<'_>, Refusal> {
    json::parse(text.as_bytes()).map_err(Refusal::bad_input)
}

fn config(value: &Value<'_>) -> Result<ConsumerConfig, Refusal> {
    let mut limits = Limits::default();
    for (name, number) in value.field("options").entries() {
        let name = name.as_str().unwrap_or_default();
        let row = OptionRow::find(name).ok_or_else(|| Refusal::bad_input("is no option").at(name))?;
        let number = number.to_i64().ok_or_else(|| Refusal::bad_input("is no number").at(name))?;
        row.set(&mut limits, number).map_err(|error| Refusal::bad_input(error).at(name))?;
    }
    let servers = value.field("nameServers").items().iter().filter_map(Value::as_str);
    let subscriptions = value.field("subscriptions").items().iter().map(input::subscription);
    Ok(ConsumerConfig {
        group: Group::from(input::text(value, "group")?),
        namespace: String::new(),
        client: ClientId::from(input::text(value, "client")?),
        name_servers: servers.map(Address::from).collect(),
        subscriptions: subscriptions.collect::<Result<_, _>>()?,
        strategy: match value.field("strategy").as_str() {
            Some(name) => named(name).map_err(|error| Refusal::bad_input(error).at("strategy"))?,
            None => Arc::new(Average),
        },
        model: match value.field("model").as_str() {
            None | Some("clustering") => MessageModel::Clustering,
            Some("broadcasting") => MessageModel::Broadcasting,
            Some(_) => return Err(Refusal::bad_input("is neither clustering nor broadcasting").at("model")),
        },
        orderly: value.field("orderly").to_bool().unwrap_or(false),
        start_from: match value.field("startFrom").as_str() {
            None | Some("last") => ConsumeFrom::Last,
            Some("first") => ConsumeFrom::First,
            Some(_) => return Err(Refusal::bad_input("is neither last nor first").at("startFrom")),
        },
        limits,
    })
}
