//! How many CPUs the database could really have had.

use super::window::Window;
use crate::document::limit::LimitKind;
use crate::host::HostWindow;
use crate::node::Node;

/// CPUs of the database in use, of those it could have. Waiting threads always leave a little of a CPU idle.
pub const AT_CAP: f64 = 0.9;

/// Share of its CPUs from which a database may have been held back by other programs (practice).
const HELD_BACK_FROM: f64 = 0.5;

/// Windows of the host; where its samples were not kept, one of the means of the trial.
pub fn host_windows(node: &Node<'_>) -> Vec<HostWindow> {
    let host = node.host;
    if !host.windows.is_empty() {
        return host.windows.clone();
    }
    let mean = HostWindow {
        used: host.cpus_used.unwrap_or(0.0),
        throttled_periods: host.cpu_throttled_share,
        pause_share: host.pause_share,
        ..HostWindow::default()
    };
    match (host.cpus_used, host.pause_share) {
        (None, None) => Vec::new(),
        _ => vec![mean],
    }
}

/// The CPUs of a node, window by window.
pub fn windows(node: &Node<'_>) -> Vec<Window> {
    if node.host.windows.is_empty() && node.host.cpus_used.is_none() {
        return Vec::new();
    }
    host_windows(node).iter().filter_map(|window| of_window(node, window)).collect()
}

/// The CPUs of one window; `None` where the database was given none.
pub fn of_window(node: &Node<'_>, window: &HostWindow) -> Option<Window> {
    let capacity = available(node.facts.cpus, window);
    (capacity > 0.0).then(|| Window::at(LimitKind::Cpu, window.used, capacity, AT_CAP))
}

/// The CPUs given, less what others took of them; never less than what was used.
///
/// * The hypervisor: Linux counts time as stolen only while a CPU has something to run (proc_stat(5), "steal"), so
///   that stolen time falls on the database as its share of the time in which anything ran.
/// * A quota that nobody asked for: the time in which the database's CPUs had work and were held back
///   (`throttled_usec` of cgroup v2, `throttled_time` of v1, summed over CPUs). Where only periods are counted, each
///   that reached its quota counts as lost. A fraction of a CPU can only be given by a quota; that one *is* the
///   capacity.
/// * Other programs: where the host has no idle CPU time the database can get no more than it did. That is said of one
///   that used half of its CPUs or more: the cgroup that it is started in comes before other programs, so that one that
///   used less of a full host waited for its volumes.
fn available(given: f64, window: &HostWindow) -> f64 {
    let stolen = window
        .stolen
        .zip(window.host_busy)
        .map_or(0.0, |(stolen, busy)| stolen * stats::ratio(window.used, busy).unwrap_or(0.0).min(1.0));
    let is_quota_own = given.fract() != 0.0;
    let held_back = match (window.throttled, window.throttled_periods) {
        _ if is_quota_own => 0.0,
        (Some(throttled), _) => throttled,
        (None, Some(periods)) => given * periods,
        (None, None) => 0.0,
    };
    let left = (given - stolen - held_back).max(window.used);
    let is_in_demand = window.used >= HELD_BACK_FROM * given;
    let most = match window.host_idle {
        Some(idle) if is_in_demand => window.used + idle,
        _ => f64::INFINITY,
    };
    // More CPU time than was given is how counters are read, not a larger capacity.
    left.min(most).min(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (CPUs given, window, CPUs available)
    #[test]
    fn what_was_taken_away_was_not_there() {
        let window = HostWindow { used: 3.2, host_busy: Some(3.4), host_idle: Some(1.6), ..HostWindow::default() };
        let cases = [
            ("nothing taken", 4.0, window, 4.0),
            ("a fifth stolen, a little of it from the client", 4.0, HostWindow { stolen: Some(0.85), ..window }, 3.2),
            (
                "a quota of 3.2 CPUs, by time",
                4.0,
                HostWindow { throttled: Some(0.8), throttled_periods: Some(1.0), ..window },
                3.2,
            ),
            ("a quota, by periods alone", 4.0, HostWindow { throttled_periods: Some(0.1), ..window }, 3.6),
            (
                "every period reached its quota: what was used was all there was",
                4.0,
                HostWindow { throttled_periods: Some(1.0), ..window },
                3.2,
            ),
            ("its own quota is its capacity", 3.5, HostWindow { throttled_periods: Some(0.5), ..window }, 3.5),
            ("the host is full", 4.0, HostWindow { host_idle: Some(0.1), ..window }, 3.3),
            (
                "a full host, and a database that wants little of it",
                4.0,
                HostWindow { used: 1.9, host_idle: Some(0.0), ..window },
                4.0,
            ),
            ("the same, and one that wants half", 4.0, HostWindow { used: 2.0, host_idle: Some(0.0), ..window }, 2.0),
            ("counters read a little late", 3.0, window, 3.0),
        ];
        for (case, given, window, expected) in cases {
            let got = available(given, &window);
            assert!((got - expected).abs() < 1e-9, "{case}: {got}");
        }
    }
}
