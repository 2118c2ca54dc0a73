//! The user that a database runs as where root starts it.
//!
//! A database listens, and whoever takes it over has what its process has. So root starts it as a system user of its
//! own, which owns nothing but the node's directories and data: it joins its cgroups as root first (a launch prefix),
//! and then gives up its user, its groups, every capability, and the way to get any of that back (`no_new_privs`,
//! prctl(2)), by setpriv(1) of util-linux. Where another user starts it, it stays that user, and gives up the last.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Gid, Mode, OFlags, Uid, chownat, fstat, openat};

const NAME: &str = "iopslab-db";
/// Its number where no user can be made: in no range that distributions give out by themselves (Debian Policy 9.2.2
/// keeps 60000 to 64999 for what asks).
const NUMBER: u32 = 64_942;
/// A directory that its owner uses and its group passes through.
const PASSED_BY_GROUP: u32 = 0o010;
const PASSED_BY_ALL: u32 = 0o001;
/// How something is found without being opened, a link as itself (open(2)).
const FOUND: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// How a directory is opened that was found.
const LISTED: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Limits that root has by its capabilities alone: the JVM locks its memory, and has a thread for each of much.
const LIMITS: &str = "prlimit --pid $$ --memlock=unlimited:unlimited --nproc=unlimited:unlimited 2>/dev/null";

/// A system user for databases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    name: String,
    uid: u32,
    gid: u32,
    /// The program that becomes it.
    setpriv: PathBuf,
}

/// Why no database can be started as a user of its own.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum AccountError {
    #[error("setpriv is not installed, without which a database would run as root; install the package util-linux")]
    NoSetpriv,
    #[error(
        "the system user {NAME}, as which databases run, cannot be made: {reason}; make it by hand: useradd --system \
         --user-group --no-create-home {NAME}"
    )]
    NotMade { reason: String },
    #[error("user {name} (number {uid}) is not for databases alone; remove or rename it")]
    NotOurs { name: String, uid: u32 },
    #[error(
        "the database runs as user {user}, which cannot pass through {}; let it (chmod o+x {}), \
         or have {} somewhere else",
        part.display(), part.display(), path.display()
    )]
    NoWay {
        user: String,
        path: PathBuf,
        /// What it cannot pass through, or not run.
        part: PathBuf,
    },
    #[error("cannot hand {} to the user of the database: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl Account {
    /// Whom databases run as here: a user of their own, made if it is missing, where root asks; `None`: whoever asks.
    /// Errors: it cannot be made, or this machine cannot start a program as somebody else.
    pub fn of_this_machine() -> Result<Option<Self>, AccountError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let setpriv = guarded::program("setpriv").ok_or(AccountError::NoSetpriv)?;
        let (name, uid, gid) = match entry(NAME) {
            Some(found) => found,
            None => make()?,
        };
        if uid == 0 || gid == 0 {
            return Err(AccountError::NotOurs { name, uid });
        }
        Ok(Some(Self { name, uid, gid, setpriv }))
    }

    /// Its name, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its number.
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// Comes before a command, as root and inside of its cgroups: the command runs as this user, who gets nothing back.
    fn launch_prefix(&self) -> Vec<String> {
        let script = format!("{LIMITS}; umask 077; exec \"$@\"");
        let mut words = ["/bin/sh", "-c", &script, "iopslab"].map(str::to_owned).to_vec();
        words.push(self.setpriv.display().to_string());
        words.extend([format!("--reuid={}", self.uid), format!("--regid={}", self.gid)]);
        let nothing_else = ["--clear-groups", "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all", "--"];
        words.extend(nothing_else.map(str::to_owned));
        words
    }

    /// Lets it pass through a directory of ours, which others still cannot.
    pub fn let_through(&self, directory: &Path) -> Result<(), AccountError> {
        let failed = |source| AccountError::Io { path: directory.to_owned(), source };
        let about = fs::metadata(directory).map_err(failed)?;
        let mode = about.permissions().mode();
        if mode & PASSED_BY_ALL != 0 || (about.gid() == self.gid && mode & PASSED_BY_GROUP != 0) {
            return Ok(());
        }
        // First the mode, so that the group gets no more than this.
        let owner_s = mode & 0o700;
        fs::set_permissions(directory, fs::Permissions::from_mode(owner_s))
            .and_then(|()| std::os::unix::fs::chown(directory, None, Some(self.gid)))
            .and_then(|()| fs::set_permissions(directory, fs::Permissions::from_mode(owner_s | PASSED_BY_GROUP)))
            .map_err(failed)
    }

    /// Hands it a directory with everything in it. What is its own already it may exchange for a link meanwhile, so
    /// that everything is opened where the directory above it is open, and what was opened is handed over. Errors: the
    /// system refuses; a file in it that belongs to somebody else has a second name, which may lie anywhere.
    pub fn own(&self, path: &Path) -> Result<(), AccountError> {
        let failed = |error: rustix::io::Errno| AccountError::Io { path: path.to_owned(), source: error.into() };
        let found = openat(CWD, path, FOUND, Mode::empty()).map_err(failed)?;
        self.own_found(&found, path)
    }

    fn own_found(&self, found: &OwnedFd, path: &Path) -> Result<(), AccountError> {
        let failed = |source: io::Error| AccountError::Io { path: path.to_owned(), source };
        let refused = |error: rustix::io::Errno| failed(error.into());
        let about = fstat(found).map_err(refused)?;
        let kind = FileType::from_raw_mode(about.st_mode);
        if (about.st_uid, about.st_gid) != (self.uid, self.gid) {
            if kind == FileType::RegularFile && about.st_nlink > 1 {
                return Err(failed(io::Error::other("it has a second name elsewhere")));
            }
            let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
            chownat(found, "", Some(uid), Some(gid), AtFlags::EMPTY_PATH).map_err(refused)?;
        }
        if kind == FileType::Directory {
            let directory = openat(found, ".", LISTED, Mode::empty()).map_err(refused)?;
            for entry in Dir::read_from(&directory).map_err(refused)? {
                let entry = entry.map_err(refused)?;
                let name = OsStr::from_bytes(entry.file_name().to_bytes());
                if name != "." && name != ".." {
                    let below = openat(&directory, name, FOUND, Mode::empty()).map_err(refused)?;
                    self.own_found(&below, &path.join(name))?;
                }
            }
        }
        Ok(())
    }

    /// That it can pass through all directories on the way to each of these, and through, or run, each itself. Errors:
    /// [`AccountError::NoWay`] names the first that it cannot.
    pub fn check_way<'p>(&self, paths: impl IntoIterator<Item = &'p Path>) -> Result<(), AccountError> {
        for path in paths {
            let parts: Vec<&Path> = path.ancestors().collect();
            let script = "for p; do [ -x \"$p\" ] || { printf %s \"$p\"; exit 1; }; done";
            let output = output(Some(self), script, parts.iter().rev());
            let said = output.map_err(|source| AccountError::Io { path: self.setpriv.clone(), source })?;
            if !said.status.success() {
                let part = String::from_utf8_lossy(&said.stdout).into_owned();
                let reason = String::from_utf8_lossy(&said.stderr).trim().to_owned();
                return Err(match part.is_empty() {
                    true => AccountError::NotMade { reason },
                    false => AccountError::NoWay { user: self.name.clone(), path: path.to_owned(), part: part.into() },
                });
            }
        }
        Ok(())
    }
}

