//! Terraform, or OpenTofu: a directory with the modules, what it is asked for, and what it says.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::error::AwsError;

/// Told what is done.
pub type Say<'a> = &'a mut dyn FnMut(&str);

/// Names another program, such as `tofu`.
const PROGRAM: &str = "IOPSLAB_TERRAFORM";
/// A directory with the provider's plug-in, for machines that cannot download it.
const PLUGINS: &str = "IOPSLAB_TERRAFORM_PLUGINS";
/// The oldest version that is accepted: major, minor.
const OLDEST: (u32, u32) = (1, 5);
/// What Terraform writes goes here.
const LOG: &str = "terraform.log";
/// Between two looks at what it has written.
const LOOK: Duration = Duration::from_millis(200);
/// Stands there from before the first thing is made until everything is taken away.
const ASKED: &str = "asked";
/// Read by Terraform by its name.
const VARIABLES: &str = "iopslab.auto.tfvars.json";

macro_rules! module {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../terraform/aws/", $name)))
    };
}

/// The modules, as they are in `terraform/aws` of the source.
const MODULES: &[(&str, &str)] = &[
    module!("machines.tf"),
    module!("main.tf"),
    module!("modules/network/main.tf"),
    module!("modules/network/outputs.tf"),
    module!("modules/network/variables.tf"),
    module!("modules/network/versions.tf"),
    module!("network.tf"),
    module!("outputs.tf"),
    module!("security.tf"),
    module!("templates/first-boot.sh.tftpl"),
    module!("variables.tf"),
    module!("versions.tf"),
];

/// A directory in which Terraform works.
#[derive(Debug)]
pub(super) struct Terraform {
    directory: PathBuf,
    program: String,
    profile: Option<String>,
}

/// What the modules say of what they made.
#[derive(Debug)]
pub(super) struct Outputs {
    machines: BTreeMap<String, Made>,
}

/// A machine that was made.
#[derive(Debug, Deserialize)]
pub(super) struct Made {
    pub private_address: String,
    pub public_address: Option<String>,
}

impl Outputs {
    pub fn machine(&self, name: &str) -> Result<&Made, AwsError> {
        let missing = || AwsError::Output(format!("no machine {name}"));
        self.machines.get(name).ok_or_else(missing)
    }
}

impl Terraform {
    pub fn new(directory: &Path, profile: Option<&str>) -> Self {
        Self {
            directory: directory.to_owned(),
            program: std::env::var(PROGRAM).unwrap_or_else(|_| "terraform".to_owned()),
            profile: profile.map(str::to_owned),
        }
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether anything may have been made from here that was not taken away.
    pub fn may_have_made(&self) -> bool {
        self.directory.join(ASKED).exists()
    }

    /// Whether there is one, and new enough.
    pub fn check(&self) -> Result<(), AwsError> {
        let mut command = Command::new(&self.program);
        let output = command.args(["version", "-json"]).stdin(Stdio::null()).output();
        let output = output.map_err(|source| self.missing(source))?;
        let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let version = said["terraform_version"].as_str().unwrap_or_default();
        let mut parts = version.split('.').map(|part| part.parse::<u32>().ok());
        let found = parts.next().flatten().zip(parts.next().flatten());
        if found.is_some_and(|found| found >= OLDEST) {
            return Ok(());
        }
        Err(AwsError::Version {
            program: self.program.clone(),
            found: if version.is_empty() {
                "no Terraform".to_owned()
            } else {
                version.to_owned()
            },
        })
    }

    /// The modules stand in the directory.
    pub fn write_modules(&self) -> Result<(), AwsError> {
        for (name, text) in MODULES {
            let path = self.directory.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(|error| AwsError::file("create", parent, error))?;
            }
            fs::write(&path, text).map_err(|error| AwsError::file("write", &path, error))?;
        }
        Ok(())
    }

    /// What is to be made, on disk before anything is.
    pub fn write_variables(&self, variables: &Value) -> Result<(), AwsError> {
        let path = self.directory.join(VARIABLES);
        let write = || {
            let mut file = File::create(&path)?;
            file.write_all(format!("{variables:#}\n").as_bytes())?;
            file.sync_all()
        };
        write().map_err(|error| AwsError::file("write", &path, error))
    }

    /// What was to be made last, where something was.
    pub fn variables(&self) -> Option<Value> {
        let text = fs::read_to_string(self.directory.join(VARIABLES)).ok()?;
        serde_json::from_str(&text).ok()
    }

    pub fn init(&self, say: Say<'_>) -> Result<(), AwsError> {
        let mut arguments = vec!["init".to_owned(), "-input=false".to_owned(), "-no-color".to_owned()];
        if let Ok(plugins) = std::env::var(PLUGINS) {
            arguments.push(format!("-plugin-dir={plugins}"));
        }
        say("terraform init");
        self.run("init", &arguments, &mut |_| {})
    }

    /// Makes what is missing.
    pub fn apply(&self, say: Say<'_>) -> Result<Outputs, AwsError> {
        let asked = self.directory.join(ASKED);
        let written = File::create(&asked).and_then(|file| file.sync_all());
        written.map_err(|error| AwsError::file("write", &asked, error))?;
        self.change("apply", say)?;
        let mut command = Command::new(&self.program);
        let command = command
            .args(["output", "-json"])
            .current_dir(&self.directory)
            .stdin(Stdio::null());
        let output = command.output().map_err(|source| self.missing(source))?;
        let said: Value =
            serde_json::from_slice(&output.stdout).map_err(|error| AwsError::Output(error.to_string()))?;
        let machines = serde_json::from_value(said["machines"]["value"].clone());
        Ok(Outputs {
            machines: machines.map_err(|error| AwsError::Output(error.to_string()))?,
        })
    }

