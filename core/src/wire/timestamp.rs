//! Two questions to the calendar: what instant `yyyyMMddHHmmss` means, and how long the month has lasted.
//!
//! The first is Java's `consumeTimestamp` setting, read leniently by `SimpleDateFormat`: numbers may exceed their ranges
//! (month 13 is next January), blanks may stand before a number and then take room of it, the seconds take all digits that
//! are left, and what follows is ignored. Dates before 1582-10-15 are Julian. The second is a part of
//! [`super::ids::UniqueKey`].

use crate::time::WallClock;

const DAY_MS: i64 = 86_400_000;
const MINUTE_MS: i64 = 60_000;
/// 1582-10-15, the first day of the Gregorian calendar, in days of Unix time.
const GREGORIAN_FROM: i64 = -141_427;

/// The instant that `text` names on a clock `utc_offset` minutes ahead of UTC; none if it cannot be read.
#[must_use]
pub fn parse_consume_timestamp(text: &str, utc_offset: i32) -> Option<WallClock> {
    let mut fields = Fields { text: text.as_bytes(), at: 0 };
    let year = fields.number(4)?;
    let month = fields.number(2)?;
    let day = fields.number(2)?;
    let hour = fields.number(2)?;
    let minute = fields.number(2)?;
    let second = fields.rest()?;
    let local = days(year, month, day) * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000;
    Some(WallClock::from_millis(local - i64::from(utc_offset) * MINUTE_MS))
}

/// Milliseconds since 00:00 of the first day of the month, on a clock `utc_offset` minutes ahead of UTC.
#[must_use]
pub fn millis_since_month_start(now: WallClock, utc_offset: i32) -> u32 {
    let local = now.as_millis().saturating_add(i64::from(utc_offset) * MINUTE_MS);
    let today = local.div_euclid(DAY_MS);
    // At most 31 days: fits in 32 bits.
    ((day_of_month(today) - 1) * DAY_MS + local.rem_euclid(DAY_MS)) as u32
}

struct Fields<'a> {
    text: &'a [u8],
    at: usize,
}

impl Fields<'_> {
    /// A number within the next `width` bytes, blanks before it included.
    fn number(&mut self, width: usize) -> Option<i64> {
        let end = self.at.checked_add(width).filter(|end| *end <= self.text.len())?;
        self.digits(end)
    }

    /// A number of all digits that follow.
    fn rest(&mut self) -> Option<i64> {
        self.digits(self.text.len())
    }

    fn digits(&mut self, end: usize) -> Option<i64> {
        let field = &self.text[self.at..end];
        let blanks = field.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let digits = field[blanks..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let digits = &field[blanks..blanks + digits];
        self.at += blanks + digits.len();
        // No digit is no number, and more than 32 bits are no seconds.
        core::str::from_utf8(digits).ok()?.parse::<i32>().ok().map(i64::from)
    }
}

/// Days of Unix time; month 1 is January, and any month or day is counted on from there.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March have their leap day at the end.
    let months = year * 12 + month - 3;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12));
    let in_julian = year * 365 + year.div_euclid(4) + (153 * month + 2) / 5 + day - 1;
    // 719,468 and 719,470 days lie between 0000-03-01 of either calendar and 1970-01-01.
    let gregorian = in_julian - year.div_euclid(100) + year.div_euclid(400) - 719_468;
    if gregorian >= GREGORIAN_FROM { gregorian } else { in_julian - 719_470 }
}

/// The day of the month, from 1, in the Gregorian calendar.
fn day_of_month(days: i64) -> i64 {
    let since_march_0 = days + 719_468;
    // 146,097 days are 400 years.
    let day_of_era = since_march_0.rem_euclid(146_097);
    let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    day_of_year - (153 * month + 2) / 5 + 1
}

#[cfg(test)]
mod tests {
    use super::{DAY_MS, days, millis_since_month_start};
    use crate::time::WallClock;

    #[test]
    fn month_starts_follow_the_calendar() {
        for (year, month) in (1969..2105).flat_map(|year| (1..=12).map(move |month| (year, month))) {
            let (first, next) = (days(year, month, 1), days(year, month + 1, 1));
            for day in first..next {
                let millis = millis_since_month_start(WallClock::from_millis(day * DAY_MS + 5), 0);
                assert_eq!(i64::from(millis), (day - first) * DAY_MS + 5, "{year}-{month}");
            }
        }
    }

    #[test]
    fn the_local_month_counts() {
        // 2024-02-29T23:30Z is March already, one hour further east.
        let now = WallClock::from_millis(days(2024, 2, 29) * DAY_MS + 1410 * 60_000);
        assert_eq!(millis_since_month_start(now, 60), 30 * 60_000);
    }
}
