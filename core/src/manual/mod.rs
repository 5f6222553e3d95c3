//! How Evenkeel is built and why. Start with [`design`].
//!
//! | page | answers |
//! |---|---|
//! | [`design`] | What are the parts, and how does one event travel through them? |
//! | [`invariants`] | What is always true, and which test says so? |
//! | [`races`] | What happens when two things happen at once? |
//! | [`decisions`] | Why is it this way, and what would change our mind? |
//! | [`differences`] | Where do we not do what the Java client does? |
//! | [`options`] | What can be set, and what became of Java's options? |
//! | [`draft`] | What does our own strategy do, and where does it not help? |
//! | [`churn`] | How much moves under each strategy? |
//! | [`handover`] | What does the exclusive hand-over do, and how many messages come twice without it? |
//! | [`security`] | Who may call, how do we prove it, and where do secrets stay? |
//! | [`pop`] | What if the broker shares out, or messages are popped? |
//! | [`figures`] | What does it take in time? |

#[doc = include_str!("design.md")]
pub mod design {}

#[doc = include_str!("invariants.md")]
pub mod invariants {}

#[doc = include_str!("races.md")]
pub mod races {}

#[doc = include_str!("decisions.md")]
pub mod decisions {}

#[doc = include_str!("differences.md")]
pub mod differences {}

#[doc = include_str!("options.md")]
pub mod options {}

#[doc = include_str!("draft.md")]
pub mod draft {}

#[doc = include_str!("churn.md")]
pub mod churn {}

#[doc = include_str!("handover.md")]
pub mod handover {}

#[doc = include_str!("security.md")]
pub mod security {}

#[doc = include_str!("pop.md")]
pub mod pop {}

#[doc = include_str!("figures.md")]
pub mod figures {}
