//! Values as users write them.

use crate::error::{Error, Result};
use evenkeel_core::config::{OptionKind, OptionRow};
use evenkeel_core::time::WallClock;
use evenkeel_core::wire::request::ConsumeFrom;
use std::time::Duration;

/// The row of an option and the number that `text` stands for. Times are in ms.
///
/// # Errors
/// There is no such option (the text names the nearest), or the value is none.
pub fn option_value(name: &str, text: &str) -> Result<(&'static OptionRow, i64)> {
    let row = OptionRow::find(name).ok_or_else(|| unknown(name, OptionRow::nearest(name)))?;
    let text = text.trim();
    let value = match row.kind {
        OptionKind::Number => text.parse().map_err(|_| "a whole number".to_owned()),
        OptionKind::Millis => match text.parse::<i64>() {
            Ok(bare) => Ok(bare),
            Err(_) => duration(text).map(|time| i64::try_from(time.as_millis()).unwrap_or(i64::MAX)),
        },
        OptionKind::Bytes => match text.parse::<i64>() {
            Ok(bare) if name == row.java => Ok(bare.saturating_mul(1024 * 1024)),
            Ok(bare) => Ok(bare),
            Err(_) => bytes(text),
        },
        OptionKind::Choice(words) => {
            let place = words.iter().position(|word| *word == text).and_then(|at| i64::try_from(at).ok());
            match text {
                // Where our words are others, Java's switch has its default first, as they have.
                "true" if name == row.java => Ok(place.unwrap_or(0)),
                "false" if name == row.java => Ok(place.unwrap_or(1)),
                _ => place.ok_or_else(|| words.join(" or ")),
            }
        }
    };
    value
        .map(|value| (row, value))
        .map_err(|wanted| Error::config(format!("option {name} is {text:?}, but must be {wanted}")))
}

pub(crate) fn unknown(name: &str, nearest: Option<&str>) -> Error {
    let error = Error::config(format!("there is no setting {name:?}"));
    match nearest {
        Some(nearest) => error.with_hint(format!("did you mean {nearest}? `evenkeel -X list` prints all")),
        None => error.with_hint("`evenkeel -X list` prints all"),
    }
}

/// A time such as `500ms`, `30s`, `15m`, `2h`, `1.5s`; the error says what would have been one.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wanted = || "a time such as 500ms, 30s, 15m or 2h".to_owned();
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wanted)?;
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| wanted())?;
    let seconds = match unit.trim() {
        "us" | "µs" => number / 1e6,
        "ms" => number / 1e3,
        "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        "d" => number * 86_400.0,
        _ => return Err(wanted()),
    };
    Duration::try_from_secs_f64(seconds).map_err(|_| wanted())
}

/// A size such as `512KiB`, `100MiB`, `1GiB`, or with `KB`, `MB`, `GB` in thousands.
fn bytes(text: &str) -> Result<i64, String> {
    let wanted = || "a size such as 512KiB, 100MiB or 1GiB".to_owned();
    let digits = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wanted)?;
    let (number, unit) = text.split_at(digits);
    let number: i64 = number.parse().map_err(|_| wanted())?;
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        _ => return Err(wanted()),
    };
    number.checked_mul(factor).ok_or_else(wanted)
}

/// Where to start: `last`, `first`, Java's names, Unix milliseconds, or `2026-01-31T12:00:00Z`.
pub fn start_from(text: &str) -> Result<ConsumeFrom> {
    match text.trim() {
        "last" | "CONSUME_FROM_LAST_OFFSET" => Ok(ConsumeFrom::Last),
        "first" | "CONSUME_FROM_FIRST_OFFSET" => Ok(ConsumeFrom::First),
        text => time(text).map(ConsumeFrom::Timestamp).ok_or_else(|| {
            Error::config(format!("{text:?} is no place to start from"))
                .with_hint("write last, first, a time such as 2026-01-31T12:00:00Z, or Unix milliseconds")
        }),
    }
}

