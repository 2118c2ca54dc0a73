//! Runs on AWS that somebody else has put together, or has changed: Terraform gets nothing of theirs to obey. In its
//! place stands a script that notes how it was called and what it found.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::received_runs::change;
use crate::support::{Exits, Laboratory};

const EXPERIMENT: &str = include_str!("../../../examples/quickstart.toml");
const WAY: &str = "\n[provider.aws]\ncontroller_cidr = \"203.0.113.7/32\"\npublic_address = true\n";
/// What it is to answer stands beside it; so does what it notes.
const TERRAFORM: &str = r#"#!/bin/sh
here=$(dirname "$0")
echo "$*" >> "$here/called"
env | grep -e '^TF_' -e '^AWS_CONFIG_FILE=' >> "$here/environment"
case "$1" in
version) echo '{"terraform_version":"1.11.4"}' ;;
init)
    cat backend.tf.json >> "$here/obeyed" 2> /dev/null
    find .terraform -type f >> "$here/obeyed" 2> /dev/null
    cat main.tf modules/network/main.tf > "$here/modules"
    mkdir -p .terraform
    ;;
state) cat "$here/state.json" 2> /dev/null ;;
show) cat "$here/planned.json" ;;
apply | destroy) test ! -e "$here/fails" || exit 1 ;;
esac
exit 0
"#;

struct Story {
    lab: Laboratory,
}

impl Story {
    /// A run whose machines could be neither made nor taken away.
    fn begun() -> Self {
        let lab = Laboratory::new();
        lab.write("own.toml", &format!("{EXPERIMENT}{WAY}"));
        let terraform = lab.write("terraform", TERRAFORM);
        std::fs::set_permissions(&terraform, std::fs::Permissions::from_mode(0o755)).unwrap();
        lab.write("fails", "");
        let story = Self { lab };
        let stderr = story.ask(1, &["run", "own.toml", "--provider", "aws", "--yes"]);
        assert!(story.directory().join("asked").exists(), "{stderr}");
        std::fs::remove_file(story.lab.path().join("fails")).unwrap();
        std::fs::remove_file(story.lab.path().join("called")).unwrap();
        story
    }

    /// Stderr of a command that has to exit with this code.
    #[track_caller]
    fn ask(&self, code: i32, arguments: &[&str]) -> String {
        let terraform = self.lab.path().join("terraform");
        self.lab.iopslab(arguments).env("IOPSLAB_TERRAFORM", terraform).exits(code).stderr
    }

    fn run(&self) -> String {
        self.lab.run_directory().display().to_string()
    }

    /// Where Terraform works.
    fn directory(&self) -> PathBuf {
        self.lab.run_directory().join("terraform")
    }

    #[track_caller]
    fn destroy(&self, code: i32) -> String {
        self.ask(code, &["destroy", &self.run()])
    }

    /// Whether Terraform was asked to make or remove anything.
    fn has_changed_anything(&self) -> bool {
        let called = self.noted("called");
        called.lines().any(|line| line.starts_with("apply") || line.starts_with("destroy"))
    }

    /// What the script has noted under this name.
    fn noted(&self, name: &str) -> String {
        std::fs::read_to_string(self.lab.path().join(name)).unwrap_or_default()
    }
}

#[test]
fn a_backend_that_a_run_came_with_is_not_obeyed() {
    let story = Story::begun();
    let evil = json!({ "resource": { "terraform_data": { "x": {
        "provisioner": [{ "local-exec": { "command": "touch made-by-attacker" } }],
    } } } });
    let sent = story.directory().join("backend.tf.json");
    std::fs::write(&sent, evil.to_string()).unwrap();
    story.destroy(0);
    assert!(story.noted("called").contains("\ndestroy "), "{}", story.noted("called"));
    assert_eq!(story.noted("obeyed"), "");

    let story = Story::begun();
    std::fs::write(story.directory().join("backend.tf.json"), evil.to_string()).unwrap();
    story.lab.write("fails", "");
    story.ask(1, &["run", "--resume", &story.run(), "--yes"]);
    assert!(story.noted("called").contains("\napply "), "{}", story.noted("called"));
    assert_eq!(story.noted("obeyed"), "");
}

