//! Terraform, or OpenTofu: a directory with the modules, what it is asked for, and what it says.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Seek as _, SeekFrom};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::backend::Backend;
use super::error::AwsError;
use super::lock;
use super::modules::{LOCK, MODULES};
use super::state;

/// Called with what is being done.
pub type Say<'a> = &'a mut dyn FnMut(&str);

/// Where programs are if `PATH` does not say (execvp(3)).
const USUAL_PATH: &str = "/bin:/usr/bin";
/// Names another program, such as `tofu`.
const PROGRAM: &str = "IOPSLAB_TERRAFORM";
/// A directory with the provider's plug-in, for machines that cannot download it.
const PLUGINS: &str = "IOPSLAB_TERRAFORM_PLUGINS";
/// Names a lock file of the user's own, for another plug-in than that of [`LOCK`].
const OWN_LOCK: &str = "IOPSLAB_TERRAFORM_LOCK";
/// Whence Terraform and OpenTofu have plug-ins.
const TERRAFORMS: &str = "registry.terraform.io/";
const OPENTOFUS: &str = "registry.opentofu.org/";
/// The oldest version that is accepted: major, minor.
const OLDEST: (u32, u32) = (1, 5);
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

/// A directory in which Terraform works.
#[derive(Debug)]
pub(super) struct Terraform {
    directory: PathBuf,
    /// Whose things it makes: the value of their tag.
    run: String,
    /// As the user calls it.
    program: String,
    /// What is started.
    start: PathBuf,
    profile: Option<String>,
    /// Where the state is kept; `None`: in the directory.
    backend: Option<Backend>,
    is_initialised: Cell<bool>,
    /// Whether the state knew of anything before this process made something.
    has_found: Cell<bool>,
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
    pub fn new(directory: &Path, run: &str, profile: Option<&str>) -> Self {
        let program = std::env::var(PROGRAM).unwrap_or_else(|_| "terraform".to_owned());
        Self {
            directory: directory.to_owned(),
            run: run.to_owned(),
            start: found(&program, &std::env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into())),
            program,
            profile: profile.map(str::to_owned),
            backend: None,
            is_initialised: Cell::new(false),
            has_found: Cell::new(false),
        }
    }

    /// Its state is kept there.
    pub fn keep_state_in(&mut self, backend: Backend) {
        self.backend = Some(backend);
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

    /// Whether there is one, and new enough.
    pub fn check(&self) -> Result<(), AwsError> {
        let mut command = self.program();
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
            found: if version.is_empty() { "no Terraform".to_owned() } else { version.to_owned() },
        })
    }

    /// The modules stand in the directory.
    fn write_modules(&self) -> Result<(), AwsError> {
        for (name, text) in MODULES {
            let path = self.directory.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(|error| AwsError::file("create", parent, error))?;
            }
            match *name {
                LOCK => write(&path, &self.lock(text)?)?,
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

    /// The lock file that is meant. Its hashes are those of one kind of machine: on others the plug-in of that version
    /// is taken that its maker has signed. OpenTofu has it, in builds of its own, from a registry of its own.
    fn lock(&self, own: &str) -> Result<String, AwsError> {
        if let Some(path) = std::env::var_os(OWN_LOCK).map(PathBuf::from) {
            return guarded::text(&path, TEXT_MOST_BYTES).map_err(|error| AwsError::file("read", &path, error));
        }
        // Where it cannot be started init says so.
        let version = self.program().arg("version").stdin(Stdio::null()).output();
        let version = version.map(|output| output.stdout).unwrap_or_default();
        Ok(match () {
            () if version.starts_with(b"OpenTofu") => without_hashes(own).replace(TERRAFORMS, OPENTOFUS),
            () if cfg!(all(target_os = "linux", target_arch = "x86_64")) => own.to_owned(),
            () => without_hashes(own),
        })
    }

    /// Whether the state, wherever it is, knew of anything that was made when it was looked at.
    pub fn knows_of_anything(&self) -> bool {
        self.has_found.get()
    }

    /// The state, wherever it is.
    fn pulled(&self) -> Result<Value, AwsError> {
        let failed = |words: String| AwsError::State { address: self.place(), words };
        let mut command = self.command(&["state", "pull"])?;
        let output = command.output().map_err(|source| self.missing(source))?;
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
        let Some(address) = self.state_elsewhere() else {
            return Ok(());
        };
        let path = self.directory.join(STATES);
        let known = guarded::text(&path, TEXT_MOST_BYTES).unwrap_or_default();
        if known.lines().any(|line| line == address) {
            return Ok(());
        }
        write(&path, &format!("{known}{address}\n"))
    }

    /// The same program wherever it is started, with what of the user's environment is for it.
    fn program(&self) -> Command {
        let mut command = Command::new(&self.start);
        look_nowhere_else(&mut command, std::env::vars_os());
        command
    }

    /// In the directory, with the credentials of the site.
    fn command(&self, arguments: &[&str]) -> Result<Command, AwsError> {
        let mut command = self.program();
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
        let output = self.command(&["output", "-json"])?.output().map_err(|source| self.missing(source))?;
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
            let arguments = [verb, "-auto-approve", "-input=false", PATIENT, "-json"].map(str::to_owned);
            return self.run(verb, &arguments, &mut reported);
        }
        let arguments = ["apply", "-input=false", PATIENT, "-json", PLANNED].map(str::to_owned);
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
        let mut arguments = ["plan", "-input=false", PATIENT, "-json", out.as_str()].map(str::to_owned).to_vec();
        if verb == "destroy" {
            arguments.push("-destroy".to_owned());
        }
        self.run(verb, &arguments, reported)?;
        let output = self.command(&["show", "-json", PLANNED])?.output().map_err(|source| self.missing(source))?;
        let plan: Value = serde_json::from_slice(&output.stdout).map_err(|error| AwsError::State {
            address: self.place(),
            words: format!("{error} {}", String::from_utf8_lossy(&output.stderr).trim()),
        })?;
        state::check_plan(&plan, &self.run, &self.place())?;
        match verb == "apply" && self.has_found.get() && state::makes_key(&plan) {
            true => Err(AwsError::OtherKey),
            false => Ok(()),
        }
    }

    /// Runs it to its end; each line of its stdout is printed.
    ///
    /// It writes to a file rather than to us: one that is half done when this program is killed goes on to its end, and
    /// its state knows what it made. (With a pipe it died of the next line, and three machines were in no state.)
    fn run(&self, verb: &'static str, arguments: &[String], reported: &mut dyn FnMut(&str)) -> Result<(), AwsError> {
        let log_path = self.directory.join(LOG);
        let failed = |error| AwsError::file("write", &log_path, error);
        let log = guarded::open_to_append(&log_path, 0o600).map_err(failed)?;
        let from = log.metadata().map_err(failed)?.len();
        let stdout = log.try_clone().map_err(failed)?;
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = self.command(&arguments)?;
        command
            .stdout(stdout)
            .stderr(log)
            // A terminal's Ctrl-C reaches the controller alone: what is half made would have to be found again.
            .process_group(0);
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
        let errors: Vec<String> = lines.iter().filter_map(|line| diagnostic(line)).collect();
        let last = || lines.iter().rev().find(|line| !line.is_empty()).cloned();
        let words = match errors.is_empty() {
            true => plain_error(&lines).or_else(last).unwrap_or_else(|| status.to_string()),
            false => errors.join("\n  "),
        };
        Err(AwsError::Terraform { verb, words, log: log_path })
    }

    fn missing(&self, source: std::io::Error) -> AwsError {
        AwsError::NoTerraform { program: self.program.clone(), source }
    }
}

