//! Where programs of this machine are.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

/// Directories that are searched after `PATH`: a user's often lacks the ones where mkfs.xfs and losetup live.
const SYSTEM_DIRECTORIES: [&str; 4] = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];

/// Where a program is installed, as an absolute path: it means the same wherever it is started. A name with a `/` is a
/// path, seen from where this process is; any other one is looked for in `PATH`, and where a system has its programs.
/// `None`: it is nowhere.
pub fn program(name: &str) -> Option<PathBuf> {
    program_in(name, &std::env::var_os("PATH").unwrap_or_default())
}

fn program_in(name: &str, path: &OsStr) -> Option<PathBuf> {
    let is_program = |place: &PathBuf| {
        std::fs::metadata(place).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    let place = match name.contains('/') {
        true => Some(PathBuf::from(name)).filter(is_program),
        false => {
            let directories = std::env::split_paths(path).chain(SYSTEM_DIRECTORIES.map(PathBuf::from));
            directories.map(|directory| directory.join(name)).find(is_program)
        }
    };
    std::path::absolute(place?).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn a_program_is_found_where_the_user_is_and_then_where_systems_have_theirs() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        for (name, mode) in [("first", 0o644), ("second", 0o755)] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("tofu"), "").unwrap();
            fs::set_permissions(at(name).join("tofu"), fs::Permissions::from_mode(mode)).unwrap();
        }
        let path = std::env::join_paths([at("none"), at("first"), at("second")]).unwrap();
        assert_eq!(program_in("tofu", &path), Some(at("second/tofu")));
        assert_eq!(program_in("no-such-program", &path), None);
        assert!(program_in("sh", OsStr::new("")).is_some_and(|place| place.is_absolute()));
        let named = at("second/tofu").display().to_string();
        assert_eq!(program_in(&named, OsStr::new("")), Some(at("second/tofu")));
        assert_eq!(program_in("./no-such-program", &path), None);
        let relative = std::env::join_paths([Path::new("."), &at("second")]).unwrap();
        assert_eq!(program_in("tofu", &relative), Some(at("second/tofu")));
    }
}
