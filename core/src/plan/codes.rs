//! The codes of findings, and what each means.

use core::fmt;

use super::Said;

/// Names a kind of finding, for good: a number is never used for anything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each is explained in the table below")]
pub enum Code {
    R101,
    R102,
    R103,
    R104,
    R105,
    R106,
    R107,
    R108,
    R109,
    R110,
    R201,
    R202,
    R203,
    R204,
    R205,
    R206,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Worth knowing.
    Info,
    /// Something is not as it could be, or not known.
    Warning,
    /// Messages are read twice or not at all, or a limit is passed.
    Error,
}

/// What a code means, for people who meet it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The code.
    pub code: Code,
    /// How bad it is at worst.
    pub level: Level,
    /// In a few words.
    pub title: &'static str,
    /// What was found, and what it does to the group.
    pub meaning: &'static str,
    /// Where it comes from.
    pub cause: &'static str,
    /// What to do.
    pub fix: Said<&'static str>,
}

/// What a code means, `R101` or `r101`; `None` if there is no such code.
///
/// ```
/// use evenkeel_core::plan::explain;
///
/// assert_eq!(explain("R101").unwrap().title, "duplicate client id");
/// assert_eq!(explain("R999"), None);
/// ```
pub fn explain(code: &str) -> Option<&'static Explanation> {
    EXPLANATIONS.iter().find(|entry| entry.code.as_str().eq_ignore_ascii_case(code.trim()))
}

impl Code {
    /// The code as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::R101 => "R101",
            Self::R102 => "R102",
            Self::R103 => "R103",
            Self::R104 => "R104",
            Self::R105 => "R105",
            Self::R106 => "R106",
            Self::R107 => "R107",
            Self::R108 => "R108",
            Self::R109 => "R109",
            Self::R110 => "R110",
            Self::R201 => "R201",
            Self::R202 => "R202",
            Self::R203 => "R203",
            Self::R204 => "R204",
            Self::R205 => "R205",
            Self::R206 => "R206",
        }
    }
}

