//! How a process has ended, for people.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

/// Its exit code or its signal.
pub(crate) fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(9)) => {
            "killed by signal 9 (SIGKILL: by somebody, or by the kernel for lack of memory, see dmesg)".into()
        }
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "ended".into(),
    }
}