/// A program as this user, or as whoever asks where that is `None`; what comes before may put it into its cgroups.
pub(crate) fn command(prefix: &[String], account: Option<&Account>, program: &OsStr) -> Command {
    let become_another = account.map(Account::launch_prefix).unwrap_or_default();
    let mut words = prefix.iter().chain(&become_another).map(OsStr::new).chain([program]);
    let mut command = Command::new(words.next().unwrap_or(program));
    command.args(words);
    command
}

/// Starts such a [`command`]: who becomes another user has no more rights by that.
pub(crate) fn spawn(command: &mut Command, account: Option<&Account>) -> io::Result<Child> {
    match account {
        Some(_) => command.spawn(),
        None => spawn_without_more_rights(command),
    }
}

fn output(
    account: Option<&Account>,
    script: &str,
    words: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> io::Result<Output> {
    let mut shell = command(&[], account, "/bin/sh".as_ref());
    shell.args(["-c", script, "sh"]).args(words).current_dir("/").output()
}

/// Runs a script of the shell as this user, or as whoever asks where that is `None`; `words` are its arguments. In
/// directories of that user it can be led nowhere where the user could not go by itself. Errors: it cannot be started,
/// or fails: then what it says of that.
pub(crate) fn run_as(
    account: Option<&Account>,
    script: &str,
    words: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> io::Result<()> {
    let output = output(account, script, words)?;
    match output.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
    }
}

/// Starts a command that somebody else than root starts: whatever it runs (`sudo`), it gets no more rights than it has.
///
/// What a thread has given up, its children do not have, and it cannot be had back (prctl(2), `PR_SET_NO_NEW_PRIVS`):
/// so a thread that does nothing else starts it. No program of this machine is needed for that.
fn spawn_without_more_rights(command: &mut Command) -> io::Result<Child> {
    let spawn = || {
        rustix::thread::set_no_new_privs(true)?;
        command.spawn()
    };
    std::thread::scope(|scope| {
        let spawned = std::thread::Builder::new().spawn_scoped(scope, spawn)?.join();
        spawned.unwrap_or_else(|_| Err(io::Error::other("the thread that starts it has failed")))
    })
}

/// Name, number and group of a user: by getent(1), which asks whatever this machine keeps users in, or else from the
/// file.
fn entry(of: &str) -> Option<(String, u32, u32)> {
    let asked = guarded::program("getent").and_then(|getent| Command::new(getent).args(["passwd", of]).output().ok());
    let text = match asked {
        Some(answer) => String::from_utf8_lossy(&answer.stdout).into_owned(),
        None => fs::read_to_string("/etc/passwd").unwrap_or_default(),
    };
    text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let (uid, gid) = (fields.nth(1)?, fields.next()?);
        (name == of || uid == of).then_some((name.to_owned(), uid.parse().ok()?, gid.parse().ok()?))
    })
}

