//! Durations and latencies as people read them.

/// `1h 02m`, `3m 20s`, `45s`.
pub fn human_duration(seconds: f64) -> String {
    let s = seconds.max(0.0).round() as u64;
    match s {
        0..=59 => format!("{s}s"),
        60..=3599 => format!("{}m {:02}s", s / 60, s % 60),
        _ => format!("{}h {:02}m", s / 3600, s % 3600 / 60),
    }
}

/// Microseconds as people read them: `850 us`, `1.25 ms`, `2.1 s`.
pub fn human_us(us: u64) -> String {
    match us {
        0..=999 => format!("{us} us"),
        1_000..=999_999 => format!("{:.2} ms", us as f64 / 1e3),
        _ => format!("{:.2} s", us as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn durations_and_latencies_carry_their_units() {
        assert_eq!(super::human_duration(44.6), "45s");
        assert_eq!(super::human_duration(200.0), "3m 20s");
        assert_eq!(super::human_duration(3725.0), "1h 02m");
        assert_eq!(super::human_us(850), "850 us");
        assert_eq!(super::human_us(1_250), "1.25 ms");
        assert_eq!(super::human_us(2_100_000), "2.10 s");
    }
}
