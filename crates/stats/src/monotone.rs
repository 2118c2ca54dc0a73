//! Does a short series go up, or down, by more than its own noise explains?
//!
//! Mann-Kendall's test has no power on ten values whose neighbours resemble each other: even a series that rises at
//! every step is then no evidence. What counts is how large the change is beside the steps of the noise. So two models
//! of the series are compared by their likelihoods: a constant with first-order autoregressive noise, and a straight
//! line with such noise, each with the autocorrelation that suits it best (Beach & MacKinnon, Econometrica 46, 1978,
//! for the likelihood with its first value). Long series are reduced to a dozen batch means, so that what wanders for
//! longer than a second is noise too.

/// Values below which nothing is said.
const VALUES_MIN: usize = 5;
/// Fewest batches of a series that has enough values for more than one in each.
const BATCHES: usize = 10;
/// Autocorrelations that are tried: 0, 0.05 ... 0.9.
const AUTOCORRELATION_STEP: f64 = 0.05;
const AUTOCORRELATION_STEPS: u32 = 18;

/// A change in one direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Monotone {
    /// Mean of the first third.
    pub first: f64,
    /// Mean of the last third.
    pub last: f64,
    /// Whether the means of the thirds go one way and a line explains the series so much better than noise does that
    /// this happens in at most 1 % of series at rest, with an autocorrelation of up to 0.7.
    pub is_shown: bool,
}

impl Monotone {
    /// last / first - 1; `None` where nothing was there at first.
    pub fn change(&self) -> Option<f64> {
        crate::ratio(self.last, self.first).map(|factor| factor - 1.0)
    }
}

/// Judges a series with one value a second, or any other even step. `None` below five values.
pub fn monotone_change(values: &[f64]) -> Option<Monotone> {
    let size = (values.len() / BATCHES).max(1);
    let batches: Vec<f64> = values.chunks_exact(size).map(crate::student::mean).collect();
    if batches.len() < VALUES_MIN {
        return None;
    }
    let third = batches.len() / 3;
    let (first, rest) = batches.split_at(third);
    let (middle, last) = rest.split_at(rest.len() - third);
    let [first, middle, last] = [first, middle, last].map(crate::student::mean);
    let goes_one_way = (first < middle && middle < last) || (first > middle && middle > last);
    Some(Monotone { first, last, is_shown: goes_one_way && likelihood_ratio(&batches) > critical(batches.len()) })
}

/// What twice the logarithm of the likelihoods' ratio exceeds in 1 % of series at rest, at an autocorrelation of 0.7,
/// where it is largest (20,000 series each; the test below repeats it).
fn critical(values: usize) -> f64 {
    match values {
        0..=5 => 16.5,
        6..=7 => 15.0,
        _ => 13.0,
    }
}

/// Twice the logarithm of how much likelier a line is than a constant.
fn likelihood_ratio(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let centre = (n - 1.0) / 2.0;
    let line: Vec<f64> = (0_u32..).zip(values).map(|(i, _)| f64::from(i) - centre).collect();
    let ones = vec![1.0; values.len()];
    let mean = crate::student::mean(values);
    // What is left of straight lines by rounding is no noise.
    let least = (1e-9 * mean).powi(2) * n;
    let (mut constant, mut sloped) = (f64::INFINITY, f64::INFINITY);
    for step in 0..=AUTOCORRELATION_STEPS {
        let correlation = AUTOCORRELATION_STEP * f64::from(step);
        let [values, ones, line] = [values, &ones, &line].map(|series| whitened(series, correlation));
        let around_mean = without(&values, &ones);
        let around_line = without(&around_mean, &without(&line, &ones));
        let spread = |left: &[f64]| product(left, left).max(least).ln() - (1.0 - correlation.powi(2)).ln() / n;
        constant = constant.min(spread(&around_mean));
        sloped = sloped.min(spread(&around_line));
    }
    n * (constant - sloped)
}

