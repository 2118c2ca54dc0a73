//! A directory in which Terraform, or OpenTofu, works: the modules, what it is asked for, and what it made.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Seek as _, SeekFrom};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::backend::Backend;
use super::error::AwsError;
use super::lock;
use super::modules::{LOCK, MODULES, lock_file};
use super::program::Program;
use super::said::{Say, failure, report};
use super::state;

/// Names a lock file of the user's own, for another plug-in than that of [`LOCK`].
const OWN_LOCK: &str = "IOPSLAB_TERRAFORM_LOCK";
/// A directory with the provider's plug-in, for machines that cannot download it.
const PLUGINS: &str = "IOPSLAB_TERRAFORM_PLUGINS";
/// What Terraform writes goes here.
pub(super) const LOG: &str = "terraform.log";
/// Between two looks at what it has written.
const LOOK: Duration = Duration::from_millis(200);
/// Stands there from before the first thing is made until everything is taken away.
pub(super) const ASKED: &str = "asked";
/// Where its state is kept elsewhere: read by Terraform by the end of its name.
pub(super) const BACKEND: &str = "backend.tf.json";
/// Its state, where that is not kept elsewhere.
pub(super) const STATE: &str = "terraform.tfstate";
/// The addresses of states that were used, a line each.
pub(super) const STATES: &str = "states.txt";
/// What it means to do, where that is looked at before: beside its plug-ins, which go before anything else begins.
const PLANNED: &str = ".terraform/planned";
/// An apply whose controller was killed may still hold the state for a moment.
const PATIENT: &str = "-lock-timeout=300s";
/// Most bytes of a file that is read back.
const TEXT_MOST_BYTES: u64 = 4 << 20;
/// Read by Terraform by its name.
pub(super) const VARIABLES: &str = "iopslab.auto.tfvars.json";

/// A directory in which Terraform works.
#[derive(Debug)]
pub(super) struct Terraform {
    directory: PathBuf,
    /// Whose things it makes: the value of their tag.
    run: String,
    program: Program,
    profile: Option<String>,
    /// Where the state is kept; `None`: in the directory.
    pub(super) backend: Option<Backend>,
    is_initialised: Cell<bool>,
    /// Whether the state knew of anything before this process made something.
    has_found: Cell<bool>,
    pub(super) before_making: Option<BeforeMaking>,
}

/// What is asked before machines are made: why none may be, where there is a reason.
pub(super) struct BeforeMaking(pub(super) Box<dyn Fn() -> Result<(), String> + Send>);

impl fmt::Debug for BeforeMaking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BeforeMaking")
    }
}

/// What the modules say of what they made.
#[derive(Debug)]
pub(super) struct Outputs {
    pub machines: BTreeMap<String, Made>,
}

/// A machine that was made.
#[derive(Debug, Deserialize)]
pub(super) struct Made {
    pub private_address: String,
    pub public_address: Option<String>,
    /// Ids of its EBS volumes by what they hold; one that the provider does not report yet has none.
    #[serde(default)]
    pub volumes: BTreeMap<String, Vec<Option<String>>>,
}

impl Made {
    /// Ids of the volumes that hold this; none where it is on no volume of EBS.
    pub fn volume_ids(&self, role: &str) -> Vec<String> {
        self.volumes.get(role).into_iter().flatten().flatten().cloned().collect()
    }
}

impl Outputs {
    pub fn machine(&self, name: &str) -> Result<&Made, AwsError> {
        let missing = || AwsError::Output(format!("no machine {name}"));
        self.machines.get(name).ok_or_else(missing)
    }
}

impl Terraform {
    pub fn new(directory: &Path, run: &str, profile: Option<&str>) -> Self {
        Self {
            directory: directory.to_owned(),
            run: run.to_owned(),
            program: Program::of_user(),
            profile: profile.map(str::to_owned),
            backend: None,
            is_initialised: Cell::new(false),
            has_found: Cell::new(false),
            before_making: None,
        }
    }

