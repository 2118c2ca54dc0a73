//! The program on the other machines: brought there once for each of its versions, known by its SHA-256. Versions that
//! nobody has used for a while are removed when another one is brought.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::error::HostError;
use super::ssh::Ssh;

/// Processors by `uname -m`, with `e_machine` of their ELF files (elf(5), the ABI's list of machines).
const PROCESSORS: [(&str, u16); 2] = [("x86_64", 62), ("aarch64", 183)];

/// A version that was not used for so many days is removed when another one is brought: who goes back to one that is
/// older than a month pays for bringing it again.
const UNUSED_DAYS: u32 = 30;

/// A program's file with what is in it.
#[derive(Debug, Clone)]
struct Program {
    path: PathBuf,
    processor: &'static str,
    sha256: String,
}

impl Program {
    fn read(path: &Path) -> Result<Self, HostError> {
        let failed = |reason: String| HostError::Program { path: path.to_owned(), reason };
        let mut file = File::open(path).map_err(|error| failed(error.to_string()))?;
        let mut head = [0; 20];
        file.read_exact(&mut head).map_err(|error| failed(error.to_string()))?;
        let machine = u16::from_le_bytes([head[18], head[19]]);
        let known = PROCESSORS.iter().find(|(_, number)| *number == machine);
        let (processor, _) = known
            .filter(|_| head.starts_with(b"\x7fELF"))
            .ok_or_else(|| failed("no Linux program for x86-64 or aarch64".to_owned()))?;
        let sha256 = guarded::sha256(head.as_slice().chain(file)).map_err(|error| failed(error.to_string()))?;
        Ok(Self { path: path.to_owned(), processor, sha256 })
    }
}

/// This program's own file, and those that were stated for other processors.
#[derive(Debug)]
pub(super) struct Programs {
    files: Vec<PathBuf>,
    /// Read when they are needed, once.
    read: OnceLock<Vec<Program>>,
}

impl Programs {
    pub fn new(own: PathBuf, others: Vec<PathBuf>) -> Self {
        Self {
            // A stated file comes first: it may be the static one of two for the same processor.
            files: others.into_iter().chain([own]).collect(),
            read: OnceLock::new(),
        }
    }

    fn all(&self) -> Result<&[Program], HostError> {
        if let Some(read) = self.read.get() {
            return Ok(read);
        }
        let read = self.files.iter().map(|path| Program::read(path)).collect::<Result<_, _>>()?;
        Ok(self.read.get_or_init(|| read))
    }

    /// The program for this machine is there and is the right one; gives its path there. `say` gets what else was
    /// found and done, as sentences.
    pub fn install(&self, ssh: &Ssh, name: &str, say: &dyn Fn(&str)) -> Result<String, HostError> {
        let programs = self.all()?;
        let answer = ssh.run_for("look for iopslab", name, &look(programs), None)?;
        let found = understood(&answer);
        if let Some(Found::Other { path, .. }) = &found {
            say(&format!(
                "another program than the one that was brought there is at {path} (its SHA-256 differs); bringing it \
                 again"
            ));
        }
        match found {
            Some(Found::Ready(path)) => Ok(path),
            Some(Found::Missing(processor) | Found::Other { processor, .. }) => {
                let no_program = || HostError::NoProgram { name: name.to_owned(), machine: processor.clone() };
                let program = programs.iter().find(|p| p.processor == processor).ok_or_else(no_program)?;
                let file = File::open(&program.path)
                    .map_err(|error| HostError::Program { path: program.path.clone(), reason: error.to_string() })?;
                let answer = ssh.run_for("bring iopslab there", name, &upload(&program.sha256), Some(file))?;
                for version in removed(&answer) {
                    say(&format!("removed {version}"));
                }
                match understood(&answer) {
                    Some(Found::Ready(path)) => Ok(path),
                    _ => Err(strange(name, answer)),
                }
            }
            Some(Found::NoChecksum) => Err(HostError::NoChecksum { name: name.to_owned() }),
            None => Err(strange(name, answer)),
        }
    }
}

/// Removes the versions that nobody has used for a while; gives what was removed, for people.
pub(super) fn remove_unused(ssh: &Ssh, name: &str) -> Result<Vec<String>, HostError> {
    let script = format!("{}; {}", directory("none"), prune());
    Ok(removed(&ssh.run_for("remove old versions of iopslab", name, &script, None)?))
}

fn strange(name: &str, answer: String) -> HostError {
    HostError::Answer { name: name.to_owned(), answer: answer.chars().take(200).collect() }
}