    /// Takes everything away that its state knows of.
    pub fn destroy(&self, say: Say<'_>) -> Result<(), AwsError> {
        self.change("destroy", say)?;
        let asked = self.directory.join(ASKED);
        fs::remove_file(&asked).map_err(|error| AwsError::file("remove", &asked, error))
    }

    /// What changes something, with its progress: how many things are done, and which is next.
    fn change(&self, verb: &'static str, say: Say<'_>) -> Result<(), AwsError> {
        // An apply whose controller was killed may still hold the state for a moment.
        let arguments = [verb, "-auto-approve", "-input=false", "-lock-timeout=300s", "-json"].map(str::to_owned);
        let mut told = |line: &str| {
            let Ok(event) = serde_json::from_str::<Value>(line) else {
                return;
            };
            let address = event["hook"]["resource"]["addr"].as_str().unwrap_or_default();
            match event["type"].as_str() {
                // Each thing is in the log; people wait for machines.
                Some("apply_complete") if address.starts_with("aws_instance.") => {
                    say(&format!("terraform {verb}: {address} done"));
                }
                Some("change_summary") => say(event["@message"].as_str().unwrap_or_default()),
                _ => {}
            }
        };
        self.run(verb, &arguments, &mut told)
    }

    /// Runs it to its end; each line of its stdout is told.
    ///
    /// It writes to a file rather than to us: one that is half done when this program is killed goes on to its end, and
    /// its state knows what it made. (With a pipe it died of the next line, and three machines were in no state.)
    fn run(&self, verb: &'static str, arguments: &[String], told: &mut dyn FnMut(&str)) -> Result<(), AwsError> {
        let log_path = self.directory.join(LOG);
        let failed = |error| AwsError::file("write", &log_path, error);
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&log_path)
            .map_err(failed)?;
        let from = log.metadata().map_err(failed)?.len();
        let stdout = log.try_clone().map_err(failed)?;
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .current_dir(&self.directory)
            .env("TF_IN_AUTOMATION", "1")
            .env("TF_INPUT", "0")
            .env("CHECKPOINT_DISABLE", "1")
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(log)
            // A terminal's Ctrl-C reaches the controller alone: what is half made would have to be found again.
            .process_group(0);
        if let Some(profile) = &self.profile {
            command.env("AWS_PROFILE", profile);
        }
        let mut child = command.spawn().map_err(|source| self.missing(source))?;
        let mut written = BufReader::new(File::open(&log_path).map_err(failed)?);
        written.seek(SeekFrom::Start(from)).map_err(failed)?;
        let mut lines: Vec<String> = Vec::new();
        let mut line = String::new();
        let status = loop {
            // Asked before the last lines are read: what was written before it ended is there.
            let status = child.try_wait().map_err(|source| self.missing(source))?;
            while written.read_line(&mut line).map_err(failed)? > 0 {
                if line.ends_with('\n') {
                    told(line.trim_end());
                    lines.push(line.trim_end().to_owned());
                    line.clear();
                }
            }
            match status {
                Some(status) => break status,
                None => thread::sleep(LOOK),
            }
        };
        if status.success() {
            return Ok(());
        }
        let errors: Vec<String> = lines.iter().filter_map(|line| diagnostic(line)).collect();
        let last = || lines.iter().rev().find(|line| !line.is_empty()).cloned();
        let words = match errors.is_empty() {
            true => last().unwrap_or_else(|| status.to_string()),
            false => errors.join("\n  "),
        };
        Err(AwsError::Terraform {
            verb,
            words,
            log: log_path,
        })
    }

    fn missing(&self, source: std::io::Error) -> AwsError {
        AwsError::NoTerraform {
            program: self.program.clone(),
            source,
        }
    }
}

/// An error in a line of `-json`.
fn diagnostic(line: &str) -> Option<String> {
    let event: Value = serde_json::from_str(line).ok()?;
    let found = event.get("diagnostic").filter(|d| d["severity"] == "error")?;
    let (summary, detail) = (found["summary"].as_str()?, found["detail"].as_str().unwrap_or_default());
    Some(match detail.is_empty() {
        true => summary.to_owned(),
        false => format!("{summary}: {}", detail.split_whitespace().collect::<Vec<_>>().join(" ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_modules_goes_with_the_program() {
        fn files(directory: &Path, found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(directory).unwrap().flatten() {
                match entry.path() {
                    path if path.is_dir() => files(&path, found),
                    path => found.push(path),
                }
            }
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../terraform/aws");
        let mut found = Vec::new();
        files(&source, &mut found);
        let modules = found.iter().filter_map(|path| path.strip_prefix(&source).ok());
        let is_module = |path: &&Path| {
            let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
            matches!(kind, "tf" | "tftpl") && !path.starts_with("tests")
        };
        let mut modules: Vec<String> = modules.filter(is_module).map(|p| p.display().to_string()).collect();
        modules.sort();
        let mut embedded: Vec<&str> = MODULES.iter().map(|(name, _)| *name).collect();
        embedded.sort_unstable();
        assert_eq!(modules, embedded);
    }

    #[test]
    fn an_error_of_terraform_is_its_summary_and_its_detail_in_one_line() {
        let line = r#"{"type":"diagnostic","diagnostic":{"severity":"error","summary":"creating EC2 Instance","detail":"InsufficientInstanceCapacity:\n  none left"}}"#;
        let told = diagnostic(line);
        assert_eq!(
            told.as_deref(),
            Some("creating EC2 Instance: InsufficientInstanceCapacity: none left")
        );
        assert_eq!(
            diagnostic(r#"{"diagnostic":{"severity":"warning","summary":"x"}}"#),
            None
        );
        assert_eq!(diagnostic("plain"), None);
    }
}
