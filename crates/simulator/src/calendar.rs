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

/// UTC in RFC 3339, without a fraction.
pub fn rfc3339(unix_s: f64) -> String {
    jiff::Timestamp::from_second(unix_s as i64).unwrap_or(jiff::Timestamp::MAX).to_string()
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
