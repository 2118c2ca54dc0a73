//! The time of day that tools print, as seconds. Without a zone: only differences are used.

use jiff::civil::{self, Date};

/// `2017-06-19 22:46:23` and what may follow after `:`, `.` or `,` (milliseconds), as seconds from some day on.
pub fn seconds(date: &str, time: &str) -> Option<f64> {
    let mut date = date.splitn(3, '-');
    let (year, month, day) = (date.next()?.parse().ok()?, date.next()?.parse().ok()?, date.next()?.parse().ok()?);
    let date = Date::new(year, month, day).ok().filter(|date| date.year() >= 1970)?;
    let mut time = time.splitn(4, [':', '.', ',']).map(str::parse::<u32>);
    let (hour, minute, second) = (time.next()?.ok()?, time.next()?.ok()?, time.next()?.ok()?);
    let ms = time.next().and_then(Result::ok).unwrap_or(0);
    if hour > 23 || minute > 59 || second > 60 || ms > 999 {
        return None;
    }
    let of_day = f64::from(hour * 3600 + minute * 60 + second) + f64::from(ms) / 1e3;
    Some(date.duration_since(civil::date(1970, 1, 1)).as_secs_f64() + of_day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_hold_over_midnight_and_a_leap_day() {
        for (from, to, seconds_between) in [
            (("2017-06-19", "22:46:23:688"), ("2017-06-19", "22:46:33:938"), 10.25),
            (("2020-01-10", "23:59:50:000"), ("2020-01-11", "00:00:00:000"), 10.0),
            (("2020-02-28", "00:00:00"), ("2020-03-01", "00:00:00"), 2.0 * 86_400.0),
            (("2019-12-31", "23:59:59,500"), ("2020-01-01", "00:00:00,500"), 1.0),
        ] {
            let between = seconds(to.0, to.1).unwrap() - seconds(from.0, from.1).unwrap();
            assert!((between - seconds_between).abs() < 1e-6, "{from:?} {to:?}: {between}");
        }
        for (date, time) in [("2017-13-19", "22:46:23"), ("17-06", "22:46:23"), ("2017-06-19", "25:46:23"), ("", "")] {
            assert_eq!(seconds(date, time), None, "{date} {time}");
        }
    }
}