/// Makes the user; where no program for that is installed, a number that nobody has takes its place.
fn make() -> Result<(String, u32, u32), AccountError> {
    let Some(useradd) = guarded::program("useradd") else {
        return match entry(&NUMBER.to_string()) {
            None => Ok((NUMBER.to_string(), NUMBER, NUMBER)),
            Some((name, uid, _)) => Err(AccountError::NotOurs { name, uid }),
        };
    };
    let how = ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"];
    let made = Command::new(useradd).args(how).args(["--shell", "/usr/sbin/nologin", NAME]).output();
    // Another agent of this machine may have made it at the same time.
    entry(NAME).ok_or_else(|| AccountError::NotMade {
        reason: match made {
            Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(error) => error.to_string(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account() -> Option<Account> {
        let account = Account::of_this_machine().unwrap();
        if account.is_none() {
            println!("skipped: only root has another user to start a database as");
        }
        account
    }

    #[test]
    fn a_command_runs_as_it_without_a_capability_and_cannot_get_one() {
        let Some(account) = account() else { return };
        let output = output(Some(&account), "id -u; id -G; cat /proc/self/status; ulimit -l", [""; 0]).unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let fact = |name: &str| {
            let line = said.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_default().trim().to_owned()
        };
        assert!(said.starts_with(&format!("{}\n{}\n", account.uid, account.gid)), "{said}");
        for set in ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
            assert_eq!(fact(set).trim_start_matches('0'), "", "{set} {said}");
        }
        assert_eq!(fact("NoNewPrivs:"), "1", "{said}");
    }

    #[test]
    fn what_another_user_starts_gets_no_more_rights_and_whoever_starts_it_keeps_its_own() {
        let own = rustix::thread::no_new_privs().unwrap();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "grep NoNewPrivs: /proc/self/status"]).stdout(std::process::Stdio::piped());
        let output = spawn_without_more_rights(&mut command).unwrap().wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).split_whitespace().last(), Some("1"), "{output:?}");
        assert_eq!(rustix::thread::no_new_privs().unwrap(), own);
        let missing = spawn_without_more_rights(&mut Command::new("/no/such/program")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn it_gets_what_it_is_given_and_passes_where_it_is_let_through() {
        let Some(account) = account() else { return };
        let place = tempfile::tempdir().unwrap();
        let node = place.path().join("node");
        fs::create_dir_all(node.join("data/ks")).unwrap();
        fs::write(node.join("data/ks/file"), "x").unwrap();
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let refusal = account.check_way([node.as_path()]).unwrap_err().to_string();
        assert!(refusal.contains(&format!("cannot pass through {};", place.path().display())), "{refusal}");
        account.let_through(place.path()).unwrap();
        account.check_way([node.as_path()]).unwrap();
        assert_eq!(fs::metadata(place.path()).unwrap().mode() & 0o777, 0o710, "nobody else passes");

        account.own(&node.join("data")).unwrap();
        let write = |file: &str| output(Some(&account), "echo y >\"$1\"", [node.join(file)]).unwrap().status.success();
        assert!(write("data/ks/file") && write("data/new") && !write("other"));
    }

    /// The user of the database exchanges its own directories for links to root's, again and again.
    #[test]
    fn a_directory_that_is_exchanged_for_a_link_meanwhile_hands_nothing_else_over() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let Some(account) = account() else { return };
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir_all(at("outside/deep")).unwrap();
        for number in 0..20 {
            fs::write(at("outside/deep").join(number.to_string()), "root's").unwrap();
        }
        fs::create_dir_all(at("data/ks/deep")).unwrap();
        std::os::unix::fs::symlink(at("outside"), at("data/link")).unwrap();
        std::os::unix::fs::symlink(at("outside"), at("aside")).unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let exchange = rustix::fs::RenameFlags::EXCHANGE;
                    let _ = rustix::fs::renameat_with(CWD, at("data/ks"), CWD, at("aside"), exchange);
                }
            });
            let began = std::time::Instant::now();
            while began.elapsed() < std::time::Duration::from_secs(2) {
                // What vanishes meanwhile is an error, which is well.
                let _ = account.own(&at("data"));
            }
            is_over.store(true, Ordering::Relaxed);
        });
        account.own(&at("data")).unwrap();
        assert_eq!(fs::symlink_metadata(at("data/link")).unwrap().uid(), account.uid(), "the link itself");
        for root_s in ["outside", "outside/deep", "outside/deep/7"] {
            assert_eq!(fs::metadata(at(root_s)).unwrap().uid(), 0, "{root_s}");
        }
    }

    #[test]
    fn a_file_with_a_second_name_is_not_handed_over() {
        let Some(account) = account() else { return };
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("data")).unwrap();
        fs::write(place.path().join("secret"), "x").unwrap();
        fs::hard_link(place.path().join("secret"), place.path().join("data/second")).unwrap();
        let refusal = account.own(&place.path().join("data")).unwrap_err().to_string();
        assert!(refusal.contains("second name"), "{refusal}");
        assert_eq!(fs::metadata(place.path().join("secret")).unwrap().uid(), 0);
    }
}
