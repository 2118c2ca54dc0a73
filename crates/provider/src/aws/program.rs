//! The program: where it is, whether it is new enough, and what of the user's environment it gets.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::error::AwsError;

/// Names another program, such as `tofu`.
const PROGRAM: &str = "IOPSLAB_TERRAFORM";
/// The oldest version that is accepted: major, minor.
const OLDEST: (u32, u32) = (1, 5);
/// Where nothing is: a program that is nowhere is not looked for in the run.
const NOWHERE: &str = "/nonexistent";
/// The user's variables by which it would have plug-ins, or keep its state, elsewhere than where this program looks.
const ELSEWHERE: [&str; 2] = ["TF_DATA_DIR", "TF_WORKSPACE"];
/// Those by which it would be asked for something else than this program asks for: this one, and this one with `_` and
/// a command.
const ARGUMENTS: &str = "TF_CLI_ARGS";
/// Those that name a place. It is started in a directory that may have been received: a relative place is meant where
/// the user is.
const PLACES: [&str; 8] = [
    "TF_CLI_CONFIG_FILE",
    "TERRAFORM_CONFIG",
    "TF_PLUGIN_CACHE_DIR",
    "TF_LOG_PATH",
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CA_BUNDLE",
];

/// Terraform or OpenTofu.
#[derive(Debug)]
pub(super) struct Program {
    /// As the user calls it.
    name: String,
    start: PathBuf,
}

impl Program {
    /// The one that the user names, where the user is: in the directory of a run a relative name, or part of `PATH`,
    /// would mean what lies beside the run.
    pub fn of_user() -> Self {
        let name = std::env::var(PROGRAM).unwrap_or_else(|_| "terraform".to_owned());
        let start = guarded::program(&name).unwrap_or_else(|| Path::new(NOWHERE).join(&name));
        Self { name, start }
    }

    /// The same program wherever it is started, with what of the user's environment is for it.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.start);
        look_nowhere_else(&mut command);
        command
    }

    /// Whether there is one, and new enough.
    pub fn check(&self) -> Result<(), AwsError> {
        let output = self.command().args(["version", "-json"]).stdin(Stdio::null()).output();
        let output = output.map_err(|source| self.missing(source))?;
        let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let version = said["terraform_version"].as_str().unwrap_or_default();
        let mut parts = version.split('.').map(|part| part.parse::<u32>().ok());
        let found = parts.next().flatten().zip(parts.next().flatten());
        if found.is_some_and(|found| found >= OLDEST) {
            return Ok(());
        }
        Err(AwsError::Version {
            program: self.name.clone(),
            found: if version.is_empty() { "no Terraform".to_owned() } else { version.to_owned() },
        })
    }

    /// Whether it is OpenTofu; where it cannot be started init says so.
    pub fn is_opentofu(&self) -> bool {
        let version = self.command().arg("version").stdin(Stdio::null()).output();
        version.is_ok_and(|output| output.stdout.starts_with(b"OpenTofu"))
    }

    /// That it cannot be started.
    pub fn missing(&self, source: std::io::Error) -> AwsError {
        AwsError::NoTerraform { program: self.name.clone(), source }
    }
}

/// What the user has set stays, but for what would lead Terraform to other places than those that were looked at.
fn look_nowhere_else(command: &mut Command) {
    for (name, value) in std::env::vars_os() {
        let known = name.to_string_lossy().into_owned();
        if ELSEWHERE.contains(&known.as_str()) || known.starts_with(ARGUMENTS) {
            command.env_remove(&name);
        }
        let is_relative = !value.is_empty() && Path::new(&value).is_relative();
        // Some are expanded by who reads them.
        let is_expanded = value.to_string_lossy().starts_with(['~', '$']);
        if PLACES.contains(&known.as_str())
            && is_relative
            && !is_expanded
            && let Ok(place) = std::path::absolute(&value)
        {
            command.env(&name, place);
        }
    }
}
