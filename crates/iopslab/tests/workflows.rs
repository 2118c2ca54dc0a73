//! What is checked before a change lands and before a release, and with which rights: workflows of GitHub,
//! `scripts/lint.sh` and the tools that it needs.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::Laboratory;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap()
}

/// A job of a workflow: its name, and the lines below it.
struct Job<'t> {
    name: &'t str,
    lines: Vec<&'t str>,
}

impl<'t> Job<'t> {
    fn all(workflow: &'t str) -> Vec<Self> {
        let mut jobs: Vec<Self> = Vec::new();
        for line in workflow.lines().skip_while(|line| *line != "jobs:").skip(1) {
            let is_name = line.starts_with("  ") && !line[2..].starts_with([' ', '#']);
            if is_name {
                jobs.push(Self { name: line.trim().trim_end_matches(':'), lines: Vec::new() });
            } else if let Some(job) = jobs.last_mut() {
                job.lines.push(line);
            }
        }
        jobs
    }

    /// The lines of each step.
    fn steps(&self) -> Vec<String> {
        let all = self.lines.join("\n");
        all.split("\n      - ").skip(1).map(str::to_owned).collect()
    }

    fn may_write(&self) -> bool {
        self.lines.iter().any(|line| line.trim().ends_with(": write") || line.contains("write-all"))
    }

    /// Those that have to succeed before it.
    fn needs(&self) -> Vec<&'t str> {
        let stated = self.lines.iter().find_map(|line| line.trim().strip_prefix("needs:"));
        let words = stated.map(|names| names.split([' ', ',', '[', ']']).filter(|name| !name.is_empty()).collect());
        words.unwrap_or_default()
    }

    fn runs(&self, what: &str) -> bool {
        self.steps().iter().any(|step| step.contains(what))
    }
}

/// What of the repository a step can run.
const OF_REPOSITORY: [&str; 5] = ["scripts/", ".ci/", "make ", "cargo ", "actions/checkout"];

/// What is wrong with a workflow, one sentence each.
fn problems(workflow: &str) -> Vec<String> {
    let mut found = Vec::new();
    if workflow.contains("pull_request_target") || workflow.contains("workflow_run") {
        found.push("a change of somebody else's would run with the repository's own rights".to_owned());
    }
    let mut top = workflow.lines().skip_while(|line| !line.starts_with("permissions:"));
    match top.next() {
        Some("permissions: {}") => {}
        Some("permissions:") => {
            let stated = top.take_while(|line| line.starts_with(' '));
            found.extend(stated.filter(|line| !line.ends_with(": read")).map(|line| format!("every job has{line}")));
        }
        other => found.push(format!("rights are not stated for all jobs: {other:?}")),
    }
    for line in workflow.lines().map(str::trim) {
        let line = line.strip_prefix("- ").unwrap_or(line);
        if let Some(action) = line.strip_prefix("uses: ") {
            let hash = action.split_once('@').and_then(|(_, version)| version.split_once(" # v"));
            let is_hash = |hash: &str| hash.len() == 40 && hash.bytes().all(|digit| digit.is_ascii_hexdigit());
            if !hash.is_some_and(|(hash, _)| is_hash(hash)) {
                found.push(format!("{action} is not pinned by its hash, with its version beside it"));
            }
        }
        if line.starts_with("run:") && line.contains("${{") {
            found.push(format!("what others write becomes a part of the script: {line}"));
        }
    }
    let jobs = Job::all(workflow);
    let is_tested = |name: &&str| jobs.iter().any(|job| job.name == *name && job.runs(".ci/run"));
    for job in &jobs {
        let mut checkouts = job.steps().into_iter().filter(|step| step.contains("actions/checkout@"));
        if checkouts.any(|step| !step.contains("persist-credentials: false")) {
            found.push(format!("{} leaves its token beside what it checks out", job.name));
        }
        if job.may_write() && OF_REPOSITORY.iter().any(|what| job.runs(what)) {
            found.push(format!("{} runs what is in the repository, and may write", job.name));
        }
        if job.may_write() && !job.needs().iter().any(is_tested) {
            found.push(format!("{} writes what no test has seen", job.name));
        }
    }
    found
}

#[test]
fn workflows_have_the_rights_that_they_need_and_run_what_was_pinned_and_tested() {
    let files = std::fs::read_dir(root().join(".github/workflows")).unwrap().flatten();
    let names: Vec<String> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    assert!(names.len() >= 2, "{names:?}");
    for name in &names {
        let workflow = read(&format!(".github/workflows/{name}"));
        assert!(!Job::all(&workflow).is_empty() && workflow.contains("uses: "), "{name}");
        assert_eq!(problems(&workflow), Vec::<String>::new(), "{name}");
    }
    let release = read(".github/workflows/release.yml");
    assert_eq!(Job::all(&release).iter().filter(|job| job.may_write()).count(), 1);
}

