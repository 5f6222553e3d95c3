//! `ConsumeMessageDirectlyResult` (309).

use super::shapes::enum_name;
use super::{Body, long, optional_text, truth};
use crate::wire::error::{WireError, WireErrorKind};
use crate::wire::json::{Value, object};
use crate::wire::peer::{DirectVerdict, DirectlyConsumed};

impl Body for DirectlyConsumed {
    fn from_value(value: &Value<'_>) -> Result<Self, WireError> {
        let name = enum_name(value.field("consumeResult"), DirectVerdict::NAMES);
        let verdict = name.and_then(DirectVerdict::named);
        Ok(Self {
            order: truth(value, "order", false),
            auto_commit: truth(value, "autoCommit", true),
            verdict: verdict.ok_or(WireError::new(WireErrorKind::MissingField, 0, "consumeResult"))?,
            remark: optional_text(value, "remark"),
            spent_ms: long(value, "spentTimeMills")?,
        })
    }

    fn to_value(&self) -> Value<'_> {
        object([
            ("autoCommit", self.auto_commit.into()),
            ("consumeResult", self.verdict.name().into()),
            ("order", self.order.into()),
            ("remark", self.remark.as_deref().map_or(Value::Null, Value::from)),
            ("spentTimeMills", self.spent_ms.into()),
        ])
    }
}