    /// Whether machines may be made.
    fn may_make(&self) -> Result<(), AwsError> {
        self.before_making.as_ref().map_or(Ok(()), |BeforeMaking(ask)| ask().map_err(AwsError::Refused))
    }

    /// Where the state is kept if not in the directory, for people.
    pub fn state_elsewhere(&self) -> Option<&str> {
        self.backend.as_ref().map(Backend::address)
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether anything may have been made from here that was not taken away.
    pub fn may_have_made(&self) -> bool {
        self.directory.join(ASKED).exists()
    }

    /// Whether this process has had it fetch its plug-ins, and its state may be obeyed.
    pub fn is_initialised(&self) -> bool {
        self.is_initialised.get()
    }

    /// The modules stand in the directory.
    fn write_modules(&self) -> Result<(), AwsError> {
        for (name, text) in MODULES {
            let path = self.directory.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(|error| AwsError::file("create", parent, error))?;
            }
            match *name {
                LOCK => write(&path, &self.lock()?)?,
                _ => write(&path, text)?,
            }
        }
        // One that came with the directory may hold anything that Terraform obeys, such as a program to start.
        let path = self.directory.join(BACKEND);
        match &self.backend {
            Some(backend) => write(&path, &format!("{:#}\n", backend.file())),
            None => remove(&path),
        }
    }

    /// The lock file that is meant.
    fn lock(&self) -> Result<String, AwsError> {
        let Some(path) = std::env::var_os(OWN_LOCK).map(PathBuf::from) else {
            return Ok(lock_file(self.program.is_opentofu()));
        };
        guarded::text(&path, TEXT_MOST_BYTES).map_err(|error| AwsError::file("read", &path, error))
    }

    /// Whether the state, wherever it is, knew of anything that was made when it was looked at.
    pub fn knows_of_anything(&self) -> bool {
        self.has_found.get()
    }

