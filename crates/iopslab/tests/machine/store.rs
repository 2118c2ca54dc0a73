//! Stories of data sets in a store: what one work directory has loaded, another one restores, with a real Cassandra.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::small_node;
use crate::support::lane::Share;
use crate::support::{Laboratory, files, wait_for};

/// One trial; the data set is that of other stories, so that it is loaded once for all of them.
const EXPERIMENT: &str = r#"
name = "stored"

[dataset]
records = 20_000

[dataset.store]
at = "AT"

[[workload]]
name = "reads"
read = 1.0
distribution = "uniform"

[load]
rate = [100]
rest_max_s = 0
warmup_s = 1
duration_s = 3
repetitions = 1
"#;

/// The experiment with this store.
fn stored(store: &str, keep: bool) -> String {
    let text = EXPERIMENT.replace("at = \"AT\"", &format!("at = \"{store}\"\nkeep = {keep}"));
    small_node::experiment(&text, &[("fast", "")])
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A run in a work directory of its own, until it says this; then it is stopped by Ctrl-C.
fn says(lab: &Laboratory, mut command: Command, words: &str) {
    let heard = lab.path().join("heard.txt");
    let stderr = std::fs::File::create(&heard).unwrap();
    let mut run: Child = command.stdout(Stdio::null()).stderr(stderr).spawn().unwrap();
    let said = || std::fs::read_to_string(&heard).unwrap_or_default();
    let mut ended = None;
    for _ in 0..1_800 {
        ended = run.try_wait().unwrap();
        if said().contains(words) || ended.is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    if ended.is_none() {
        kill_process(Pid::from_raw(run.id() as i32).unwrap(), Signal::INT).unwrap();
        run.wait().unwrap();
    }
    assert!(said().contains(words), "no {words:?} in:\n{}", said());
    wait_for("the agents to clean up", Duration::from_secs(180), || lab.leftovers().is_empty());
}

/// A run to its end, in a work directory that has nothing.
fn in_a_new_place(lab: &Laboratory, name: &str, file: &str) -> Output {
    let mut command = lab.iopslab(&["run", file, "--format", "json"]);
    command.env("IOPSLAB_WORK", lab.path().join(name)).output().unwrap()
}

/// The data set of a run came from a store, its trial found it whole, and the report says so.
fn was_restored(output: &Output, runs: &Path, store: &str) {
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains(&format!("records restored from {store}, where the run stored-")), "{said}");
    let analysis: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(analysis["trials"]["valid"], 1, "{said}");
    let origin = &analysis["origins"][0];
    assert_eq!(origin["store"], store);
    assert!(origin["made_by"].as_str().unwrap().starts_with("stored-"), "{origin}");
    let report = runs.join(analysis["run"].as_str().unwrap()).join("report.md");
    let reported = std::fs::read_to_string(report).unwrap();
    let sentence = format!("Data set restored from {store}, where the run stored-");
    assert!(reported.contains(&sentence), "{reported}");
}

#[test]
fn a_directory_gives_another_host_the_data_set_that_one_has_loaded() {
    let lab = Laboratory::on_machine(Share::Half);
    let store = lab.path().join("data-sets");
    let at = store.display().to_string();
    lab.write("kept.toml", &stored(&at, true));
    lab.write("own.toml", &stored(&at, false));

    // A directory that is not there is refused before anything is made.
    let refused = lab.output(&["run", "own.toml"]);
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("the store of data sets {at} is no directory")), "{said}");
    assert!(lab.run_so_far().is_none());

    std::fs::create_dir(&store).unwrap();
    says(&lab, lab.iopslab(&["run", "kept.toml"]), &format!("kept in {at}: "));
    let part = files(&store).into_iter().find(|path| path.ends_with("data-0001.tar")).unwrap();

    let output = in_a_new_place(&lab, "second", "own.toml");
    // The other run was interrupted: its directory stands beside this one.
    was_restored(&output, &lab.path().join("runs"), &at);

    // One byte is wrong: it is not used, and what was half restored does not count as a snapshot.
    let mut bytes = std::fs::read(&part).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&part, bytes).unwrap();
    let mut third = lab.iopslab(&["run", "own.toml", "--out", "third-runs"]);
    third.env("IOPSLAB_WORK", lab.path().join("third"));
    says(&lab, third, &format!("warning: data set: what {at} has cannot be used: "));
    let left = files(&lab.path().join("third/snapshots"));
    assert_eq!(left, Vec::<PathBuf>::new());

    // A half upload has no snapshot.json: there is nothing, then.
    for document in files(&store).iter().filter(|path| path.ends_with("snapshot.json")) {
        std::fs::remove_file(document).unwrap();
    }
    let mut fourth = lab.iopslab(&["run", "own.toml", "--out", "fourth-runs"]);
    fourth.env("IOPSLAB_WORK", lab.path().join("fourth"));
    says(&lab, fourth, &format!("data set: not in {at}"));
}

