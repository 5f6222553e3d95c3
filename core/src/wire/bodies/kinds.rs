//! Java's enums by which a group says how it consumes, with the values that this client never sends.

use super::shapes::enum_name;
use crate::wire::json::Value;

macro_rules! java_enum {
    ($(#[$doc:meta])* $name:ident { $( $(#[$value_doc:meta])* $value:ident = $java:literal, )* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name {
            $( $(#[$value_doc])* $value, )*
        }

        impl $name {
            /// Java's names, in the order of their ordinals.
            pub(super) const NAMES: &'static [&'static str] = &[$($java),*];

            /// Java's name.
            pub const fn name(self) -> &'static str {
                match self {
                    $( Self::$value => $java, )*
                }
            }

            /// By name or ordinal; what is neither is the default.
            pub(super) fn read(value: &Value<'_>) -> Self {
                match enum_name(value, Self::NAMES) {
                    $( Some($java) => Self::$value, )*
                    _ => Self::default(),
                }
            }
        }
    };
}

java_enum! {
    /// `ConsumeType`: how the members of a group get their messages.
    ConsumeType {
        /// They pull when they like.
        Actively = "CONSUME_ACTIVELY",
        /// The library pulls for them.
        #[default]
        Passively = "CONSUME_PASSIVELY",
        /// The broker shares out single messages (5.x).
        Pop = "CONSUME_POP",
    }
}

java_enum! {
    /// `ConsumeFromWhere`: where queues without a committed offset start. Three of the values are deprecated.
    StartRule {
        /// Behind what is stored.
        #[default]
        LastOffset = "CONSUME_FROM_LAST_OFFSET",
        /// Deprecated: the same.
        LastOffsetOrFirstAtBoot = "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST",
        /// Deprecated: at the oldest message.
        MinOffset = "CONSUME_FROM_MIN_OFFSET",
        /// Deprecated: behind what is stored.
        MaxOffset = "CONSUME_FROM_MAX_OFFSET",
        /// At the oldest message.
        FirstOffset = "CONSUME_FROM_FIRST_OFFSET",
        /// At a time that is not part of the body.
        Timestamp = "CONSUME_FROM_TIMESTAMP",
    }
}
