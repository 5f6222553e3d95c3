//! A RocketMQ push consumer for tokio whose rebalance you can trust, preview and prove.
//!
//! All decisions are made by the sans-IO crate `evenkeel-core`; this crate moves the bytes, runs the handlers and keeps
//! the time.
//!
//! ```no_run
//! use evenkeel::{Ack, Consumer};
//!
//! #[tokio::main]
//! async fn main() -> evenkeel::Result<()> {
//!     let consumer = Consumer::builder("pay-worker")
//!         .name_servers_from_env()
//!         .subscribe("orders", "paid || refunded")
//!         .handler(|message| async move {
//!             println!("{}: {} bytes", message.msg_id(), message.body().len());
//!             Ok(Ack::Done)
//!         })
//!         .start()
//!         .await?;
//!     consumer.run_until(evenkeel::signal::terminate()).await?.into_result()
//! }
//! ```

mod addresses;
#[cfg(feature = "admin")]
pub mod admin;
mod assignment;
mod builder;
mod claim;
pub mod client;
pub mod clock;
mod conn;
mod consumer;
mod driver;
pub mod embedded;
mod error;
mod filter;
mod handler;
mod identity;
pub mod inspect;
mod message;
#[cfg(feature = "admin")]
pub mod metrics;
mod offset_file;
mod opening;
mod producer;
mod report;
mod security;
pub mod settings;
pub mod signal;
mod status;
mod telling;
#[cfg(feature = "tls")]
mod tls;
mod workers;

pub use assignment::Assignment;
pub use builder::{ConsumerBuilder, NoHandler, WithHandler};
pub use consumer::{Consumer, Control, Events};
pub use error::{BoxError, Error, ErrorKind, Result};
pub use handler::{
    Ack, Batch, BatchAck, BatchHandler, BatchResult, Context, DelayLevel, Handler, HandlerResult, Ordered,
    OrderedHandler, OrderedResult,
};
pub use message::Message;
pub use offset_file::OffsetStore;
pub use producer::{Outgoing, Producer, ProducerBuilder, Receipt};
pub use report::ShutdownReport;
pub use security::Security;
pub use status::{Histogram, Status, Tally, TopicTally};
#[cfg(feature = "tls")]
pub use tls::{Tls, TlsBuilder};

pub use evenkeel_core::allocate;
pub use evenkeel_core::config::{Limits, OPTIONS, RebalanceBy};
pub use evenkeel_core::consumer::io::{Common, Event, Failure, Position, RebalanceReason, Scope};
pub use evenkeel_core::consumer::{QueueView, Snapshot};
pub use evenkeel_core::error::Blame;
pub use evenkeel_core::model::{Address, ClientId, Group, MessageQueue, Topic};
pub use evenkeel_core::wire::acl::{Credentials, Secret};
pub use evenkeel_core::wire::peer::DirectVerdict;
pub use evenkeel_core::wire::request::ConsumeFrom as StartFrom;
pub use evenkeel_core::wire::request::MessageModel as ConsumptionModel;