/// What a machine answers.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    /// The program's path.
    Ready(String),
    /// It is not there; the machine's processor.
    Missing(String),
    /// Something else is there.
    Other { processor: String, path: String },
    /// There is no sha256sum.
    NoChecksum,
}

/// The first line that is an answer: a login shell may have said something before.
fn understood(answer: &str) -> Option<Found> {
    answer.lines().find_map(|line| match line.split_once(' ') {
        Some(("iopslab-ready", path)) if path.starts_with('/') => Some(Found::Ready(path.to_owned())),
        Some(("iopslab-missing", processor)) => Some(Found::Missing(processor.to_owned())),
        Some(("iopslab-other", other)) => other
            .split_once(' ')
            .map(|(processor, path)| Found::Other { processor: processor.to_owned(), path: path.to_owned() }),
        None if line == "iopslab-no-sha256sum" => Some(Found::NoChecksum),
        _ => None,
    })
}

/// Versions that were removed, for people.
fn removed(answer: &str) -> Vec<String> {
    let lines = answer.lines().filter_map(|line| line.strip_prefix("iopslab-removed "));
    lines.map(|path| format!("{path} (not used for {UNUSED_DAYS} days)")).collect()
}

/// Where a program of this hash lives on a machine.
fn directory(sha256: &str) -> String {
    format!("b=\"${{XDG_CACHE_HOME:-$HOME/.cache}}/iopslab/bin\"; d=\"$b/{sha256}\"")
}

fn look(programs: &[Program]) -> String {
    let cases: String =
        programs.iter().map(|program| format!("{}) h={};; ", program.processor, program.sha256)).collect();
    let place = directory("$h");
    format!(
        "m=$(uname -m); [ \"$m\" = arm64 ] && m=aarch64; h=; case \"$m\" in {cases}esac; \
         command -v sha256sum >/dev/null || {{ echo iopslab-no-sha256sum; exit 0; }}; {place}; \
         s=; [ -n \"$h\" ] && [ -f \"$d/iopslab\" ] && s=$(sha256sum < \"$d/iopslab\" | cut -c1-64); \
         if [ -n \"$s\" ] && [ \"$s\" != \"$h\" ]; then echo \"iopslab-other $m $d/iopslab\"; \
         elif [ -n \"$s\" ] && [ -x \"$d/iopslab\" ]; then touch -c \"$d\" || :; echo \"iopslab-ready $d/iopslab\"; \
         else echo \"iopslab-missing $m\"; fi"
    )
}

/// Removes versions whose directories were not touched for [`UNUSED_DAYS`]: [`look`] touches the one that it finds. One
/// that runs stays, and so does what is no version (a name of other than 64 characters). A machine without `find` keeps
/// all of them.
fn prune() -> String {
    // find counts whole days and means more than the number.
    let age = UNUSED_DAYS - 1;
    format!(
        "find \"$b\" -mindepth 1 -maxdepth 1 -type d -mtime +{age} 2>/dev/null | while read -r v; do \
         [ \"$(basename \"$v\" | tr -d '\\n' | wc -c)\" -eq 64 ] && [ \"$v\" != \"$d\" ] || continue; \
         ls -l /proc/[0-9]*/exe 2>/dev/null | grep -qF -- \"$v/iopslab\" && continue; \
         rm -rf \"$v\" && echo \"iopslab-removed $v\"; done || :"
    )
}