#[cfg(feature = "aws")]
mod s3 {
    use std::net::TcpListener;

    use serde_json::json;

    use super::*;
    use crate::support::account::Account;

    const AT: &str = "s3://our-data-sets/lab";
    const OWNER: &str = "123456789012";

    /// A bucket of this machine.
    struct Bucket {
        account: Account,
        address: String,
    }

    impl Bucket {
        fn start(lab: &Laboratory) -> Self {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let account = Account::start(lab.path(), port, &[]);
            account.ask(&json!({ "ask": "bucket", "account": OWNER, "name": "our-data-sets" }));
            let address = format!("http://127.0.0.1:{port}");
            Self { account, address }
        }

        fn refuse(&self, action: &str) {
            let refusal = json!({ "ask": "refuse", "action": action, "code": "AccessDenied", "status": 403, "after": 0,
                "times": -1 });
            self.account.ask(&refusal);
        }

        fn objects(&self) -> Vec<String> {
            let asked = json!({ "ask": "objects", "account": OWNER, "name": "our-data-sets" });
            serde_json::from_value(self.account.ask(&asked)).unwrap()
        }

        fn iopslab(&self, lab: &Laboratory, work: &str, arguments: &[&str]) -> Command {
            let mut command = lab.iopslab(arguments);
            command
                .env("IOPSLAB_WORK", lab.path().join(work))
                .env("AWS_ENDPOINT_URL", &self.address)
                .env("AWS_ACCESS_KEY_ID", "IOPSLAB0000000000000")
                .env("AWS_SECRET_ACCESS_KEY", "not-to-be-seen")
                .env("AWS_CONFIG_FILE", "/nonexistent")
                .env("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
                .env("AWS_EC2_METADATA_DISABLED", "true")
                .env_remove("AWS_PROFILE");
            command
        }
    }

    fn experiment(keep: bool) -> String {
        let text = stored(AT, keep).replace("records = 20_000", "records = 5_000");
        text.replace("keep =", "region = \"us-east-1\"\nkeep =")
    }