impl Level {
    /// The level as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Every code there is, ascending.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: Code::R101,
        level: Level::Error,
        title: "duplicate client id",
        meaning: "Two processes of the group have one client id. The broker lists both, so every member counts one more \
                  place than it should; both processes find themselves at the first of the two places and read the same \
                  queues, and the queues of the other place are read by nobody, unless the processes are Evenkeel's: these read \
                  those, too.",
        cause: "Containers that share an address and a process number, or an instance name that was set to a constant.",
        fix: Said {
            en: "Give each process an instance name or a client id of its own (--client-id; setInstanceName in Java).",
            zh: "为每个进程设置各自的实例名或客户端 ID（--client-id；Java 用 setInstanceName）。",
        },
    },
    Explanation {
        code: Code::R102,
        level: Level::Error,
        title: "queue with several owners",
        meaning: "Several members read one queue. Its messages are handled more than once, and the members overwrite \
                  each other's progress.",
        cause: "A duplicate client id, strategies that differ, or member lists that differed when it was looked at, as \
                they do for a moment after every change.",
        fix: Said {
            en: "Look again after half a minute. If it stays, one of R101, R104, R105 and R106 says why.",
            zh: "半分钟后再看一次。如果仍然如此，R101、R104、R105、R106 之一会说明原因。",
        },
    },
    Explanation {
        code: Code::R103,
        level: Level::Error,
        title: "queue without owner",
        meaning: "Nobody reads a queue. Its messages wait.",
        cause: "As for a queue with several owners; or a member that the broker still lists is dead or stuck.",
        fix: Said {
            en: "Look again after half a minute. If it stays, one of R101, R104, R105 and R106 says why, or a member has to \
                 be restarted.",
            zh: "半分钟后再看一次。如果仍然如此，R101、R104、R105、R106 之一会说明原因，或者需要重启某个消费者。",
        },
    },
    Explanation {
        code: Code::R104,
        level: Level::Error,
        title: "strategies differ",
        meaning: "Members share the queues out by different rules. Each takes what its own rule gives it, so some queues \
                  have two readers and some have none, for as long as the mix lasts.",
        cause: "One service was configured or upgraded and another was not.",
        fix: Said {
            en: "Set the same allocation strategy, with the same settings, on all members, and change it for all at once.",
            zh: "为所有消费者设置相同的分配策略和参数，并且一次全部更换。",
        },
    },
    Explanation {
        code: Code::R105,
        level: Level::Error,
        title: "hash rings differ",
        meaning: "Members use CONSISTENT_HASH of different languages. The Go client hashes with CRC-32 and other keys than \
                  Java does with MD5, so that their rings agree on few queues.",
        cause: "Go members in one group with Java or Rust members.",
        fix: Said {
            en: "Use AVG or AVG_BY_CIRCLE in such a group, which all languages compute alike, or one group for each language.",
            zh: "在这样的消费组中使用 AVG 或 AVG_BY_CIRCLE（各语言的计算结果相同），或者每种语言使用单独的消费组。",
        },
    },
    Explanation {
        code: Code::R106,
        level: Level::Error,
        title: "subscriptions differ",
        meaning: "Members of the group have not subscribed to the same. All of them count in every topic, but who has not \
                  subscribed to a topic does not read its share; and the broker filters for all by the expression it heard \
                  last.",
        cause: "Two applications with one group name, or a release that changed the subscription and is not everywhere yet.",
        fix: Said {
            en: "Subscribe to the same topics with the same expressions on all members, or use a group for each purpose.",
            zh: "让所有消费者以相同的表达式订阅相同的主题，或者每种用途使用单独的消费组。",
        },
    },
    Explanation {
        code: Code::R107,
        level: Level::Warning,
        title: "uneven over the topics",
        meaning: "Each topic is shared as evenly as it can be, but over all topics some members have far more than others.",
        cause: "Topics are shared one by one, and AVG and AVG_BY_CIRCLE give what is left over to the same first members \
                in each.",
        fix: Said {
            en: "Choose a number of members that divides the number of queues of each topic, or AVG_BY_DRAFT if all members \
                 know it.",
            zh: "选择能整除每个主题队列数的消费者数量；如果所有消费者都支持，也可使用 AVG_BY_DRAFT。",
        },
    },
    Explanation {
        code: Code::R108,
        level: Level::Warning,
        title: "idle member",
        meaning: "A member has no queue of any topic. It stands by and does no work.",
        cause: "More members than queues; many topics with fewer queues than members, of which AVG leaves out the same \
                members each time; or a hash ring that passes a member by.",
        fix: Said {
            en: "Run fewer members, add queues, or use AVG_BY_DRAFT if all members know it.",
            zh: "减少消费者，增加队列；如果所有消费者都支持，也可使用 AVG_BY_DRAFT。",
        },
    },
    Explanation {
        code: Code::R109,
        level: Level::Error,
        title: "configured lists do not fit",
        meaning: "The lists of the CONFIG strategy name a queue for several members, or for none.",
        cause: "Each member has a list of its own that nobody checks against the others.",
        fix: Said {
            en: "Name each queue in exactly one list, and look at the lists again when queues are added.",
            zh: "让每个队列恰好出现在一个列表中，增加队列后重新检查这些列表。",
        },
    },
    Explanation {
        code: Code::R110,
        level: Level::Warning,
        title: "member did not answer",
        meaning: "A member was asked what it runs and owns, and did not say. What it owns is taken to be what its \
                  strategy gives it.",
        cause: "An old client, one that runs no push consumer, or a connection that is dead and not yet noticed.",
        fix: Said {
            en: "Ask again; if it keeps silent, look at that process.",
            zh: "再问一次；如果仍无应答，请检查该进程。",
        },
    },
    Explanation {
        code: Code::R201,
        level: Level::Error,
        title: "more moves than allowed",
        meaning: "The change moves more queues than the limit that was given. Each moved queue pauses, and what its old \
                  owner had not committed is delivered again.",
        cause: "Under AVG and AVG_BY_CIRCLE it depends on where a new client id sorts; a change in the middle of the list \
                moves less under AVG.",
        fix: Said {
            en: "Choose another id or strategy, or make the change at a quiet hour.",
            zh: "换一个 ID 或策略，或者在空闲时段进行变更。",
        },
    },
    Explanation {
        code: Code::R202,
        level: Level::Error,
        title: "more skew than allowed",
        meaning: "After the change, the difference between the most and the fewest queues of a member is above the limit \
                  that was given.",
        cause: "A strategy that is not even, such as CONSISTENT_HASH, or many topics that add up.",
        fix: Said {
            en: "Choose another strategy, more virtual nodes, or a number of members that divides the numbers of queues.",
            zh: "换一种策略，增加虚拟节点，或者选择能整除各队列数的消费者数量。",
        },
    },
    Explanation {
        code: Code::R203,
        level: Level::Warning,
        title: "members idle after the change",
        meaning: "After the change, some members have no queue.",
        cause: "As for an idle member.",
        fix: Said {
            en: "Add fewer members, or queues as well.", zh: "少加一些消费者，或者同时增加队列。"
        },
    },
    Explanation {
        code: Code::R204,
        level: Level::Error,
        title: "room unknown",
        meaning: "The strategy shares by machine rooms, and no room is known for a broker or a member. Members cannot \
                  share anything then and keep what they have.",
        cause: "A name that does not follow the convention, or a table that lacks an entry.",
        fix: Said {
            en: "Name the room of each broker and each member.",
            zh: "写明每个 Broker 和每个消费者所在的机房。",
        },
    },
    Explanation {
        code: Code::R205,
        level: Level::Warning,
        title: "running strategy not known",
        meaning: "Members run a strategy that cannot be computed here: a class of their own, or one whose rooms or lists \
                  are not known. What is shown is what other strategies would do, AVG first.",
        cause: "Running info tells the name of a strategy and not its settings.",
        fix: Said {
            en: "Say the strategy with its settings, in the snapshot or as an option.",
            zh: "在快照中或用选项写明策略及其参数。",
        },
    },
    Explanation {
        code: Code::R206,
        level: Level::Info,
        title: "names are pseudonyms",
        meaning: "The snapshot was redacted. Pseudonyms sort as the names did, so that everything that goes by order is \
                  right; CONSISTENT_HASH and AVG_BY_DRAFT hash the names, so theirs are figures of a group like this one.",
        cause: "The option to redact.",
        fix: Said {
            en: "Use the snapshot as it was taken where these figures matter.",
            zh: "在这些数字重要的地方，使用未脱敏的快照。",
        },
    },
];