/// Terraform obeys whatever ends in `.tf`: the modules are the program's own, whatever a run has in their place, and
/// any other file is refused.
#[test]
fn modules_that_a_run_came_with_are_not_obeyed() {
    let evil = "resource \"terraform_data\" \"x\" {\n  provisioner \"local-exec\" { command = \"touch made\" }\n}\n";
    let story = Story::begun();
    for name in ["evil.tf", "main_override.tf", "x.auto.tfvars", "modules/network/evil.tf"] {
        let sent = story.directory().join(name);
        std::fs::write(&sent, evil).unwrap();
        for arguments in [&["destroy", &story.run()][..], &["run", "--resume", &story.run(), "--yes"]] {
            let stderr = story.ask(1, arguments);
            assert!(stderr.contains(name) && stderr.contains("Terraform would obey it"), "{stderr}");
        }
        std::fs::remove_file(&sent).unwrap();
    }
    assert!(!story.noted("called").contains("init"), "{}", story.noted("called"));

    let own = [
        include_str!("../../../terraform/aws/main.tf"),
        include_str!("../../../terraform/aws/modules/network/main.tf"),
    ];
    let fails = story.lab.write("fails", "");
    for (arguments, expected) in
        [(&["run", "--resume", &story.run(), "--yes"][..], 1), (&["destroy", &story.run()][..], 0)]
    {
        for name in ["main.tf", "modules/network/main.tf"] {
            std::fs::write(story.directory().join(name), evil).unwrap();
        }
        std::fs::remove_file(story.lab.path().join("modules")).unwrap();
        let stderr = story.ask(expected, arguments);
        assert_eq!(story.noted("modules"), own.concat(), "{arguments:?}: {stderr}");
        // Nothing stands in the way of the second.
        let _ = std::fs::remove_file(&fails);
    }
}

/// A shell of the user's stood in the directory while the run was looked at: its plug-ins stayed.
#[test]
fn plugins_that_a_run_came_with_are_not_started_whoever_stands_there() {
    let story = Story::begun();
    let sent = story.directory().join(".terraform/providers/evil");
    std::fs::create_dir_all(sent.parent().unwrap()).unwrap();
    std::fs::write(&sent, "#!/bin/sh").unwrap();
    std::fs::create_dir_all(story.directory().join(".terraform/modules")).unwrap();
    std::fs::write(story.directory().join(".terraform/modules/modules.json"), "{}").unwrap();
    let mut shell = Command::new("sleep").arg("600").current_dir(story.directory()).spawn().unwrap();
    story.destroy(0);
    shell.kill().unwrap();
    shell.wait().unwrap();
    assert_eq!(story.noted("obeyed"), "");
}

/// A version manager in the place of Terraform looks for these above where it is started, and asdf starts what they
/// name.
#[test]
fn what_would_choose_another_terraform_is_refused_by_its_name() {
    let story = Story::begun();
    for name in [".tool-versions", ".terraform-version"] {
        let sent = story.lab.run_directory().join(name);
        std::fs::write(&sent, "terraform path:/srv/evil\n").unwrap();
        for arguments in [&["destroy", &story.run()][..], &["run", "--resume", &story.run(), "--yes"]] {
            let stderr = story.ask(1, arguments);
            assert!(stderr.contains(name) && stderr.contains("what is started as Terraform"), "{stderr}");
        }
        std::fs::remove_file(&sent).unwrap();
    }
    assert!(!story.noted("called").contains("init"), "{}", story.noted("called"));
    story.destroy(0);
}

#[test]
fn what_the_user_has_set_for_terraform_is_kept_and_leads_it_nowhere_else() {
    let story = Story::begun();
    story
        .lab
        .iopslab(&["destroy", &story.run()])
        .env("IOPSLAB_TERRAFORM", "./terraform")
        .env("TF_WORKSPACE", "prod")
        .env("TF_DATA_DIR", "../data")
        .env("TF_CLI_ARGS", "-lock=false")
        .env("TF_CLI_ARGS_destroy", "-target=x")
        .env("TF_CLI_CONFIG_FILE", "own.tfrc")
        .env("TF_PLUGIN_CACHE_DIR", "/srv/cache")
        // Expanded by who reads it.
        .env("AWS_CONFIG_FILE", "~/config")
        .exits(0);
    let environment = story.noted("environment");
    for gone in ["TF_WORKSPACE", "TF_DATA_DIR", "TF_CLI_ARGS"] {
        assert!(!environment.contains(gone), "{environment}");
    }
    let own = story.lab.path().canonicalize().unwrap().join("own.tfrc");
    let own = format!("TF_CLI_CONFIG_FILE={}", own.display());
    for kept in [own.as_str(), "TF_PLUGIN_CACHE_DIR=/srv/cache", "AWS_CONFIG_FILE=~/config"] {
        assert!(environment.lines().any(|line| line == kept), "{environment}");
    }
}

/// Its controller was killed, and it goes on: what it needs is not taken from it.
#[test]
fn a_terraform_that_is_at_work_is_waited_for() {
    let story = Story::begun();
    let used = story.directory().join(".terraform/providers/in-use");
    std::fs::create_dir_all(used.parent().unwrap()).unwrap();
    std::fs::write(&used, "").unwrap();
    let lock = std::fs::OpenOptions::new().append(true).open(story.directory().join("at-work")).unwrap();
    lock.lock().unwrap();
    std::thread::scope(|scope| {
        let destroyed = scope.spawn(|| story.destroy(0));
        std::thread::sleep(Duration::from_secs(2));
        assert!(used.exists() && !destroyed.is_finished());
        assert!(!story.noted("called").contains("init"));
        lock.unlock().unwrap();
        destroyed.join().unwrap();
    });
    assert!(story.noted("called").contains("\ndestroy "));
}

