//! Stories of local users who would like a root tool to work for them. They run as `nobody`; whoever reads these as
//! root sees what the tool refuses, and what it leaves alone.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::{Exits, Laboratory};

/// User and group of the attacker.
const NOBODY: &str = "65534";

/// `false`, with a word why, where there is no other user to become.
pub fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        println!("skipped: only root is worth an attack, and can play one");
    }
    is_root
}

/// Runs a script as `nobody` in a directory; it must succeed.
pub fn as_nobody(directory: &Path, script: &str) {
    Command::new("setpriv")
        .args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "sh", "-ec", script])
        .current_dir(directory)
        .exits(0);
}

/// A place like `/var/tmp`, where everybody may make names.
pub fn everybodys() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o1777)).unwrap();
    place
}

/// What root has and would miss.
pub struct Belongings {
    directory: tempfile::TempDir,
    process: Child,
}

impl Belongings {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("tree")).unwrap();
        std::fs::write(directory.path().join("tree/kept"), "kept").unwrap();
        std::fs::write(directory.path().join("file"), "kept").unwrap();
        let process = Command::new("sleep").arg("600").stdout(Stdio::null()).spawn().unwrap();
        Self { directory, process }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A ledger that says that all of this is to be undone.
    fn forged(&self) -> String {
        let pid = self.process.id();
        let start = storage::start_time_ticks(pid).unwrap();
        let program = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap();
        let items = [
            format!(r#"{{"directory":{{"path":"{}"}}}}"#, self.at("tree").display()),
            format!(r#"{{"file":{{"path":"{}"}}}}"#, self.at("file").display()),
            format!(
                r#"{{"process":{{"pid":{pid},"start_time_ticks":{start},"executable":"{}","what":"x"}}}}"#,
                program.display()
            ),
            r#"{"mount":{"path":"/proc"}}"#.to_owned(),
            format!(r#"{{"cgroup":{{"path":"{}"}}}}"#, self.at("iopslab-1-x").display()),
        ];
        let lines = items.iter().enumerate();
        lines.map(|(id, item)| format!("{{\"intend\":{{\"id\":{},\"item\":{item}}}}}\n", id + 1)).collect()
    }

    /// A work directory that `nobody` makes in this place: a ledger that says so, and a link in the place of the lock.
    pub fn wanted_by_nobody(&self, place: &Path) -> PathBuf {
        let script = format!(
            "mkdir iopslab; cat >iopslab/ledger.jsonl <<'END'\n{}END\nln -s {} iopslab/lock",
            self.forged(),
            self.at("file").display()
        );
        as_nobody(place, &script);
        place.join("iopslab")
    }

    pub fn are_untouched(&mut self) {
        assert_eq!(std::fs::read_to_string(self.at("tree/kept")).unwrap(), "kept");
        assert_eq!(std::fs::read_to_string(self.at("file")).unwrap(), "kept");
        assert!(self.process.try_wait().unwrap().is_none(), "it was ended");
        assert!(Path::new("/proc/self").exists(), "/proc was unmounted");
    }
}

impl Drop for Belongings {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_work_directory_that_another_user_has_made_first_is_refused_and_nothing_in_it_is_believed() {
    if !is_root() {
        return;
    }
    let (lab, place, mut mine) = (Laboratory::new(), everybodys(), Belongings::new());
    let work = mine.wanted_by_nobody(place.path());
    let named = work.to_str().unwrap();
    let attempts: [&[&str]; 3] =
        [&["clean", "--work-directory", named], &["volume", "gp3:10GiB", "--mount", "no-volume"], &["db", "start"]];
    for attempt in attempts {
        let said = lab.iopslab(attempt).env("IOPSLAB_WORK", &work).exits(1).stderr;
        assert!(said.contains(named) && said.contains("can be changed by others than user 0"), "{attempt:?}: {said}");
        mine.are_untouched();
    }
    // One whose parent is theirs can be exchanged at any moment.
    as_nobody(place.path(), "mkdir theirs");
    let inner = place.path().join("theirs/work");
    lab.exits(0, &["clean", "--work-directory", inner.to_str().unwrap()]);
    std::fs::create_dir(&inner).unwrap();
    lab.exits(1, &["clean", "--work-directory", inner.to_str().unwrap()]);
    assert_eq!(std::fs::read_dir(&inner).unwrap().count(), 0, "nothing was made there");
}

#[test]
fn what_a_ledger_names_outside_of_its_directory_is_named_and_left_alone_and_the_rest_is_undone() {
    if !is_root() {
        return;
    }
    let (lab, mut mine) = (Laboratory::new(), Belongings::new());
    // Numbers that no kernel has written.
    let fake = mine.at("iopslab-1-x");
    std::fs::create_dir(&fake).unwrap();
    std::fs::write(fake.join("cgroup.procs"), format!("{}\n", mine.process.id())).unwrap();
    let work = lab.path().join("work");
    std::fs::create_dir_all(work.join("runs/old")).unwrap();
    let own = format!(
        "{{\"intend\":{{\"id\":9,\"item\":{{\"directory\":{{\"path\":\"{}\"}}}}}}}}\n",
        work.join("runs/old").display()
    );
    let forged = mine.forged();
    // What was running under this number has become another program since.
    let forged = forged.replace("\"executable\":\"", "\"executable\":\"/not");
    std::fs::write(work.join("ledger.jsonl"), format!("{forged}what is this\n{own}")).unwrap();

    let said = lab.exits(1, &["clean", "--work-directory", work.to_str().unwrap()]).stdout;
    mine.are_untouched();
    assert!(!work.join("runs/old").exists() && said.contains("removed directory"), "{said}");
    for left in ["tree is left alone", "file is left alone", "mount /proc is left alone"] {
        assert!(said.contains(left), "{left}: {said}");
    }
    assert!(said.contains("it lies on no mounted cgroup file system"), "{said}");
    assert!(said.contains("line 6 of the ledger"), "{said}");
}

#[test]
fn a_link_in_the_place_of_a_file_of_ours_is_not_followed() {
    if !is_root() {
        return;
    }
    let (lab, mut mine) = (Laboratory::new(), Belongings::new());
    for name in ["lock", "ledger.jsonl"] {
        let work = lab.path().join(format!("work-{name}"));
        std::fs::create_dir(&work).unwrap();
        std::os::unix::fs::symlink(mine.at("file"), work.join(name)).unwrap();
        let said = lab.exits(1, &["clean", "--work-directory", work.to_str().unwrap()]).stderr;
        assert!(said.contains(name), "{said}");
        mine.are_untouched();
    }
}

#[test]
fn downloads_are_not_looked_for_where_others_can_put_them() {
    if !is_root() {
        return;
    }
    let (lab, place) = (Laboratory::new(), everybodys());
    as_nobody(place.path(), "mkdir -p cache/cassandra");
    let said = lab.iopslab(&["db", "start"]).env("IOPSLAB_CACHE", place.path().join("cache")).exits(1).stderr;
    assert!(said.contains("can be changed by others than user 0"), "{said}");
}

/// A ledger with these items, each with the root that it claims for itself.
fn claiming(items: &[(String, &Path)]) -> String {
    let line = |(id, (item, root)): (usize, &(String, &Path))| {
        format!("{{\"intend\":{{\"id\":{},\"item\":{item},\"root\":\"{}\"}}}}\n", id + 1, root.display())
    };
    items.iter().enumerate().map(line).collect()
}

#[test]
fn where_something_may_be_undone_is_not_for_an_entry_to_say() {
    if !is_root() {
        return;
    }
    let (lab, mut mine) = (Laboratory::new(), Belongings::new());
    let work = lab.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let directory = |path: &Path| format!(r#"{{"directory":{{"path":"{}"}}}}"#, path.display());
    let tree = mine.at("tree");
    let forged = [
        (directory(&tree), Path::new("/")),
        (directory(&tree), tree.as_path()),
        (format!(r#"{{"file":{{"path":"{}"}}}}"#, mine.at("file").display()), tree.parent().unwrap()),
        (r#"{"mount":{"path":"/proc"}}"#.to_owned(), Path::new("/proc")),
    ];
    std::fs::write(work.join("ledger.jsonl"), claiming(&forged)).unwrap();
    let clean = || {
        let output = lab.output(&["clean", "--work-directory", work.to_str().unwrap()]);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, said) = clean();
    assert_eq!(code, Some(1), "{said}");
    mine.are_untouched();
    assert_eq!(said.matches("is none of the directories in").count(), forged.len(), "{said}");

    // Nor can a list that somebody else has: it is named, and nothing of it is believed.
    let theirs = mine.at("roots.json");
    std::fs::write(&theirs, r#"["/"]"#).unwrap();
    std::os::unix::fs::symlink(&theirs, work.join("roots.json")).unwrap();
    let (code, said) = clean();
    assert_eq!(code, Some(1), "{said}");
    mine.are_untouched();
    assert!(said.contains("cannot open") && said.contains("roots.json"), "{said}");

    // What this work directory has recorded by itself is undone.
    std::fs::remove_file(work.join("roots.json")).unwrap();
    let given = lab.path().join("given");
    std::fs::create_dir_all(given.join("iopslab/run")).unwrap();
    let given = given.canonicalize().unwrap();
    storage::Ledger::open(&work.join("ledger.jsonl")).unwrap().allow(&given).unwrap();
    let own = [(directory(&given.join("iopslab/run")), given.as_path())];
    std::fs::write(work.join("ledger.jsonl"), claiming(&own)).unwrap();
    let (code, said) = clean();
    assert_eq!(code, Some(0), "{said}");
    assert!(!given.join("iopslab/run").exists() && given.exists(), "{said}");
}

#[test]
fn a_device_s_read_ahead_is_left_alone_where_only_its_name_is_known() {
    if !is_root() {
        return;
    }
    let lab = Laboratory::new();
    let place = |name: &str| Path::new("/sys/class/block").join(name).join("queue/read_ahead_kb");
    let devices = std::fs::read_dir("/sys/class/block").unwrap().flatten();
    let mut names = devices.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let Some(device) = names.find(|name| place(name).exists()) else {
        println!("skipped: this machine has no block device");
        return;
    };
    let before = std::fs::read_to_string(place(&device)).unwrap();
    let work = lab.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let item = |disk: &str| {
        format!("{{\"intend\":{{\"id\":1,\"item\":{{\"read_ahead\":{{\"device\":\"{device}\",{disk}\"kb\":12}}}}}}}}\n")
    };
    for disk in ["", "\"disk\":\"another\","] {
        std::fs::write(work.join("ledger.jsonl"), item(disk)).unwrap();
        let output = lab.output(&["clean", "--work-directory", work.to_str().unwrap()]);
        let said = String::from_utf8_lossy(&output.stdout);
        // One that was another disk is gone; an entry that says nothing of its disk cannot be understood.
        assert_eq!(output.status.code(), Some(i32::from(disk.is_empty())), "{said}");
        assert_eq!(std::fs::read_to_string(place(&device)).unwrap(), before, "{said}");
    }
}

/// The default of earlier versions is named, with what removes it, and never used.
#[test]
fn a_work_directory_in_the_place_of_earlier_versions_is_named_with_the_command_that_removes_it() {
    if !is_root() {
        return;
    }
    let lab = Laboratory::new();
    let named = "/var/tmp/iopslab is a work directory of an earlier version, which nothing uses any more";
    let command = "iopslab clean --work-directory /var/tmp/iopslab --snapshots && rm -r /var/tmp/iopslab";
    let said = |made: &str, arguments: &[&str]| {
        let script = format!("mount -t tmpfs -o mode=1777 none /var/tmp && {made}");
        let mut apart = lab.iopslab_apart(&script, arguments);
        let output = apart.env("IOPSLAB_CACHE", lab.path().join("cache")).output().unwrap();
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat()
    };
    let doctor: &[&str] = &["doctor"];
    let run: &[&str] = &["run", "no-such-experiment.toml"];
    for arguments in [doctor, run] {
        let left = said("mkdir -m 700 /var/tmp/iopslab", arguments);
        assert!(left.contains(named) && left.contains(command), "{arguments:?}: {left}");
    }
    // Somebody else's is not ours to remove, and a link leads anywhere.
    for made in ["true", "mkdir /var/tmp/iopslab && chown 65534 /var/tmp/iopslab", "ln -s /etc /var/tmp/iopslab"] {
        let left = said(made, run);
        assert!(!left.contains("earlier version"), "{made}: {left}");
    }
}

/// Without variables that say otherwise: root's place is the system's, whatever root's environment has of others, and
/// who has no home has no place of their own.
#[test]
fn the_default_place_is_the_system_s_and_who_has_no_home_cannot_write_there() {
    if !is_root() {
        return;
    }
    let lab = Laboratory::new();
    let mut doctor = lab.iopslab(&["doctor"]);
    doctor.env_remove("IOPSLAB_WORK").env("IOPSLAB_CACHE", lab.path().join("cache"));
    let output = doctor.env("HOME", lab.path()).env("XDG_STATE_HOME", lab.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let line = said.lines().find(|line| line.contains(" work directory ")).unwrap();
    assert!(line.contains("/var/lib/iopslab") && !line.contains(lab.path().to_str().unwrap()), "{line}");

    let program = env!("CARGO_BIN_EXE_iopslab");
    let as_nobody = |arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "env", "-i", "PATH=/usr/bin:/bin"]);
        command.args(arguments).current_dir("/").output().unwrap()
    };
    if !as_nobody(&["test", "-x", program]).status.success() {
        println!("skipped: nobody cannot get to {program}");
        return;
    }
    let output = as_nobody(&[program, "db", "start"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("/var/lib/iopslab"), "{said}");
}
