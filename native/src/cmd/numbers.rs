//! Numbers as people read them.

use evenkeel::inspect::Lag;
use std::time::Duration;

/// What is not known.
pub(crate) const UNKNOWN: &str = "?";
/// What there is none of.
pub(crate) const NONE: &str = "–";

/// `1,284`
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A sum of which parts may not be known: `1,284`, `1,284+?`, or `?` if nothing is.
pub(crate) fn lag(lag: Lag) -> String {
    match (lag.known, lag.unknown) {
        (0, 0) => NONE.to_owned(),
        (0, _) => UNKNOWN.to_owned(),
        (_, 0) => thousands(lag.messages),
        _ => format!("{}+{UNKNOWN}", thousands(lag.messages)),
    }
}

/// A number, or that it is not known.
pub(crate) fn known(number: Option<u64>) -> String {
    number.map_or_else(|| UNKNOWN.to_owned(), thousands)
}

/// `3 s`, `4 min`, `7 h`, `12 d`: the largest unit that gives at least 2, or 1 of the smallest.
pub(crate) fn age(age: Duration) -> String {
    let seconds = age.as_secs();
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} d", thousands(seconds / 86_400)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_threes() {
        let texts = [0, 12, 999, 1000, 12_345, 1_234_567].map(thousands);
        assert_eq!(texts, ["0", "12", "999", "1,000", "12,345", "1,234,567"]);
    }

    #[test]
    fn unknown_is_not_nothing() {
        let of = |messages, known, unknown| lag(Lag { messages, known, unknown });
        assert_eq!([of(0, 0, 0), of(0, 0, 2), of(0, 2, 0), of(1284, 2, 1)], ["–", "?", "0", "1,284+?"]);
    }

    #[test]
    fn ages_have_one_unit() {
        let texts = [0, 42, 119, 120, 7199, 7200, 172_799, 172_800].map(|s| age(Duration::from_secs(s)));
        assert_eq!(texts, ["0 s", "42 s", "119 s", "2 min", "119 min", "2 h", "47 h", "2 d"]);
    }
}