/// `destroy` went to whatever bucket the plan named, with whatever credentials.
#[test]
fn where_machines_are_taken_away_is_what_the_experiment_says() {
    type Forge = fn(&mut Value);
    let forged: [(Forge, &str); 5] = [
        (
            |plan| plan["place"]["bought"]["backend"] = json!({ "type": "local", "path": "/srv/evil" }),
            "place.bought.backend",
        ),
        (|plan| plan["place"]["bought"]["sites"][0]["profile"] = json!("prod-admin"), "place.bought.sites.0.profile"),
        (|plan| plan["place"]["bought"]["sites"][0]["region"] = json!("eu-west-1"), "place.bought.sites.0.region"),
        (|plan| plan["place"]["bought"]["batches"][0]["site"] = json!(7), "place.bought.batches"),
        (|plan| plan["experiment"] = json!("prod"), "experiment"),
    ];
    let story = Story::begun();
    let plan = story.lab.run_directory().join("plan.json");
    let whole = std::fs::read(&plan).unwrap();
    for (forge, place) in forged {
        change(&plan, forge);
        let stderr = story.destroy(2);
        assert!(stderr.contains(&format!("plan.json: {place} is not what its experiment.toml comes to")), "{stderr}");
        assert!(stderr.contains("iopslab clean --aws"), "{stderr}");
        std::fs::write(&plan, &whole).unwrap();
    }
    assert_eq!(story.noted("called"), "");
    story.destroy(0);
}

fn state(kind: &str, name: &str, plugin: &str, run: &str) -> String {
    let resource = json!({
        "mode": "managed", "type": kind, "name": name, "provider": format!("provider[\"{plugin}\"]"),
        "instances": [{ "attributes": { "id": "x", "tags_all": { "iopslab:run": run } } }],
    });
    json!({ "version": 4, "resources": [resource] }).to_string()
}

/// A state says what goes, and which programs are started for that: anything that the user has.
#[test]
fn a_state_that_names_what_the_run_did_not_make_is_refused_by_address() {
    const AWS: &str = "registry.terraform.io/hashicorp/aws";
    let story = Story::begun();
    let run = story.lab.run_directory().file_name().unwrap().to_str().unwrap().to_owned();
    let here = story.directory().join("terraform.tfstate");
    let elsewhere = story.lab.path().join("state.json");
    for (state, words) in [
        (state("aws_db_instance", "prod", AWS, &run), "terraform.tfstate has aws_db_instance.prod"),
        (state("aws_instance", "prod", AWS, &run), "terraform.tfstate has aws_instance.prod"),
        (
            state("aws_instance", "machine", AWS, "another-run"),
            "has aws_instance.machine, which belongs to iopslab:run = another-run",
        ),
        (
            state("aws_instance", "machine", "registry.terraform.io/evil/shell", &run),
            "needs provider[\"registry.terraform.io/evil/shell\"]",
        ),
    ] {
        // In the directory: Terraform is not even started.
        std::fs::write(&here, &state).unwrap();
        let stderr = story.destroy(1);
        assert!(stderr.contains(words), "{stderr}");
        assert_eq!(story.noted("called"), "", "{words}");
        std::fs::remove_file(&here).unwrap();
        // Where Terraform alone can look.
        std::fs::write(&elsewhere, &state).unwrap();
        for arguments in [&["destroy", &story.run()][..], &["run", "--resume", &story.run(), "--yes"]] {
            let stderr = story.ask(1, arguments);
            assert!(stderr.contains(words), "{stderr}");
            assert!(story.noted("called").contains("state pull"), "{}", story.noted("called"));
            assert!(!story.has_changed_anything(), "{words}: {}", story.noted("called"));
        }
        std::fs::remove_file(&elsewhere).unwrap();
        std::fs::remove_file(story.lab.path().join("called")).unwrap();
    }
    story.destroy(0);
    // No plug-in but that of the lock file.
    assert!(
        story.noted("called").contains("init -input=false -no-color -lockfile=readonly"),
        "{}",
        story.noted("called")
    );
}

