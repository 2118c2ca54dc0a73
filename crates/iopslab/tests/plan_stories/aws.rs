//! What a plan says of machines on AWS.

use crate::support::{Laboratory, one_line};

/// Hours for which a file's machines on AWS are planned.
fn hours_on_aws(lab: &Laboratory, file: &str) -> f64 {
    let document = lab.exits(0, &["plan", file, "--provider", "aws", "--format", "json"]).json();
    document["aws"]["hours"].as_f64().unwrap()
}

/// What a file's plan on AWS says, in one line.
pub fn said_on_aws(lab: &Laboratory, file: &str) -> String {
    one_line(&String::from_utf8_lossy(&lab.output(&["plan", file, "--provider", "aws"]).stdout))
}

#[test]
fn a_plan_on_aws_says_how_long_volumes_made_from_a_snapshot_are_read_and_counts_it() {
    let lab = Laboratory::new();
    let text = r#"
name = "x"
[dataset]
records = 1_000_000
[[configuration]]
name = "gp3"
instance = "m7i.4xlarge"
data_volume = { type = "gp3", size_gib = 500, mib_per_s = 250 }
[[workload]]
name = "w"
read = 1.0
[load]
concurrency = [8]
repetitions = 3
[provider.aws]
"#;
    lab.write("empty.toml", text);
    lab.write("own.toml", &format!("{text}snapshot = \"snap-0123456789abcdef0\"\n"));
    // 500 GiB at 250 MiB/s.
    let more = (hours_on_aws(&lab, "own.toml") - hours_on_aws(&lab, "empty.toml")) * 3_600.0;
    assert!((more - 2_048.0).abs() < 1.0, "{more}");
    let reported = said_on_aws(&lab, "own.toml");
    for words in [
        "data volumes are made from snap-0123456789abcdef0; each of their blocks is read before anything is measured",
        "blocks come from S3 first, at a rate that AWS does not state",
        "gp3: about 34m 08s or longer, 500 GiB at 250 MiB/s",
    ] {
        assert!(reported.contains(words), "no {words:?} in {reported}");
    }
    assert!(!said_on_aws(&lab, "empty.toml").contains("blocks"));
}

#[test]
fn a_plan_on_aws_says_which_configurations_share_a_volume_and_counts_the_hours_of_its_modifications() {
    let lab = Laboratory::new();
    let volume = |name: &str, more: &str| {
        format!(
            "[[configuration]]\nname = \"{name}\"\ninstance = \"m7i.4xlarge\"\n\
             data_volume = {{ type = \"gp3\", size_gib = 512{more} }}\n"
        )
    };
    let text = format!(
        "name = \"x\"\n[dataset]\nrecords = 1_000_000\n{}{}[[workload]]\nname = \"w\"\nread = 1.0\n\
         [load]\nconcurrency = [8]\nrepetitions = 4\n[provider.aws]\n",
        volume("low", ""),
        volume("high", ", iops = 6000, mib_per_s = 250"),
    );
    lab.write("apart.toml", &text);
    lab.write("own.toml", &format!("{text}pair_volumes = \"modify\"\n"));
    // Four times, three hours each. A data set is loaded once instead of twice on either.
    let more = hours_on_aws(&lab, "own.toml") - hours_on_aws(&lab, "apart.toml");
    assert!((more - 12.0).abs() < 0.1, "{more}");
    let reported = said_on_aws(&lab, "own.toml");
    for words in [
        "1 machine for databases, 1 for clients low, high are measured on the same machines.",
        "Their data volume of 512 GiB is modified 4 times (AWS: at most 4 in 24 hours), which takes about 12h 00m in \
         all by what AWS calls typical:",
        "low: gp3, 3000 IOPS, 125 MiB/s high: gp3, 6000 IOPS, 250 MiB/s",
    ] {
        assert!(reported.contains(words), "no {words:?} in {reported}");
    }
    assert!(said_on_aws(&lab, "apart.toml").contains("2 machines for databases"));
    // One repetition more, and AWS would not do it.
    lab.write("more.toml", &format!("{text}pair_volumes = \"modify\"\n").replace("repetitions = 4", "repetitions = 5"));
    let refused = lab.exits(2, &["plan", "more.toml", "--provider", "aws"]).stderr;
    assert!(one_line(&refused).contains("would be modified 5 times, 1 in each of 5 repetitions"), "{refused}");
}
