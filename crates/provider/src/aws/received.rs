//! Whether a directory in which Terraform is to work holds what this program puts there, and nothing else.
//!
//! Terraform obeys every `*.tf` of a directory and runs the plug-ins below `.terraform`; its state says which plug-ins
//! it needs. A run directory may come from somebody else, and whoever resumes it gives it credentials.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use guarded::if_there;
use serde_json::Value;

use super::error::AwsError;
use super::lock::{self, LOCK};
use super::modules::MODULES;
use super::state;
use super::terraform::{ASKED, BACKEND, LOG, STATE, STATES, VARIABLES};

/// Where Terraform keeps plug-ins, what it knows of its backend, and where its modules lie. It is made again by
/// `terraform init`.
const DATA: &str = ".terraform";
/// Terraform's own: state, its copies, and locks.
const OF_TERRAFORM: [&str; 5] =
    [STATE, "terraform.tfstate.backup", "errored.tfstate", ".terraform.tfstate.lock.info", "crash.log"];
/// By these files programs that take Terraform's name choose which one they start, some by a path to it: tfenv,
/// tofuenv, tenv, asdf, mise. They look for them where they are started and in every directory above.
const CHOICES: [&str; 12] = [
    ".terraform-version",
    ".opentofu-version",
    ".tfswitchrc",
    ".tool-versions",
    "mise.toml",
    ".mise.toml",
    "mise.local.toml",
    ".mise.local.toml",
    "mise/config.toml",
    ".mise/config.toml",
    ".config/mise.toml",
    ".config/mise/config.toml",
];
/// Every run directory has it.
const OF_A_RUN: &str = "plan.json";
const STATE_MOST_BYTES: u64 = 64 << 20;

/// Refuses what this program and Terraform have not made, and has plug-ins fetched anew. `beside` names what the run
/// keeps there besides what is Terraform's; the state may know of what was made for `run`. A Terraform that is still at
/// work there is waited for.
pub(super) fn check(directory: &Path, beside: &[&str], run: &str) -> Result<(), AwsError> {
    if !directory.exists() {
        return Ok(());
    }
    let failed = |error| AwsError::file("examine", directory, error);
    // As whoever is started there finds its way up.
    let place = fs::canonicalize(directory).map_err(failed)?;
    check_choices(&place, &std::env::current_dir().map_err(failed)?)?;
    let _lock = lock::taken(directory)?;
    if let Some(foreign) = guarded::foreign(directory, Some(DATA)).map_err(failed)? {
        let what = foreign.to_string();
        return Err(AwsError::Foreign { what });
    }
    for relative in files_below(directory, Path::new("")).map_err(failed)? {
        if !is_known(&relative, beside) {
            let what = directory.join(&relative).display().to_string();
            return Err(AwsError::Foreign { what });
        }
    }
    check_state(&directory.join(STATE), run)?;
    fetch_plugins_anew(directory).map_err(failed)
}

/// Refuses what chooses another Terraform than the one that is started where the user is, whose version was looked at:
/// in the run, and in directories above it. What lies above the user, too, holds for both, and is the user's own.
fn check_choices(directory: &Path, user: &Path) -> Result<(), AwsError> {
    let above: Vec<&Path> = directory.ancestors().skip(1).collect();
    let of_run = above.iter().rposition(|place| place.join(OF_A_RUN).exists());
    for (number, place) in above.iter().enumerate() {
        let is_in_run = of_run.is_some_and(|last| number <= last);
        if !is_in_run && user.starts_with(place) {
            continue;
        }
        let mut choices = CHOICES.iter().map(|name| place.join(name));
        if let Some(path) = choices.find(|path| fs::symlink_metadata(path).is_ok()) {
            return Err(AwsError::Chosen { path });
        }
    }
    Ok(())
}

fn is_known(relative: &Path, beside: &[&str]) -> bool {
    let name = relative.to_str().unwrap_or_default();
    let own = [ASKED, BACKEND, LOCK, LOG, STATES, VARIABLES];
    MODULES.iter().any(|(module, _)| *module == name)
        || own.contains(&name)
        || OF_TERRAFORM.contains(&name)
        || beside.contains(&name)
        || is_left_aside(relative, beside)
        // A state's earlier versions, by their moments.
        || (name.starts_with("terraform.tfstate.") && name.ends_with(".backup"))
}

/// Whether a kill left it: a known file that was being written, or Terraform's lock file under the name that it has
/// until it is whole. Such a name ends in digits, so that Terraform obeys none; others with a point in front it does
/// (`.x.auto.tfvars`), and so do programs that take its name (`.terraform-version`).
fn is_left_aside(relative: &Path, beside: &[&str]) -> bool {
    let name = relative.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let of_lock = name.strip_prefix(".terraform.lock.hcl");
    of_lock.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
        || guarded::of_aside(name).is_some_and(|of| is_known(&relative.with_file_name(of), beside))
}