/// A state can say of itself that what it names is the run's; what Terraform reads of it again on AWS cannot.
#[test]
fn what_has_not_the_tag_of_the_run_on_aws_is_not_removed() {
    const AWS: &str = "registry.terraform.io/hashicorp/aws";
    let story = Story::begun();
    let run = story.lab.run_directory().file_name().unwrap().to_str().unwrap().to_owned();
    story.lab.write("state.json", &state("aws_instance", "machine", AWS, &run));
    let planned = |tags: Value| {
        let change = json!({ "actions": ["delete"], "before": { "id": "i-1", "tags_all": tags }, "after": null });
        let change = json!({ "mode": "managed", "type": "aws_instance", "name": "machine", "change": change });
        story.lab.write("planned.json", &json!({ "resource_changes": [change] }).to_string());
    };
    for tags in [json!({}), json!({ "Name": "prod" }), json!({ "iopslab:run": "another-run" })] {
        planned(tags);
        for arguments in [&["destroy", &story.run()][..], &["run", "--resume", &story.run(), "--yes"]] {
            let stderr = story.ask(1, arguments);
            assert!(stderr.contains("has aws_instance.machine, which belongs to iopslab:run = "), "{stderr}");
            assert!(!story.has_changed_anything(), "{}", story.noted("called"));
        }
    }
    planned(json!({ "iopslab:run": run }));
    story.destroy(0);
    // What was looked at is what is done.
    let called = story.noted("called");
    let last = called.lines().rev().take(3).collect::<Vec<_>>();
    assert!(last[2].starts_with("plan ") && last[2].ends_with("-out=.terraform/planned -destroy"), "{called}");
    assert_eq!(last[1], "show -json .terraform/planned");
    assert!(last[0].starts_with("apply ") && last[0].ends_with(" .terraform/planned"), "{called}");
    assert!(!story.directory().join(".terraform/planned").exists());
}

/// Whoever sent the run has its keys.
#[test]
fn machines_that_are_made_have_keys_that_were_in_no_run_that_was_received() {
    let keys = |story: &Story| {
        let text = std::fs::read_to_string(story.directory().join("iopslab.auto.tfvars.json")).unwrap();
        let variables: Value = serde_json::from_str(&text).unwrap();
        ["ssh_public_key", "ssh_host_key"].map(|name| variables[name].as_str().unwrap().to_owned())
    };
    let resumed = |story: &Story| {
        let before = keys(story);
        story.lab.write("fails", "");
        story.ask(1, &["run", "--resume", &story.run(), "--yes"]);
        assert!(story.noted("called").contains("\napply "), "{}", story.noted("called"));
        let after = keys(story);
        [before[0] == after[0], before[1] == after[1]]
    };
    // Nothing stands.
    assert_eq!(resumed(&Story::begun()), [false, false]);
    // A state that says that machines stand.
    let stands = |action: &str| {
        let story = Story::begun();
        let run = story.lab.run_directory().file_name().unwrap().to_str().unwrap().to_owned();
        let state = state("aws_key_pair", "run", "registry.terraform.io/hashicorp/aws", &run);
        story.lab.write("state.json", &state);
        let before = if action == "create" { Value::Null } else { json!({ "tags_all": { "iopslab:run": run } }) };
        let change = json!({ "actions": [action], "before": before });
        let change = json!({ "mode": "managed", "type": "aws_key_pair", "name": "run", "change": change });
        story.lab.write("planned.json", &json!({ "resource_changes": [change] }).to_string());
        story
    };
    // They do, and have the keys.
    assert_eq!(resumed(&stands("no-op")), [true, true]);
    // The keys would be made on AWS: nothing there has them.
    let story = stands("create");
    let before = keys(&story);
    let stderr = story.ask(1, &["run", "--resume", &story.run(), "--yes"]);
    assert!(stderr.contains("has other keys than what stands"), "{stderr}");
    let after = keys(&story);
    assert!(before[0] != after[0] && before[1] != after[1]);
}

/// The tag of what is removed, and the state that says what, are those of the run's name.
#[test]
fn a_run_that_takes_the_name_of_another_is_refused() {
    let story = Story::begun();
    let environment = story.lab.run_directory().join("environment.json");
    let whole = std::fs::read(&environment).unwrap();
    for name in ["prod-20261120T221500Z", "../quickstart-20261120T221500Z", "quickstart"] {
        change(&environment, |facts| facts["run"] = json!(name));
        let stderr = story.destroy(2);
        assert!(stderr.contains("is not what a run of quickstart is called"), "{stderr}");
        assert_eq!(story.noted("called"), "");
    }
    // Where it says nothing, by the name of its directory.
    change(&environment, |facts| drop(facts.as_object_mut().unwrap().remove("run")));
    let renamed = story.lab.path().join("prod");
    std::fs::rename(story.lab.run_directory(), &renamed).unwrap();
    story.ask(2, &["destroy", renamed.to_str().unwrap()]);
    assert_eq!(story.noted("called"), "");
    // A copy under any name knows how it began.
    std::fs::write(renamed.join("environment.json"), whole).unwrap();
    story.ask(0, &["destroy", renamed.to_str().unwrap()]);
}