/// A point in time: `YYYY-MM-DD[THH:MM[:SS[.mmm]]]Z` (a missing Z counts as one), or Unix ms of 13 digits.
pub fn time(text: &str) -> Option<WallClock> {
    if text.len() >= 12 && text.bytes().all(|b| b.is_ascii_digit()) {
        return text.parse().ok().map(WallClock::from_millis);
    }
    let text = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let (date, clock) = text.split_once(['T', ' ']).unwrap_or((text, "00:00"));
    let mut date = date.splitn(3, '-');
    let mut next = |digits: usize| {
        date.next().filter(|part| part.len() == digits).and_then(|part| part.parse::<i64>().ok())
    };
    let (year, month, day) = (next(4)?, next(2)?, next(2)?);
    let mut clock = clock.splitn(3, ':');
    let (hour, minute) = (clock.next()?.parse::<i64>().ok()?, clock.next()?.parse::<i64>().ok()?);
    let second: f64 = clock.next().unwrap_or("0").parse().ok()?;
    let fits = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0.0..60.0).contains(&second);
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60;
    fits.then(|| WallClock::from_millis(seconds * 1000 + (second * 1000.0).round() as i64))
}

/// Days from 1970-01-01 to a day of the Gregorian calendar: years are counted from March, so that the leap day is last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let from_march = (month + 9) % 12;
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    days + (153 * from_march + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_sizes_and_units_of_java() {
        let value = |name, text| option_value(name, text).map(|(row, value)| (row.name, value)).unwrap();
        assert_eq!(value("drain_timeout", "1.5s"), ("drain_timeout", 1500));
        assert_eq!(value("persistConsumerOffsetInterval", "5000"), ("commit_interval", 5000));
        assert_eq!(value("pullThresholdSizeForQueue", "64"), ("queue_bytes_max", 64 << 20));
        assert_eq!(value("queue_bytes_max", "64MiB"), ("queue_bytes_max", 64 << 20));
        assert_eq!(value("pull_batch", "16"), ("pull_batch", 16));
        assert_eq!(value("foreign_members", "warn"), ("foreign_members", 1));
        assert_eq!(value("rebalance", "broker"), ("rebalance", 1));
        assert_eq!(value("clientRebalance", "false"), ("rebalance", 1));
        assert_eq!(value("clientRebalance", "true"), ("rebalance", 0));
        assert_eq!(value("unitMode", "true"), ("unit_mode", 1));
        assert_eq!(value("unitMode", "false"), ("unit_mode", 0));
        assert!(option_value("rebalance", "false").is_err());
        assert!(option_value("foreign_members", "1").unwrap_err().to_string().contains("refuse or warn"));
        assert!(option_value("pull_batch", "16s").unwrap_err().to_string().contains("whole number"));
        assert!(option_value("commit_interval", "soon").unwrap_err().to_string().contains("30s"));
    }

    #[test]
    fn misspelt_options_get_the_nearest_name() {
        let error = option_value("pullBatchsize2", "1").unwrap_err();
        assert!(error.to_string().contains("did you mean pullBatchSize"), "{error}");
        assert!(option_value("enableBackPressure", "1").is_err());
    }

    #[test]
    fn points_in_time() {
        assert_eq!(time("1970-01-01T00:00:00Z"), Some(WallClock::from_millis(0)));
        assert_eq!(time("2026-01-01T00:00:00.123Z"), Some(WallClock::from_millis(1_767_225_600_123)));
        assert_eq!(time("2024-02-29 12:30"), Some(WallClock::from_millis(1_709_209_800_000)));
        assert_eq!(time("1767225600123"), Some(WallClock::from_millis(1_767_225_600_123)));
        assert_eq!(time("yesterday"), None);
        assert_eq!(start_from("first").unwrap(), ConsumeFrom::First);
        assert!(start_from("2026-13-01").is_err());
    }
}