    #[test]
    fn a_bucket_that_refuses_is_named_with_the_permission_before_anything_is_made() {
        let lab = Laboratory::on_machine(Share::Half);
        let bucket = Bucket::start(&lab);
        lab.write("own.toml", &experiment(true));
        let planned = bucket.iopslab(&lab, "work", &["plan", "own.toml"]).output().unwrap();
        let said = text(&planned.stdout);
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains(&format!(
                "Data set from {AT} where it has it, else loaded and kept there; requests, storage and transfer of S3 \
                 are not priced here"
            )),
            "{said}"
        );
        for (action, key) in [("ListBucket", "lab/"), ("PutObject", "lab/README.txt")] {
            bucket.refuse(action);
            let refused = bucket.iopslab(&lab, "work", &["run", "own.toml"]).output().unwrap();
            let said = text(&refused.stderr);
            assert_eq!(refused.status.code(), Some(1), "{said}");
            let expected = format!("s3://our-data-sets/{key}: AccessDenied: Access Denied (permission s3:{action})");
            assert!(said.contains(&expected), "{said}");
            bucket.account.ask(&json!({ "ask": "allow" }));
        }
        // On AWS no machine is asked for either.
        let aws = "[provider.aws]\ncontroller_cidr = \"203.0.113.7/32\"\npublic_address = true\n";
        let bought = experiment(true)
            .replace("{ vcpus = 0.7, memory_gib = 16 }", "\"m7i.large\"")
            .replace("{ iops = 4500, mib_per_s = 200, size_gib = 2 }", "{ type = \"gp3\", size_gib = 100 }")
            .replace("memory_limit_gib = 8\n", "");
        lab.write("own.toml", &format!("{bought}{aws}"));
        bucket.refuse("ListBucket");
        let run = ["run", "own.toml", "--provider", "aws", "--yes"];
        let refused = bucket.iopslab(&lab, "work", &run).output().unwrap();
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert!(said.contains("s3://our-data-sets/lab/: AccessDenied"), "{said}");
        assert_eq!(bucket.account.requests(), Vec::<Value>::new());
        assert!(lab.run_so_far().is_none());
    }

    const SHOP: &str = "CREATE TABLE carts (shopper int PRIMARY KEY, amount int);
-- statement read_cart weight 1
SELECT * FROM carts WHERE shopper = ?;
";

