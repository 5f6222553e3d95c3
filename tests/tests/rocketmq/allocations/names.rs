//! Names as nobody should choose them, and as everybody does.

use evenkeel_core::rng::Rng;

/// Names that sort, split or hash badly. Beyond the BMP and from U+E000 to U+FFFF the order of UTF-16 units, which is
/// Java's, is not that of code points or of UTF-8 bytes.
const ODD: [&str; 34] = [
    "", " ", "\t", "\0", "\u{85}", "\u{a0}", "\u{feff}", "\u{2028}", "\"", "\\", "'", "null", "0", "-1", "@",
    "@@", "@b", "r1", "r1@", "r1@@", "r1@x@y", "r2@z@", "-", "--", "-b", "r1-", "r1-x-y", "%RETRY%g",
    "e\u{301}", "é", "ß", "SS", "$ref", "@type",
];

/// Letters around the places where the orders part.
const LETTERS: [char; 14] = [
    'a',
    'Z',
    '~',
    '\u{7f}',
    'é',
    '中',
    '\u{d7ff}',
    '\u{e000}',
    '\u{fffd}',
    '\u{ffff}',
    '\u{10000}',
    '\u{1f680}',
    '\u{10fffe}',
    '\u{10ffff}',
];

/// Which kinds of names a case draws from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// `broker-a`, `10.0.0.9@1#2`: what one sees.
    Usual,
    /// A room, a separator, a number: `r2@b10`, `r2-b10`.
    Rooms(char),
    /// All of it, mixed.
    Odd,
}

impl Style {
    pub(crate) fn broker(self, rng: &mut Rng) -> String {
        match self {
            Self::Usual => format!("{}{}", pick(rng, &["b", "broker-", "rmq_"]), rng.below(14)),
            Self::Rooms(separator) => format!("{}{separator}b{}", room(rng), rng.below(12)),
            Self::Odd => odd(rng),
        }
    }

    pub(crate) fn member(self, rng: &mut Rng) -> String {
        let (host, pid) = (rng.below(120), rng.below(3));
        match self {
            Self::Usual => match rng.below(3) {
                0 => format!("10.0.0.{host}@{pid}"),
                1 => format!("10.0.0.{host}@{pid}#{}", rng.next_u64() >> 20),
                _ => format!("c{host}"),
            },
            Self::Rooms(separator) => format!("{}{separator}10.0.0.{host}@{pid}", room(rng)),
            Self::Odd => odd(rng),
        }
    }

    pub(crate) fn topic(self, rng: &mut Rng) -> String {
        if self == Self::Odd { odd(rng) } else { pick(rng, &["T", "orders", "%RETRY%pay"]).to_owned() }
    }
}

/// Few, so that members and brokers meet, and one that hardly anybody is in.
pub(crate) fn room(rng: &mut Rng) -> &'static str {
    pick(rng, &["r1", "r1", "r2", "r2", "r10", "\u{1f680}", "\u{ff21}", "r"])
}

fn odd(rng: &mut Rng) -> String {
    match rng.below(10) {
        0..4 => pick(rng, &ODD).to_owned(),
        4..8 => (0..1 + rng.below(3)).map(|_| pick(rng, &LETTERS)).collect(),
        8 => pick(rng, &["x", "中", "\u{1f680}"]).repeat(1 + rng.below(1_000) as usize),
        _ => format!("{}{}", room(rng), odd(rng)),
    }
}

pub(crate) fn pick<T: Copy>(rng: &mut Rng, items: &[T]) -> T {
    items[rng.below(items.len() as u64) as usize]
}
