//! A process by its number *and* its start time (field 22 of `/proc/PID/stat`, clock ticks since boot; see proc(5)):
//! the kernel reuses numbers, so that a number alone may be somebody else's by now.

use std::fs;

/// Start time of a process in clock ticks since boot; `None` when it does not exist or is a zombie (it has ended, only
/// its parent has not looked yet). One whose first thread alone has ended is there: the others hold its memory and
/// ports.
pub fn start_time_ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (state, start) = parse_start_time(&stat)?;
    let is_there = !matches!(state, "Z" | "X" | "x") || has_other_threads(pid);
    is_there.then_some(start)
}

/// Whether a process stands still (SIGSTOP, a debugger).
pub fn is_stopped(pid: u32, started_at_ticks: u64) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    parse_start_time(&stat).is_some_and(|(state, start)| start == started_at_ticks && matches!(state, "T" | "t"))
}

/// Whether a process has a thread besides its first one.
fn has_other_threads(pid: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task"));
    threads.is_ok_and(|threads| threads.flatten().count() > 1)
}

/// State and start time. The command name may hold spaces and parentheses, so fields are counted from the last `)`.
fn parse_start_time(stat: &str) -> Option<(&str, u64)> {
    let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace();
    Some((fields.next()?, fields.nth(18)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_time_is_field_22_even_with_a_wild_command_name() {
        let stat = "42 (a) b (c) S 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1000 2 18446744073709551615";
        assert_eq!(parse_start_time(stat), Some(("S", 987_654)));
        assert_eq!(parse_start_time(&stat.replace(") S ", ") Z ")), Some(("Z", 987_654)));
    }

    #[test]
    fn a_process_is_known_by_id_and_start_time() {
        assert!(start_time_ticks(std::process::id()).unwrap() > 0);
        assert_eq!(start_time_ticks(u32::MAX), None);
    }
}