    /// The tables of another run, as `nodetool snapshot` would have left them, are a snapshot of one's own.
    #[test]
    #[ignore = "three runs with a real database: make test-all"]
    fn a_snapshot_in_a_bucket_is_fetched_and_restored_and_goes_on_where_it_was_interrupted() {
        const AT: &str = "s3://our-data-sets/monday";
        let lab = Laboratory::on_machine(Share::Half);
        let bucket = Bucket::start(&lab);
        let own = "name = \"own\"\n[dataset]\nseed = 7\n[[workload]]\ncql = \"shop.cql\"\n[workload.tables.carts]\n\
                    partitions = 2_000\ncolumns.shopper = { kind = \"sequence\" }\n[load]\nrate = [100]\n\
                    rest_max_s = 0\nwarmup_s = 1\nduration_s = 3\nrepetitions = 1\n";
        let own = small_node::experiment(own, &[("fast", "")]);
        lab.write("shop.cql", SHOP);
        lab.write("made.toml", &own);
        lab.write("own.toml", &own.replace("seed = 7", &format!("snapshot = \"{AT}\"\nregion = \"us-east-1\"")));
        let made = bucket.iopslab(&lab, "first", &["run", "made.toml", "--out", "one"]).output().unwrap();
        assert!(made.status.success(), "{}", text(&made.stderr));

        let schema = "CREATE TABLE shop.carts (\n    shopper int PRIMARY KEY,\n    amount int\n);\n";
        lab.write("schema.cql", schema);
        let table = |path: &Path| Some(path.parent()?.file_name()?.to_str()?.to_owned());
        let is_of_carts = |path: &PathBuf| table(path).is_some_and(|name| name.starts_with("carts-"));
        let all: Vec<PathBuf> = files(&lab.path().join("first/snapshots")).into_iter().filter(is_of_carts).collect();
        let folder = table(&all[0]).unwrap();
        for path in all.iter().chain([&lab.path().join("schema.cql")]) {
            let name = path.file_name().unwrap().to_str().unwrap();
            let key = format!("monday/node 1/shop/{folder}/snapshots/t+1/{name}");
            bucket.account.ask(&json!({
                "ask": "upload", "account": OWNER, "name": "our-data-sets", "key": key, "file": path,
            }));
        }

        // The schema is read twice, and then two files come.
        bucket.account.ask(&json!({
            "ask": "refuse", "action": "GetObject", "code": "AccessDenied", "status": 403, "after": 4, "times": -1,
        }));
        let run = |out: &str| {
            let arguments = ["run", "own.toml", "--format", "json", "--out", out];
            bucket.iopslab(&lab, "second", &arguments).output().unwrap()
        };
        let refused = run("two");
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert!(said.contains("AccessDenied: Access Denied (permission s3:GetObject)"), "{said}");
        let (count, _) = said.split_once(&format!(" files of {AT}, ")).unwrap();
        let count: usize = count.rsplit(' ').next().unwrap().parse().unwrap();
        assert!(said.contains(&format!("fetching {count} of {count} files of {AT}, ")), "{said}");
        bucket.account.ask(&json!({ "ask": "allow" }));

        let output = run("three");
        let said = text(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(said.contains(&format!("fetching {} of {count} files of {AT}, ", count - 2)), "{said}");
        assert!(said.contains(&format!("carts 2000 rows restored from {AT}; ")), "{said}");
        let analysis: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(analysis["trials"]["valid"], 1, "{said}");
        // The nodes have it: the copy is gone.
        let kept = std::fs::read_dir(lab.path().join("second/snapshots")).unwrap().flatten();
        let names: Vec<String> = kept.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        assert!(names.len() == 1 && !names[0].starts_with("fetched-"), "{names:?}");
    }

    #[test]
    #[ignore = "two runs with a real database: make test-all"]
    fn a_run_restores_from_a_bucket_what_another_one_has_kept_there() {
        let lab = Laboratory::on_machine(Share::Half);
        let bucket = Bucket::start(&lab);
        lab.write("kept.toml", &experiment(true));
        lab.write("own.toml", &experiment(false));
        let first = bucket.iopslab(&lab, "first", &["run", "kept.toml", "--out", "one"]).output().unwrap();
        let said = text(&first.stderr);
        assert!(first.status.success(), "{said}");
        assert!(said.contains("loaded 5000 records") && said.contains(&format!("kept in {AT}: ")), "{said}");
        let objects = bucket.objects();
        let ends = |end: &str| objects.iter().filter(|key| key.starts_with("lab/") && key.ends_with(end)).count();
        assert_eq!((ends("/data-0001.tar"), ends("/snapshot.json"), ends("README.txt")), (1, 1, 1), "{objects:?}");

        let run = |work: &str, out: &str| {
            let arguments = ["run", "own.toml", "--format", "json", "--out", out];
            bucket.iopslab(&lab, work, &arguments).output().unwrap()
        };
        was_restored(&run("second", "two"), &lab.path().join("two"), AT);

        // What cannot be read is named, with what is missing; the right that a URL gives is shown to nobody.
        bucket.refuse("GetObject");
        let refused = run("third", "three");
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert!(said.contains("/snapshot.json: AccessDenied: Access Denied (permission s3:GetObject)"), "{said}");
        bucket.account.ask(&json!({ "ask": "allow" }));
        for out in ["one", "two", "three"] {
            for file in files(&lab.path().join(out)) {
                let bytes = std::fs::read(&file).unwrap();
                let has = |words: &str| bytes.windows(words.len()).any(|part| part == words.as_bytes());
                assert!(!has("X-Amz-Signature") && !has("not-to-be-seen"), "{}", file.display());
            }
        }

        // The document is refused in the middle of keeping: the run goes on, and nothing is a data set.
        lab.write("other.toml", &experiment(true).replace("records = 5_000", "records = 4_000"));
        bucket.account.ask(&json!({
            "ask": "refuse", "action": "PutObject", "code": "AccessDenied", "status": 403, "after": 1, "times": -1,
        }));
        let output = bucket.iopslab(&lab, "fourth", &["run", "other.toml", "--out", "four"]).output().unwrap();
        let said = text(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(said.contains("warning: data set could not be kept in s3://our-data-sets/lab: "), "{said}");
        assert!(said.contains("permission s3:PutObject is missing"), "{said}");
        assert_eq!(bucket.objects().len(), objects.len());
    }
}