/// Under a name of its own until it is whole and verified: two controllers may do this at the same time, and a
/// connection may be lost in the middle.
fn upload(sha256: &str) -> String {
    let (place, prune) = (directory(sha256), prune());
    format!(
        "set -e; {place}; mkdir -p \"$d\"; t=\"$d/upload.$$\"; trap \"rm -f \\\"$t\\\"\" EXIT; cat > \"$t\"; \
         if [ \"$(sha256sum < \"$t\" | cut -c1-64)\" != {sha256} ]; \
         then echo \"what arrived is not what was sent\" >&2; exit 3; fi; \
         chmod 755 \"$t\"; mv \"$t\" \"$d/iopslab\"; echo \"iopslab-ready $d/iopslab\"; {prune}"
    )
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::{Duration, SystemTime};

    use super::*;

    fn sh(script: &str, cache: &Path, input: Option<File>) -> (bool, String, String) {
        let output = Command::new("sh")
            .args(["-c", script])
            .env("XDG_CACHE_HOME", cache)
            .stdin(input.map_or_else(Stdio::null, Stdio::from))
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.success(), text(output.stdout), text(output.stderr))
    }

    #[test]
    fn a_program_is_looked_for_brought_verified_and_found() {
        let cache = std::env::temp_dir().join(format!("iopslab-program-{}", std::process::id()));
        let own = std::env::current_exe().unwrap();
        let program = Program::read(&own).unwrap();
        let programs = [program.clone()];
        let here = program.processor.to_owned();

        let found = |cache: &Path| understood(&sh(&look(&programs), cache, None).1);
        assert_eq!(found(&cache), Some(Found::Missing(here.clone())));
        let (done, answer, _) = sh(&upload(&program.sha256), &cache, Some(File::open(&own).unwrap()));
        assert!(done);
        let path = cache.join("iopslab/bin").join(&program.sha256).join("iopslab");
        assert_eq!(understood(&answer), Some(Found::Ready(path.display().to_string())));
        assert_eq!(found(&cache), Some(Found::Ready(path.display().to_string())));

        // Something else is there: that is said, and the program is brought again.
        std::fs::write(&path, "damaged").unwrap();
        let other = Found::Other { processor: here.clone(), path: path.display().to_string() };
        assert_eq!(found(&cache), Some(other));
        let (done, _, _) = sh(&upload(&program.sha256), &cache, Some(File::open(&own).unwrap()));
        assert!(done);
        assert_eq!(found(&cache), Some(Found::Ready(path.display().to_string())));
        let (done, _, _) = sh("chmod -x \"$XDG_CACHE_HOME\"/iopslab/bin/*/iopslab", &cache, None);
        assert!(done);
        assert_eq!(found(&cache), Some(Found::Missing(here)), "it cannot be executed");
        // What arrives is damaged: nothing is left.
        std::fs::remove_file(&path).unwrap();
        let other = File::open("/bin/sh").unwrap();
        let (done, _, words) = sh(&upload(&program.sha256), &cache, Some(other));
        assert!(!done && words.contains("what arrived is not what was sent"), "{words}");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
        std::fs::remove_dir_all(&cache).unwrap();
    }

    #[test]
    fn versions_that_nobody_has_used_for_a_month_are_removed_and_never_one_that_runs() {
        let cache = std::env::temp_dir().join(format!("iopslab-versions-{}", std::process::id()));
        let version = |digit: &str, days: u64| {
            let directory = cache.join("iopslab/bin").join(digit.repeat(64));
            std::fs::create_dir_all(&directory).unwrap();
            std::fs::copy("/bin/sleep", directory.join("iopslab")).unwrap();
            let used = SystemTime::now() - Duration::from_secs(days * 86_400 + 60);
            File::open(&directory).unwrap().set_modified(used).unwrap();
            directory
        };
        let (own, old, running, young) = (version("a", 50), version("b", 30), version("c", 40), version("d", 29));
        let mut process = Command::new(running.join("iopslab")).arg("60").spawn().unwrap();
        // What is no version is left alone.
        let other = cache.join("iopslab/bin/notes");
        std::fs::create_dir(&other).unwrap();
        let long_ago = SystemTime::now() - Duration::from_secs(100 * 86_400);
        File::open(&other).unwrap().set_modified(long_ago).unwrap();

        let script = format!("set -e; {}; {}; echo done", directory(&"a".repeat(64)), prune());
        let (done, answer, words) = sh(&script, &cache, None);
        process.kill().unwrap();
        process.wait().unwrap();
        assert!(done && answer.ends_with("done\n"), "{answer} {words}");
        assert_eq!(removed(&answer), [format!("{} (not used for 30 days)", old.display())]);
        assert!(!old.exists());
        for kept in [&own, &running, &young, &other] {
            assert!(kept.exists(), "{}", kept.display());
        }
        // A version that is found is used.
        let program = Program::read(Path::new("/bin/sleep")).unwrap();
        let found = cache.join("iopslab/bin").join(&program.sha256);
        std::fs::rename(&own, &found).unwrap();
        let (_, answer, _) = sh(&look(&[program]), &cache, None);
        assert!(matches!(understood(&answer), Some(Found::Ready(_))), "{answer}");
        let age = found.metadata().unwrap().modified().unwrap().elapsed().unwrap();
        assert!(age < Duration::from_secs(60), "{age:?}");
        std::fs::remove_dir_all(&cache).unwrap();
    }

    #[test]
    fn a_file_that_is_no_program_is_refused() {
        let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let refused = Program::read(&text).unwrap_err().to_string();
        assert!(refused.contains("no Linux program"), "{refused}");
    }

    #[test]
    fn what_a_login_shell_prints_is_passed_over() {
        let answer = "Welcome to db1\niopslab-missing aarch64\n";
        assert_eq!(understood(answer), Some(Found::Missing("aarch64".to_owned())));
        assert_eq!(understood("Welcome\n"), None);
    }
}
