//! Stretches of a host's samples: a window of the trial, and steps of ten seconds in it.

use evidence::HostSample;

/// Length of the windows in which "at its limit" is judged, seconds: longer than the throttle's 100 ms slices and than
/// a commit-log sync period, short enough to see work in the background come and go.
const WINDOW_S: f64 = 10.0;

/// The samples from the one nearest to the start of the window to the one nearest to its end.
pub fn window(samples: &[HostSample], from_s: f64, to_s: f64) -> &[HostSample] {
    let nearest = |at: f64| {
        let distance = |i: &usize| (samples[*i].t_s - at).abs();
        (0..samples.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)))
    };
    match (nearest(from_s), nearest(to_s)) {
        (Some(first), Some(last)) if first < last => &samples[first..=last],
        _ => &[],
    }
}

/// The samples at both ends of a step.
pub type Step<'s> = (&'s HostSample, &'s HostSample);

/// Pairs of samples about [`WINDOW_S`] apart that cover the window; a rest shorter than half of that is left out: its
/// rates would be noise. Where that leaves nothing the whole is one window.
pub fn ten_second_steps<'s>(samples: &[&'s HostSample]) -> Vec<Step<'s>> {
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return Vec::new() };
    let mut steps = Vec::new();
    let mut start = *first;
    for sample in &samples[1..] {
        let length = sample.t_s - start.t_s;
        let is_rest = sample.t_s == last.t_s && length >= WINDOW_S / 2.0;
        if length >= WINDOW_S - 0.5 || is_rest {
            steps.push((start, *sample));
            start = sample;
        }
    }
    if steps.is_empty() && last.t_s > first.t_s {
        steps.push((*first, *last));
    }
    steps
}