/// That the story above can fail.
#[test]
fn each_right_too_many_is_noticed() {
    let tests = "sudo --preserve-env=HOME,PATH,CI .ci/run";
    for (file, from, to, problem) in [
        ("ci", "checkout@", "checkout@v", "is not pinned"),
        ("ci", " # v", " ", "with its version beside it"),
        ("ci", "persist-credentials: false", "fetch-depth: 1", "leaves its token"),
        ("ci", "permissions:\n  contents: read\n", "", "rights are not stated"),
        ("ci", "permissions:\n  contents: read\n", "permissions: write-all\n", "rights are not stated"),
        ("ci", "  contents: read\n", "  contents: write\n", "every job has"),
        ("ci", "  pull_request:", "  pull_request_target:", "the repository's own rights"),
        ("ci", "- run: make check", "- run: echo ${{ github.head_ref }}", "a part of the script"),
        ("release", "needs: [test, dist]", "needs: [dist]", "no test has seen"),
        ("release", tests, "true", "no test has seen"),
        ("release", "run: gh release", "run: scripts/sign.sh && gh release", "and may write"),
        ("release", "contents: read", "contents: write", "and may write"),
    ] {
        let workflow = read(&format!(".github/workflows/{file}.yml"));
        let changed = workflow.replace(from, to);
        assert_ne!(changed, workflow, "{from}");
        let found = problems(&changed);
        assert!(found.iter().any(|found| found.contains(problem)), "{problem}: {found:?}");
    }
}

/// Programs that do what a script says, before all others.
struct Programs(PathBuf);

impl Programs {
    fn new(lab: &Laboratory) -> Self {
        let directory = lab.path().join("programs");
        std::fs::create_dir(&directory).unwrap();
        Self(directory)
    }

    fn put(&self, name: &str, script: &str) {
        let path = self.0.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Runs a script of the repository; `more` is where other programs are.
    fn run(&self, words: &[&str], more: &str, variables: &[(&str, &str)]) -> (Output, String) {
        let mut command = Command::new("/bin/bash");
        command.args(words).current_dir(root()).env_remove("JAVA_HOME").env_remove("IOPSLAB_LINT_WITHOUT_DENY");
        command.env("HOME", &self.0).env("PATH", format!("{}{more}", self.0.display()));
        let output = command.envs(variables.iter().copied()).output().unwrap();
        let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat();
        (output, said)
    }
}

/// Set where the database of advisories is out of reach.
const WITHOUT: [(&str, &str); 1] = [("IOPSLAB_LINT_WITHOUT_DENY", "1")];

#[test]
fn lint_without_cargo_deny_is_refused_with_what_installs_it_unless_that_is_asked_for() {
    let lab = Laboratory::new();
    let programs = Programs::new(&lab);
    programs.put("dirname", "echo scripts");
    // It is the first that lint starts.
    programs.put("cargo", "exit 7");
    let lint = |variables| {
        let (output, said) = programs.run(&["scripts/lint.sh"], "", variables);
        (output.status.code(), said)
    };
    let (code, said) = lint(&[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("cargo-deny is not installed") && said.contains("scripts/setup.sh --lint"), "{said}");
    assert_eq!(lint(&WITHOUT).0, Some(7), "lint goes on");
    programs.put("cargo-deny", "exit 0");
    assert_eq!(lint(&[]).0, Some(7), "lint goes on");
}

#[test]
fn cargo_deny_is_installed_in_the_version_that_is_stated_before_lint_and_ci() {
    let setup = read("scripts/setup.sh");
    let version = setup.lines().find_map(|line| line.strip_prefix("CARGO_DENY=")).unwrap();
    let lab = Laboratory::new();
    let programs = Programs::new(&lab);
    for name in ["mkfs.xfs", "fio", "cc", "curl", "losetup", "shellcheck"] {
        programs.put(name, "exit 0");
    }
    programs.put("java", "echo 'openjdk version \"17.0.1\"' >&2");
    let installs = r#"case $1 in
    --version) echo cargo 1.99.0 ;;
    *)
        echo "$@" >> "$HOME/asked"
        for word; do :; done
        printf '#!/bin/sh\necho cargo-deny %s\n' "${word#*@}" > "$HOME/cargo-deny" ;;
esac"#;
    programs.put("cargo", installs);
    let asked = || std::fs::read_to_string(programs.0.join("asked")).unwrap_or_default();
    let set_up = |words: &[&str], variables| {
        let (output, said) = programs.run(words, ":/usr/bin:/bin", variables);
        assert!(output.status.success(), "{said}");
    };
    programs.put("cargo-deny", "echo cargo-deny 0.1.0");
    set_up(&["scripts/setup.sh"], &[]);
    set_up(&["scripts/setup.sh", "--lint"], &WITHOUT);
    assert_eq!(asked(), "", "nobody needs it");
    set_up(&["scripts/setup.sh", "--lint"], &[]);
    let once = format!("install --locked --quiet cargo-deny@{version}\n");
    assert_eq!(asked(), once);
    set_up(&["scripts/setup.sh", "--lint"], &[]);
    assert_eq!(asked(), once, "it is there");

    assert!(read("Makefile").contains("@scripts/setup.sh --lint\n\tscripts/lint.sh\n"));
    assert!(read(".ci/beside").contains("\nscripts/lint.sh --without-compiling\n"));
    let workflow = read(".github/workflows/ci.yml");
    let lint = format!("cargo-deny@{version} && scripts/lint.sh\n");
    assert!(workflow.contains(&lint), "not all of lint, or another cargo-deny than scripts/setup.sh installs");
}
