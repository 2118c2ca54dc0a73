//! Data volumes that are made from a snapshot of EBS: loaded once on a volume, as the docs say, which becomes the
//! snapshot; then runs on machines whose volumes are made from it. Real Cassandra, real Terraform, an API server of
//! this machine; the volume is a loop device with the XFS of the one that was loaded.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use crate::aws::Story;
use crate::bought::allowed;
use crate::cloud::attach;
use crate::network::run;
use crate::real::small_node;
use crate::support::{Exits, Laboratory, conformance, json, wait_for};

const VOLUME_BYTES: u64 = 2 << 30;

/// The data set of all runs here.
const DATA_SET: &str = "[dataset]\nrecords = 5_000\n";

/// What loads it on the volume: one short trial on it.
const LOADS: &str = r#"
name = "loads"

[[workload]]
name = "reads"
read = 1.0

[load]
rate = [200]
rest_max_s = 0
warmup_s = 1
duration_s = 2
repetitions = 1
"#;

const MEASURES: &str = r#"
name = "restored"

[[configuration]]
name = "gp3"
instance = "m7i.large"
data_volume = { type = "gp3", size_gib = 100 }

[[workload]]
name = "reads"
read = 1.0

[load]
rate = [200]
rest_max_s = 0
warmup_s = 1
duration_s = 3
repetitions = 2

[provider.local]
heap_mib = 512

[provider.aws]
region = "us-east-1"
controller_cidr = "10.80.255.254/32"
public_address = true
ssh_user = "root"
image_x86_64 = "ami-12c6146b"
"#;

/// An image on a loop device, as long as it is needed.
struct Mounted {
    device: PathBuf,
    at: PathBuf,
}

impl Mounted {
    fn of(image: &Path, at: PathBuf) -> Self {
        std::fs::create_dir(&at).unwrap();
        let mounted = Self { device: attach(image), at };
        run("mount", &[mounted.device.to_str().unwrap(), mounted.at.to_str().unwrap()]);
        mounted
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        for (program, argument) in [("umount", &self.at), ("losetup", &self.device)] {
            let detach = (program == "losetup").then_some("--detach");
            // A mount that failed has nothing to undo.
            let _ = Command::new(program).args(detach).arg(argument).output();
        }
    }
}

/// A run loads the data set on a volume, which is unmounted then: what its snapshot has, and the data set's key.
fn loaded(lab: &Laboratory) -> (PathBuf, String) {
    let image = lab.path().join("volume.img");
    std::fs::File::create(&image).unwrap().set_len(VOLUME_BYTES).unwrap();
    run("mkfs.xfs", &["-q", image.to_str().unwrap()]);
    let volume = Mounted::of(&image, lab.path().join("volume"));
    let text = small_node::experiment(&[LOADS, DATA_SET].concat(), &[("small", "")]);
    lab.write("loads.toml", &text.replace("size_gib = 2", "size_gib = 1"));
    let mut command = lab.iopslab_in_own_network(&["run", "loads.toml", "--out", "local"]);
    command.env("IOPSLAB_WORK", volume.at.join("iopslab")).exits(0);
    let kept = only(&volume.at.join("iopslab/snapshots")).join("snapshot.json");
    let key = json(&kept)["key"].as_str().unwrap().to_owned();
    drop(volume);
    // Whoever got a copy of this mount in the meantime keeps for a moment what is not written yet.
    wait_for("an image that is whole", Duration::from_secs(60), || {
        let devices = Command::new("losetup").arg("--associated").arg(&image).output().unwrap();
        devices.stdout.is_empty()
    });
    (image, key)
}

/// What is below a directory, alone.
fn only(directory: &Path) -> PathBuf {
    let mut all = std::fs::read_dir(directory).unwrap().map(|one| one.unwrap().path());
    let one = all.next().unwrap();
    assert_eq!(all.next(), None);
    one
}

