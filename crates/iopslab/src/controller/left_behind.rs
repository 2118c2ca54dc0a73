//! What is to be done after an agent that had to be killed.

use std::path::PathBuf;

use evidence::{HostId, Role};
use storage::{Ledger, WorkDirectory};

/// What is to be done after an agent that was killed. One that has made nothing leaves nothing: a client's never does.
pub(super) fn left_by(host: HostId, work_here: Option<&PathBuf>, is_elsewhere: bool) -> String {
    if host.role == Role::Client {
        return String::new();
    }
    let Some(directory) = work_here else {
        return match is_elsewhere {
            true => "; what its machine keeps goes with: iopslab clean --hosts".to_owned(),
            false => String::new(),
        };
    };
    match Ledger::outstanding(&WorkDirectory::ledger_path_in(directory)) {
        Ok(left) if left.is_empty() => String::new(),
        _ => format!(
            "; what it leaves goes with: iopslab clean --work-directory {}",
            directory.display()
        ),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn only_what_a_killed_agent_has_left_is_to_be_cleaned() {
        let work = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&WorkDirectory::ledger_path_in(work.path())).unwrap();
        let here = work.path().to_owned();
        assert_eq!(left_by(HostId::CLIENT, None, true), "");
        assert_eq!(left_by(HostId::DATABASE, None, false), "", "it was not opened");
        assert_eq!(left_by(HostId::DATABASE, Some(&here), false), "");
        let path = here.join("image");
        ledger.intend(storage::LedgerItem::File { path }).unwrap();
        let words = left_by(HostId::DATABASE, Some(&here), false);
        assert!(
            words.ends_with(&format!("iopslab clean --work-directory {}", here.display())),
            "{words}"
        );
        let words = left_by(HostId::DATABASE, None, true);
        assert!(words.ends_with("iopslab clean --hosts"), "{words}");
    }
}
