//! The simulated calendar: trials one after another from 2000-01-01, so that the same plan gives the same bytes.

use experiment::Plan;

/// Seconds from one trial's end to the next one's start.
const BETWEEN_TRIALS_S: f64 = 15.0;

/// When a trial at this position of the plan begins, Unix seconds.
pub fn started_unix_s(plan: &Plan, position: usize) -> f64 {
    const YEAR_2000: f64 = 946_684_800.0;
    let each = plan.shape.warmup_s + plan.shape.duration_s + BETWEEN_TRIALS_S;
    YEAR_2000 + (position as f64 * each).floor()
}

/// UTC in RFC 3339; days to a date by Hinnant's algorithm (chrono-Compatible Low-Level Date Algorithms, 2013).
pub fn rfc3339(unix_s: f64) -> String {
    let whole = unix_s as i64;
    let (days, second) = (whole.div_euclid(86_400), whole.rem_euclid(86_400));
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    #[test]
    fn dates_of_the_simulated_calendar() {
        assert_eq!(rfc3339(946_684_800.0), "2000-01-01T00:00:00Z");
        assert_eq!(rfc3339(951_868_799.0), "2000-02-29T23:59:59Z");
        assert_eq!(rfc3339(1_767_323_045.0), "2026-01-02T03:04:05Z");
    }
}