    /// The state, wherever it is.
    fn pulled(&self) -> Result<Value, AwsError> {
        let failed = |words: String| AwsError::State { address: self.place(), words };
        let output = self.output(&["state", "pull"])?;
        if !output.status.success() {
            return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
        }
        if output.stdout.iter().all(u8::is_ascii_whitespace) {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))
    }

    /// Where the state is, for people.
    fn place(&self) -> String {
        let here = || self.directory.join(STATE).display().to_string();
        self.state_elsewhere().map_or_else(here, str::to_owned)
    }

    /// The state's address, on disk before anything is made.
    fn remember_state(&self) -> Result<(), AwsError> {
        let Some(address) = self.state_elsewhere() else { return Ok(()) };
        let path = self.directory.join(STATES);
        let known = guarded::text(&path, TEXT_MOST_BYTES).unwrap_or_default();
        if known.lines().any(|line| line == address) {
            return Ok(());
        }
        write(&path, &format!("{known}{address}\n"))
    }

    /// In the directory, with the credentials of the site.
    fn command(&self, arguments: &[impl AsRef<OsStr>]) -> Result<Command, AwsError> {
        let mut command = self.program.command();
        command
            .args(arguments)
            .current_dir(&self.directory)
            .env("TF_IN_AUTOMATION", "1")
            .env("TF_INPUT", "0")
            .env("CHECKPOINT_DISABLE", "1")
            // It reads nothing; its stdin, an empty file, is the lock of the directory, which it has to its end.
            .stdin(lock::taken(&self.directory)?);
        if let Some(profile) = &self.profile {
            command.env("AWS_PROFILE", profile);
        }
        Ok(command)
    }

    /// What it says when it is run so.
    fn output(&self, arguments: &[&str]) -> Result<Output, AwsError> {
        self.command(arguments)?.output().map_err(|source| self.program.missing(source))
    }

    /// What is to be made, on disk before anything is.
    pub fn write_variables(&self, variables: &Value) -> Result<(), AwsError> {
        let path = self.directory.join(VARIABLES);
        write(&path, &format!("{variables:#}\n"))
    }

    /// What was to be made last, where something was.
    pub fn variables(&self) -> Option<Value> {
        let text = guarded::text(&self.directory.join(VARIABLES), TEXT_MOST_BYTES).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Has it fetch its plug-ins, which are those of the lock file and no others, and looks at its state before
    /// anything of it is obeyed. The modules stand there from here on.
    pub fn init(&self, say: Say<'_>) -> Result<(), AwsError> {
        self.is_initialised.set(false);
        self.write_modules()?;
        let arguments = ["init", "-input=false", "-no-color", "-lockfile=readonly"];
        let mut arguments = arguments.map(str::to_owned).to_vec();
        if let Ok(plugins) = std::env::var(PLUGINS) {
            let plugins = std::path::absolute(&plugins).map_or(plugins, |path| path.display().to_string());
            arguments.push(format!("-plugin-dir={plugins}"));
        }
        arguments.extend(self.backend.iter().flat_map(Backend::arguments));
        say("terraform init");
        let done = self.run("init", &arguments, &mut |_| {});
        let state = match done {
            Ok(()) => self.pulled()?,
            Err(error) => {
                // What its state names may be why: it is looked at first, where Terraform has come so far.
                let state = self.pulled().unwrap_or_default();
                state::check(&state, &self.run, &self.place())?;
                return Err(error.of_the_lock());
            }
        };
        state::check(&state, &self.run, &self.place())?;
        self.has_found.set(state::knows_of_anything(&state));
        self.is_initialised.set(true);
        Ok(())
    }

    /// Makes what is missing.
    pub fn apply(&self, say: Say<'_>) -> Result<Outputs, AwsError> {
        let asked = self.directory.join(ASKED);
        write(&asked, "")?;
        self.remember_state()?;
        self.change("apply", say)?;
        let output = self.output(&["output", "-json"])?;
        let said: Value =
            serde_json::from_slice(&output.stdout).map_err(|error| AwsError::Output(error.to_string()))?;
        let machines = serde_json::from_value(said["machines"]["value"].clone());
        Ok(Outputs { machines: machines.map_err(|error| AwsError::Output(error.to_string()))? })
    }

    /// Takes everything away that its state knows of.
    pub fn destroy(&self, say: Say<'_>) -> Result<(), AwsError> {
        if !self.is_initialised.get() {
            self.init(say)?;
        }
        self.change("destroy", say)?;
        if let Some(address) = self.state_elsewhere() {
            say(&format!("terraform's state knows of nothing any more, and stays: {address}"));
        }
        remove(&self.directory.join(ASKED))
    }

    /// What changes something, with its progress: how many things are done, and which is next. Where the state knew of
    /// things that this process has not made, or others may write it at any time, what Terraform means to do is looked
    /// at before it does it.
    fn change(&self, verb: &'static str, say: Say<'_>) -> Result<(), AwsError> {
        let mut reported = |line: &str| report(verb, line, &mut *say);
        if !self.has_found.get() && self.backend.is_none() {
            if verb == "apply" {
                self.may_make()?;
            }
            let arguments = [verb, "-auto-approve", "-input=false", PATIENT, "-json"];
            return self.run(verb, &arguments, &mut reported);
        }
        let arguments = ["apply", "-input=false", PATIENT, "-json", PLANNED];
        let done = self.plan(verb, &mut reported).and_then(|()| self.run(verb, &arguments, &mut reported));
        // It holds the keys of machines.
        remove(&self.directory.join(PLANNED))?;
        done?;
        self.has_found.set(false);
        Ok(())
    }

    /// What it means to do is in a file, and concerns what is the run's by what AWS says of it.
    fn plan(&self, verb: &'static str, reported: &mut dyn FnMut(&str)) -> Result<(), AwsError> {
        let path = self.directory.join(PLANNED);
        // Terraform writes to the file that it finds.
        guarded::write_anew(&path, 0o600).map_err(|error| AwsError::file("create", &path, error))?;
        let out = format!("-out={PLANNED}");
        let mut arguments = vec!["plan", "-input=false", PATIENT, "-json", &out];
        arguments.extend((verb == "destroy").then_some("-destroy"));
        self.run(verb, &arguments, reported)?;
        let output = self.output(&["show", "-json", PLANNED])?;
        let plan: Value = serde_json::from_slice(&output.stdout).map_err(|error| AwsError::State {
            address: self.place(),
            words: format!("{error} {}", String::from_utf8_lossy(&output.stderr).trim()),
        })?;
        state::check_plan(&plan, &self.run, &self.place())?;
        match verb {
            "apply" if self.has_found.get() && state::makes_key(&plan) => Err(AwsError::OtherKey),
            "apply" if state::makes_machine(&plan) => self.may_make(),
            _ => Ok(()),
        }
    }

    /// Runs it to its end; each line of its stdout is printed.
    ///
    /// It writes to a file rather than to us: one that is half done when this program is killed goes on to its end, and
    /// its state knows what it made. (With a pipe it died of the next line, and three machines were in no state.)
    fn run(
        &self,
        verb: &'static str,
        arguments: &[impl AsRef<OsStr>],
        reported: &mut dyn FnMut(&str),
    ) -> Result<(), AwsError> {
        let log_path = self.directory.join(LOG);
        let failed = |error| AwsError::file("write", &log_path, error);
        let log = guarded::open_to_append(&log_path, 0o600).map_err(failed)?;
        let from = log.metadata().map_err(failed)?.len();
        let stdout = log.try_clone().map_err(failed)?;
        let mut command = self.command(arguments)?;
        command
            .stdout(stdout)
            .stderr(log)
            // A terminal's Ctrl-C reaches the controller alone: what is half made would have to be found again.
            .process_group(0);
        let mut child = command.spawn().map_err(|source| self.program.missing(source))?;
        let mut written = BufReader::new(File::open(&log_path).map_err(failed)?);
        written.seek(SeekFrom::Start(from)).map_err(failed)?;
        let mut lines: Vec<String> = Vec::new();
        let mut line = String::new();
        let status = loop {
            // Asked before the last lines are read: what was written before it ended is there.
            let status = child.try_wait().map_err(|source| self.program.missing(source))?;
            while written.read_line(&mut line).map_err(failed)? > 0 {
                if line.ends_with('\n') {
                    reported(line.trim_end());
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
        let words = failure(&lines).unwrap_or_else(|| status.to_string());
        Err(AwsError::Terraform { verb, words, log: log_path })
    }
}

/// A file of the directory, whole and on the device.
fn write(path: &Path, text: &str) -> Result<(), AwsError> {
    guarded::replace(path, text.as_bytes(), 0o600).map_err(|error| AwsError::file("write", path, error))
}

/// A file of the directory that is to be there no longer.
pub(super) fn remove(path: &Path) -> Result<(), AwsError> {
    guarded::if_there(fs::remove_file(path)).map_err(|error| AwsError::file("remove", path, error)).map(drop)
}

#[cfg(test)]
mod tests {
    use experiment::AwsBackend;

    use super::*;

    #[test]
    fn where_states_are_kept_is_said_by_this_program_whatever_came_with_the_directory() {
        let directory = tempfile::tempdir().unwrap();
        let sent = directory.path().join(BACKEND);
        let evil = r#"{"resource":{"terraform_data":{"x":{"provisioner":{"local-exec":{"command":"id"}}}}}}"#;
        fs::write(&sent, evil).unwrap();
        let mut terraform = Terraform::new(directory.path(), "r-1", None);
        terraform.write_modules().unwrap();
        assert!(!sent.exists());
        fs::write(&sent, evil).unwrap();
        let path = "/srv/states".to_owned();
        terraform.backend = Some(Backend::of(&AwsBackend::Local { path }, "r-1/batch-1"));
        terraform.write_modules().unwrap();
        let written: Value = serde_json::from_str(&fs::read_to_string(&sent).unwrap()).unwrap();
        assert_eq!(written, serde_json::json!({ "terraform": { "backend": { "local": {} } } }));
    }
}