/// The program of a name where the user is: in the directory of a run a relative name, or part of `PATH`, would mean
/// what lies beside the run.
fn found(program: &str, path: &OsStr) -> PathBuf {
    let places: Vec<PathBuf> = match program.contains('/') {
        true => vec![PathBuf::from(program)],
        false => std::env::split_paths(path).map(|part| part.join(program)).collect(),
    };
    let is_program = |place: &&PathBuf| {
        fs::metadata(place).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    // One that is nowhere is not looked for in the run.
    let place = places.iter().find(is_program).or(places.first());
    place.and_then(|place| std::path::absolute(place).ok()).unwrap_or_else(|| PathBuf::from(program))
}

/// What the user has set stays, but for what would lead Terraform to other places than those that were looked at.
fn look_nowhere_else(command: &mut Command, environment: impl IntoIterator<Item = (OsString, OsString)>) {
    for (name, value) in environment {
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

fn without_hashes(lock: &str) -> String {
    // An empty list of them would be refused.
    let of_hashes = |line: &str| matches!(line.trim(), "]" | "hashes = [") || line.trim_start().starts_with("\"h1:");
    let lines = lock.lines().filter(|line| !of_hashes(line));
    lines.map(|line| format!("{line}\n")).collect()
}

/// What people see of a line of `-json`.
fn report(verb: &str, line: &str, say: Say<'_>) {
    let Ok(event) = serde_json::from_str::<Value>(line) else {
        return;
    };
    let address = event["hook"]["resource"]["addr"].as_str().unwrap_or_default();
    let changes = &event["changes"];
    match event["type"].as_str() {
        // Each thing is in the log; people wait for machines.
        Some("apply_complete") if address.starts_with("aws_instance.") => {
            say(&format!("terraform {verb}: {address} done"));
        }
        // What was planned before is applied, whatever it is.
        Some("change_summary") if verb == "destroy" && changes["operation"] == "apply" => {
            say(&format!("Destroy complete! Resources: {} destroyed.", changes["remove"]));
        }
        Some("change_summary") => say(event["@message"].as_str().unwrap_or_default()),
        _ => {}
    }
}

/// A file of the directory, whole and on the device.
fn write(path: &Path, text: &str) -> Result<(), AwsError> {
    guarded::replace(path, text.as_bytes(), 0o600).map_err(|error| AwsError::file("write", path, error))
}

/// A file of the directory that is to be there no longer.
pub(super) fn remove(path: &Path) -> Result<(), AwsError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(AwsError::file("remove", path, error)),
        _ => Ok(()),
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

/// An error in plain output, such as that of `init`: all of it, in one line.
fn plain_error(lines: &[String]) -> Option<String> {
    let first = lines.iter().position(|line| line.starts_with("Error: "))?;
    let words = lines[first..].iter().flat_map(|line| line.split_whitespace()).skip(1);
    Some(words.collect::<Vec<_>>().join(" "))
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
        terraform.keep_state_in(Backend::of(&AwsBackend::Local { path }, "r-1/batch-1"));
        terraform.write_modules().unwrap();
        let written: Value = serde_json::from_str(&fs::read_to_string(&sent).unwrap()).unwrap();
        assert_eq!(written, serde_json::json!({ "terraform": { "backend": { "local": {} } } }));
    }

    #[test]
    fn what_the_user_has_set_for_terraform_stays_and_leads_nowhere_else() {
        let mut command = Command::new("terraform");
        let set = [
            ("TF_WORKSPACE", "prod"),
            ("TF_DATA_DIR", "/srv/data"),
            ("TF_CLI_ARGS", "-lock=false"),
            ("TF_CLI_ARGS_apply", "-target=x"),
            ("TF_CLI_CONFIG_FILE", "own.tfrc"),
            ("TF_PLUGIN_CACHE_DIR", "/srv/cache"),
            ("AWS_CONFIG_FILE", "~/config"),
            ("AWS_REGION", "eu-west-1"),
        ];
        look_nowhere_else(&mut command, set.map(|(name, value)| (OsString::from(name), OsString::from(value))));
        let here = std::env::current_dir().unwrap().join("own.tfrc");
        let changed: BTreeMap<&str, Option<&OsStr>> =
            command.get_envs().map(|(name, value)| (name.to_str().unwrap(), value)).collect();
        let removed = ["TF_CLI_ARGS", "TF_CLI_ARGS_apply", "TF_DATA_DIR", "TF_WORKSPACE"].map(|name| (name, None));
        let mut expected = BTreeMap::from(removed);
        expected.insert("TF_CLI_CONFIG_FILE", Some(here.as_os_str()));
        assert_eq!(changed, expected);
    }

    #[test]
    fn a_program_is_found_where_the_user_is() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        for (name, mode) in [("first", 0o644), ("second", 0o755)] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("tofu"), "").unwrap();
            fs::set_permissions(at(name).join("tofu"), fs::Permissions::from_mode(mode)).unwrap();
        }
        let path = std::env::join_paths([at("none"), at("first"), at("second")]).unwrap();
        assert_eq!(found("tofu", &path), at("second/tofu"));
        // Nor is one that is nowhere looked for in the run.
        assert_eq!(found("terraform", &path), at("none/terraform"));
        assert_eq!(found("./terraform", &path), std::env::current_dir().unwrap().join("terraform"));
        let named = at("second/tofu").display().to_string();
        assert_eq!(found(&named, OsStr::new("")), at("second/tofu"));
    }

    #[test]
    fn the_lock_file_has_one_version_with_its_hash_and_elsewhere_the_version_alone() {
        let (_, lock) = MODULES.iter().find(|(name, _)| *name == LOCK).unwrap();
        assert_eq!(lock.matches("version     = ").count(), 1);
        assert_eq!(lock.matches("\"h1:").count(), 1);
        let elsewhere = without_hashes(lock);
        assert!(elsewhere.contains("version     = ") && !elsewhere.contains("hashes"), "{elsewhere}");
        assert_eq!(elsewhere.matches(TERRAFORMS).count(), 1);
    }

    #[test]
    fn another_plugin_than_that_of_the_lock_file_is_said_with_what_to_do() {
        let of = |words: &str| AwsError::Terraform {
            verb: "init",
            words: words.to_owned(),
            log: PathBuf::from("terraform.log"),
        };
        for words in [
            "Failed to install provider Error while installing hashicorp/aws v5.100.0: the local package for \
             registry.terraform.io/hashicorp/aws 5.100.0 doesn't match any of the checksums previously recorded in the \
             dependency lock file",
            "Failed to query available provider packages Could not retrieve the list of available versions for provider \
             hashicorp/aws: the previously-selected version 5.99.0 is no longer available",
        ] {
            let said = AwsError::of_the_lock(of(words)).to_string();
            for part in [words, OWN_LOCK, "terraform providers lock"] {
                assert!(said.contains(part), "{said}");
            }
        }
        let other = AwsError::of_the_lock(of("S3 bucket does not exist")).to_string();
        assert!(!other.contains(OWN_LOCK), "{other}");
    }

    #[test]
    fn what_was_looked_at_before_it_was_destroyed_is_reported_as_destroyed() {
        let mut said = Vec::new();
        let mut report_all = |verb: &str, lines: &[&str]| {
            let say: Say<'_> = &mut |line: &str| said.push(line.to_owned());
            lines.iter().for_each(|line| report(verb, line, &mut *say));
        };
        report_all(
            "destroy",
            &[
                r#"{"@message":"Plan: 0 to add, 0 to change, 3 to destroy.","changes":{"remove":3,"operation":"plan"},"type":"change_summary"}"#,
                r#"{"hook":{"resource":{"addr":"aws_instance.machine[\"a\"]"}},"type":"apply_complete"}"#,
                r#"{"hook":{"resource":{"addr":"aws_key_pair.run"}},"type":"apply_complete"}"#,
                r#"{"@message":"Apply complete! Resources: 0 added, 0 changed, 3 destroyed.","changes":{"remove":3,"operation":"apply"},"type":"change_summary"}"#,
                "no JSON",
            ],
        );
        report_all(
            "apply",
            &[r#"{"@message":"Apply complete!","changes":{"operation":"apply"},"type":"change_summary"}"#],
        );
        assert_eq!(
            said,
            [
                "Plan: 0 to add, 0 to change, 3 to destroy.",
                "terraform destroy: aws_instance.machine[\"a\"] done",
                "Destroy complete! Resources: 3 destroyed.",
                "Apply complete!",
            ]
        );
    }

    #[test]
    fn an_error_of_terraform_is_its_summary_and_its_detail_in_one_line() {
        let line = r#"{"type":"diagnostic","diagnostic":{"severity":"error","summary":"creating EC2 Instance","detail":"InsufficientInstanceCapacity:\n  none left"}}"#;
        let reported = diagnostic(line);
        assert_eq!(reported.as_deref(), Some("creating EC2 Instance: InsufficientInstanceCapacity: none left"));
        assert_eq!(diagnostic(r#"{"diagnostic":{"severity":"warning","summary":"x"}}"#), None);
        assert_eq!(diagnostic("plain"), None);
        // init says it in plain words, the reason first.
        let said =
            "Initializing the backend...\n\nError: S3 bucket \"x\" does not exist.\n\nIt must have been\ncreated.\n";
        let lines: Vec<String> = said.lines().map(str::to_owned).collect();
        assert_eq!(plain_error(&lines).as_deref(), Some("S3 bucket \"x\" does not exist. It must have been created."));
        assert_eq!(plain_error(&lines[..1]), None);
    }
}