/// What lies below `.terraform` are programs. They go, so that `terraform init` brings them from where the user has it
/// fetch them. Nobody needs them: whoever works in the directory has its lock.
fn fetch_plugins_anew(directory: &Path) -> io::Result<()> {
    let data = directory.join(DATA);
    match if_there(fs::symlink_metadata(&data))? {
        Some(found) if found.is_dir() => fs::remove_dir_all(&data),
        Some(_) => fs::remove_file(&data),
        None => Ok(()),
    }
}

/// Before `terraform init`, which would fetch the plug-ins that it names.
fn check_state(path: &Path, run: &str) -> Result<(), AwsError> {
    let read = if_there(guarded::read_no_link(path, STATE_MOST_BYTES));
    let Some(bytes) = read.map_err(|error| AwsError::file("read", path, error))? else { return Ok(()) };
    // One that is no JSON Terraform refuses itself.
    let found: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    state::check(&found, run, &path.display().to_string())
}

/// Paths of all files, relative to the directory; what lies below `.terraform` is not looked at.
fn files_below(directory: &Path, below: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory.join(below))? {
        let entry = entry?;
        let relative = below.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true if relative == Path::new(DATA) => {}
            true => files.extend(files_below(directory, &relative)?),
            false => files.push(relative),
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BESIDE: [&str; 2] = ["id_ed25519", "id_ed25519.pub"];

    fn check(directory: &Path, beside: &[&str]) -> Result<(), AwsError> {
        super::check(directory, beside, "r-1")
    }

    /// A directory as a run leaves it.
    fn directory() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in MODULES {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let state = r#"{"resources":[{"mode":"managed","type":"aws_key_pair","name":"run",
                        "provider":"provider[\"registry.terraform.io/hashicorp/aws\"]"}]}"#;
        for (name, text) in
            [(VARIABLES, "{}"), (ASKED, ""), (LOG, ""), (BESIDE[0], ""), (BESIDE[1], ""), (STATE, state)]
        {
            fs::write(directory.path().join(name), text).unwrap();
        }
        directory
    }

    #[test]
    fn what_a_run_has_left_is_taken_up_and_its_plugins_are_fetched_anew() {
        let directory = directory();
        let plugin = directory.path().join(".terraform/providers/x");
        fs::create_dir_all(plugin.parent().unwrap()).unwrap();
        fs::write(&plugin, "#!/bin/sh").unwrap();
        // And what kills have left.
        for name in ["main.tf", ".terraform.lock.hcl", "modules/network/main.tf", VARIABLES] {
            fs::write(guarded::aside(&directory.path().join(name)).unwrap(), "").unwrap();
        }
        fs::write(directory.path().join(".terraform.lock.hcl3417"), "").unwrap();
        check(directory.path(), &BESIDE).unwrap();
        assert!(!directory.path().join(DATA).exists());
        check(&directory.path().join("none-yet"), &BESIDE).unwrap();
    }

    #[test]
    fn a_file_that_terraform_would_obey_and_a_link_are_refused_by_name() {
        for name in [
            "evil.tf",
            "main_override.tf",
            "x.auto.tfvars",
            ".x.auto.tfvars",
            ".x.auto.tfvars.json",
            ".terraform-version",
            ".main.tf.0123",
            "override.tf.json",
            "modules/network/evil.tf",
        ] {
            let directory = directory();
            fs::write(directory.path().join(name), "").unwrap();
            let words = check(directory.path(), &BESIDE).unwrap_err().to_string();
            assert!(words.contains(name) && words.contains("would obey it"), "{words}");
        }
        let directory = directory();
        std::os::unix::fs::symlink("/etc/passwd", directory.path().join("terraform.tfstate.backup")).unwrap();
        let words = check(directory.path(), &BESIDE).unwrap_err().to_string();
        assert!(words.contains("symbolic link"), "{words}");
    }

    #[test]
    fn what_chooses_another_terraform_is_refused_in_the_run_and_where_the_user_does_not_stand() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let directory = at("sent/runs/gp3/terraform/2");
        fs::create_dir_all(&directory).unwrap();
        fs::write(at("sent/runs/gp3/plan.json"), "{}").unwrap();
        for place in ["sent", "sent/runs", "sent/runs/gp3", "sent/runs/gp3/terraform"] {
            fs::create_dir_all(at(place).join(".config/mise")).unwrap();
        }
        let refused = |user: &str| match check_choices(&directory, &at(user)) {
            Err(AwsError::Chosen { path }) => Some(path),
            Err(other) => panic!("{other}"),
            Ok(()) => None,
        };
        let (inside, above) = ("sent/runs/gp3", "sent/runs");
        assert_eq!(refused(inside), None);
        for name in [".tool-versions", ".terraform-version", ".config/mise/config.toml"] {
            for place in [inside, "sent/runs/gp3/terraform", above, "sent"] {
                let choice = at(place).join(name);
                fs::write(&choice, "terraform path:/srv/evil").unwrap();
                assert_eq!(refused("elsewhere"), Some(choice.clone()), "{place}");
                // Who stands below it has it already, unless it is the run's.
                let is_users = place == above || place == "sent";
                assert_eq!(refused(inside), (!is_users).then(|| choice.clone()), "{place}");
                fs::remove_file(&choice).unwrap();
            }
        }
    }
}