#[test]
fn a_volume_made_from_a_snapshot_is_read_whole_before_it_is_measured_and_must_hold_the_data_set() {
    let lab = Laboratory::new();
    let (image, key) = loaded(&lab);
    let mut story = Story::of(lab, "");
    let id = |gib: u32| {
        let made = story.cloud.ask(&json!({ "ask": "snapshot", "region": "us-east-1", "gib": gib }));
        made["id"].as_str().unwrap().to_owned()
    };
    let (snapshot, too_large) = (id(2), id(200));
    story.cloud.snapshots.insert(snapshot.clone(), image);
    let with = |data_set: &str, snapshot: &str| {
        let text = MEASURES.replace("\n[[conf", &format!("\n{data_set}\n[[conf"));
        format!("{text}snapshot = \"{snapshot}\"\n")
    };
    let run_it = ["run", "own.toml", "--provider", "aws", "--yes"];

    // What can be known before machines are made is refused before.
    let (small, none) = (
        "is of a volume of 200 GiB, and volumes made from it have at least that: gp3 has 100 GiB",
        "InvalidSnapshot.NotFound",
    );
    for (id, words) in [(too_large.as_str(), small), ("snap-0123456789abcdef0", none)] {
        story.lab.write("own.toml", &with(DATA_SET, id));
        story.start(&run_it);
        assert!(!story.ends_well());
        let said = story.lab.stderr_so_far();
        assert!(said.contains(&format!("snapshot {id} of us-east-1")) && said.contains(words), "{said}");
        assert!(story.lab.run_so_far().is_none());
    }

    // A volume that holds another data set is refused with both, and nothing is left.
    story.lab.write("own.toml", &with("[dataset]\nrecords = 6_000\n", &snapshot));
    story.start(&[&run_it[..], &["--out", "elsewhere"]].concat());
    assert!(!story.ends_well());
    let said = story.lab.stderr_so_far();
    let holds = format!("it holds {key} (5000 records), the plan needs ");
    assert!(said.contains(&holds) && said.contains("(6000 records)"), "{said}");
    assert!(said.contains("docs/aws.md says how to make one"), "{said}");
    assert_eq!(story.cloud.left(), Vec::<String>::new());
    // Nothing was read for it.
    story.follows_until("the machine's end", |story| !story.cloud.read_bytes.is_empty());
    let read: Vec<u64> = story.cloud.read_bytes.drain(..).collect();
    assert!(read.len() == 1 && read[0] < VOLUME_BYTES / 2, "{read:?}");

    // The right one is read whole, once on a machine, whatever becomes of the controller.
    story.lab.write("own.toml", &with(DATA_SET, &snapshot));
    story.start(&run_it);
    let whole = format!("every block of the volume made from {snapshot} was read: 2.0 GiB in ");
    story.follows_until("initialised", |story| story.lab.stderr_so_far().contains(&whole));
    assert!(!story.lab.stderr_so_far().contains("kept as a snapshot"));
    story.kill();
    let directory = story.lab.run_directory();
    story.start(&["run", "--resume", directory.to_str().unwrap(), "--yes"]);
    assert!(story.ends_well());
    let said = story.lab.stderr_so_far();
    let before = format!("every block of the volume made from {snapshot} was read before, on ");
    assert!(said.contains(&before), "{said}");
    assert!(said.contains("5000 records from an earlier run's snapshot"), "{said}");
    assert_eq!(story.cloud.left(), Vec::<String>::new());

    // By the count of the device itself: the whole of it, and not twice; the data set is small.
    story.follows_until("the machine's end", |story| !story.cloud.read_bytes.is_empty());
    let read: Vec<u64> = story.cloud.read_bytes.drain(..).collect();
    assert!(read.len() == 1 && (VOLUME_BYTES..2 * VOLUME_BYTES).contains(&read[0]), "{read:?}");
    conformance::is_whole(&story.lab, &directory, "aws");
    // The policy of the docs allows what was asked.
    let (asked, allowed) = (story.cloud.actions(), allowed());
    let missing: Vec<&String> = asked.iter().filter(|action| !allowed.contains(*action)).collect();
    assert!(missing.is_empty(), "not in docs/aws-policy.json: {missing:?}");
    assert!(asked.iter().any(|action| action == "ec2:DescribeSnapshots"));
    let analysis = json(&directory.join("analysis.json"));
    assert_eq!(analysis["trials"]["valid"], 2);
    let [how] = analysis["configurations"][0]["volumes"][0]["initialised"].as_array().unwrap().as_slice() else {
        panic!("{:#}", analysis["configurations"])
    };
    assert_eq!((&how["snapshot"], how["bytes"].as_u64()), (&json!(snapshot), Some(VOLUME_BYTES)));
    let report = std::fs::read_to_string(directory.join("report.md")).unwrap();
    let sentence = format!("gp3: the data volume was made from {snapshot} of EBS, with the data set loaded on ");
    assert!(report.contains(&sentence), "{report}");
}