/// The series less what the value before it explains.
fn whitened(values: &[f64], correlation: f64) -> Vec<f64> {
    let first = values.first().map(|v| v * (1.0 - correlation.powi(2)).sqrt());
    let others = values.windows(2).map(|pair| pair[1] - correlation * pair[0]);
    first.into_iter().chain(others).collect()
}

/// What is left of values when their part along another series is taken out.
fn without(values: &[f64], other: &[f64]) -> Vec<f64> {
    let part = crate::ratio(product(values, other), product(other, other)).unwrap_or(0.0);
    values.iter().zip(other).map(|(v, o)| v - part * o).collect()
}

fn product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Noise;

    /// A series of `seconds`, whose noise has this deviation and correlation; it grows by `factor`.
    fn series(noise: &mut Noise, seconds: u32, deviation: f64, correlation: f64, factor: f64) -> Vec<f64> {
        let mut state = noise.normal();
        let mut next = || {
            let now = state;
            state = correlation * state + (1.0 - correlation * correlation).sqrt() * noise.normal();
            now
        };
        let at = |second: u32| 1.0 + (factor - 1.0) * f64::from(second) / f64::from(seconds - 1);
        (0..seconds).map(|second| 1000.0 * at(second) * (1.0 + deviation * next())).collect()
    }

    fn shown(seconds: u32, deviation: f64, correlation: f64, factor: f64) -> f64 {
        let mut noise = Noise::new(9);
        let runs = 2000;
        let is_shown = |_: &i32| {
            let series = series(&mut noise, seconds, deviation, correlation, factor);
            monotone_change(&series).unwrap().is_shown
        };
        let shown = (0..runs).filter(is_shown).count();
        100.0 * shown as f64 / f64::from(runs)
    }

    #[test]
    fn what_is_at_rest_is_called_moving_in_at_most_one_case_of_a_hundred() {
        for seconds in [5, 7, 10, 15, 20, 40, 60, 120, 300] {
            for correlation in [0.0, 0.5, 0.7] {
                let rate = shown(seconds, 0.05, correlation, 1.0);
                println!("at rest, {seconds} s, autocorrelation {correlation}: {rate:.2} %");
                assert!(rate <= 1.5, "{seconds} s, {correlation}: {rate} %");
            }
        }
    }

    #[test]
    fn a_rise_of_1_7_times_in_ten_seconds_is_shown_and_one_of_a_tenth_within_the_noise_is_not() {
        for (deviation, correlation, at_least) in
            [(0.02, 0.0, 99.0), (0.02, 0.7, 99.0), (0.05, 0.0, 75.0), (0.05, 0.7, 85.0)]
        {
            let rate = shown(10, deviation, correlation, 1.7);
            println!("1.7 times in 10 s, noise {deviation}, autocorrelation {correlation}: shown in {rate:.0} %");
            assert!(rate >= at_least, "{deviation} {correlation}: {rate} %");
        }
        assert!(shown(10, 0.05, 0.7, 1.1) < 10.0);
    }

    #[test]
    fn both_directions_count_and_an_excursion_has_none() {
        let line = |slope: f64| -> Vec<f64> { (0..10).map(|t| 100.0 + slope * f64::from(t)).collect() };
        let up = monotone_change(&line(7.0)).unwrap();
        assert!(up.is_shown && up.change().unwrap() > 0.3, "{up:?}");
        let down = monotone_change(&line(-4.0)).unwrap();
        assert!(down.is_shown && down.change().unwrap() < -0.2, "{down:?}");
        let hill: Vec<f64> = (0..30).map(|t| 100.0 + (f64::from(t) / 5.0).sin() * 20.0).collect();
        assert!(!monotone_change(&hill).unwrap().is_shown);
        assert!(!monotone_change(&[100.0; 10]).unwrap().is_shown);
        assert_eq!(monotone_change(&[1.0, 2.0, 3.0, 4.0]), None);
    }
}
