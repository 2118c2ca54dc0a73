//! A snapshot of one's own in a bucket: what a run finds wrong with it before anything begins, against an AWS API
//! server on this machine (moto).

#![cfg(feature = "aws")]

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::support::account::Aws;
use crate::support::{Exits as _, one_line};

const OWNER: &str = "123456789012";
const BUCKET: &str = "backups";

const SCRIPT: &str = "CREATE TABLE carts (shopper int PRIMARY KEY, amount int);
-- statement read_cart weight 1
SELECT * FROM carts WHERE shopper = ?;
";

const EXPERIMENT: &str = r#"
name = "x"
[dataset]
snapshot = "s3://backups/monday"
region = "us-east-1"
[[configuration]]
name = "a"
instance = { vcpus = 1, memory_gib = 2 }
memory_limit_gib = 2
data_volume = { iops = 500, size_gib = 1 }
[[workload]]
cql = "shop.cql"
[workload.tables.carts]
partitions = 1000
columns.shopper = { kind = "sequence" }
[load]
concurrency = [1]
duration_s = 30
[provider.local]
heap_mib = 256
"#;

/// An object of the bucket.
fn put(aws: &Aws, key: &str, text: &str) {
    let file = aws.lab.write("object", text);
    aws.account.ask(&json!({ "ask": "upload", "account": OWNER, "name": BUCKET, "key": key, "file": file }));
}

/// An object below the prefix.
fn upload(aws: &Aws, key: &str, text: &str) {
    put(aws, &format!("monday/{key}"), text);
}

/// What a run says that does not begin.
fn refused(aws: &Aws) -> String {
    let said = one_line(&aws.command(&["run", "own.toml"]).exits(2).stderr);
    assert!(!aws.lab.path().join("runs").exists(), "{said}");
    said
}

#[test]
fn what_is_wrong_with_a_snapshot_in_a_bucket_is_refused_before_anything_begins() {
    let aws = Aws::start();
    aws.account.ask(&json!({ "ask": "bucket", "account": OWNER, "name": BUCKET }));
    aws.lab.write("shop.cql", SCRIPT);
    aws.lab.write("own.toml", EXPERIMENT);
    // A plan asks nobody: that the bucket is empty is found by a run.
    let planned = one_line(&aws.command(&["plan", "own.toml"]).exits(0).stdout);
    assert!(planned.contains("the bucket is not asked for a plan"), "{planned}");
    let said = refused(&aws);
    assert!(said.contains("has no SSTable (NAME-Data.db)"), "{said}");

    let carts = "shop/carts-1b255f4def2540a60000000000000000/snapshots/1700000000+a b";
    upload(&aws, &format!("{carts}/nb-1-big-Data.db"), "data");
    upload(&aws, &format!("{carts}/nb-1-big-Statistics.db"), "statistics");
    upload(&aws, "shop/", "");
    let said = refused(&aws);
    assert!(said.contains("has CREATE TABLE of carts"), "{said}");
    upload(
        &aws,
        &format!("{carts}/schema.cql"),
        "CREATE TABLE shop.carts (\n    shopper int PRIMARY KEY,\n    amount bigint\n);\n",
    );
    let said = refused(&aws);
    assert!(said.contains("carts.amount is bigint here and int in the script"), "{said}");

    for (action, permission) in [("ListBucket", "s3:ListBucket"), ("GetObject", "s3:GetObject")] {
        aws.account.ask(&json!({
            "ask": "refuse", "action": action, "code": "AccessDenied", "status": 403, "after": 0, "times": -1,
        }));
        let said = refused(&aws);
        assert!(said.contains("AccessDenied: Access Denied") && said.contains(permission), "{said}");
        aws.account.ask(&json!({ "ask": "allow" }));
    }
    upload(&aws, "a/b/c/d/e/f/g/h/i/nb-2-big-Data.db", "data");
    let said = refused(&aws);
    assert!(said.contains("lies deeper than a snapshot has directories"), "{said}");
    assert_eq!(aws.lab.leftovers(), Vec::<String>::new());
}

/// Machines of AWS have it from the store alone: what that lacks is found while nothing costs money yet.
#[test]
fn a_snapshot_that_the_store_does_not_have_is_refused_before_machines_are_made() {
    let aws = Aws::start();
    aws.account.ask(&json!({ "ask": "bucket", "account": OWNER, "name": BUCKET }));
    aws.lab.write("shop.cql", SCRIPT);
    let machine = "instance = { vcpus = 1, memory_gib = 2 }\nmemory_limit_gib = 2\n\
                   data_volume = { iops = 500, size_gib = 1 }\n";
    let bought = "instance = \"m7i.large\"\ndata_volume = { type = \"gp3\", size_gib = 100 }\n";
    let store = "region = \"us-east-1\"\n[dataset.store]\nat = \"s3://backups/sets\"\nregion = \"us-east-1\"\n";
    let way = "[provider.aws]\ncontroller_cidr = \"203.0.113.7/32\"\npublic_address = true\n";
    let text = EXPERIMENT.replace(machine, bought).replacen("region = \"us-east-1\"\n", store, 1);
    aws.lab.write("own.toml", &text.replace("[provider.local]\nheap_mib = 256\n", way));
    let carts = "shop/carts-1b255f4def2540a60000000000000000/snapshots/1700000000";
    upload(&aws, &format!("{carts}/nb-1-big-Data.db"), "data");
    upload(&aws, &format!("{carts}/nb-1-big-Statistics.db"), "statistics");
    upload(&aws, &format!("{carts}/schema.cql"), "CREATE TABLE shop.carts (shopper int PRIMARY KEY, amount int);\n");
    // Says that it is new enough, and can do nothing else.
    let terraform = aws.lab.write("terraform", "#!/bin/sh\necho '{\"terraform_version\":\"1.11.4\"}'\n");
    std::fs::set_permissions(&terraform, std::fs::Permissions::from_mode(0o755)).unwrap();
    let refused = || {
        let mut run = aws.command(&["run", "own.toml", "--provider", "aws"]);
        let said = one_line(&run.env("IOPSLAB_TERRAFORM", &terraform).exits(2).stderr);
        assert!(!aws.lab.path().join("runs").exists(), "{said}");
        said
    };

    let said = refused();
    let why = "machines of AWS do not restore s3://backups/monday, and s3://backups/sets does not have it: ";
    let key = said.split_once(why).unwrap_or_else(|| panic!("{said}")).1.split_once(" is not there").unwrap().0;
    assert!(key.starts_with("cassandra-") && said.contains("keep = true"), "{said}");
    let kept = |format_version: u32| {
        json!({
            "format_version": format_version, "key": key, "records": 0, "loading": "then", "table_bytes": 4,
            "bytes": 4, "made_by": "x", "made_at": "2026-11-27T00:00:00Z", "parts": [],
        })
    };
    put(&aws, &format!("sets/{key}/snapshot.json"), &kept(9).to_string());
    let said = refused();
    assert!(said.contains(why) && said.contains("its format is 9, this iopslab reads 1"), "{said}");
    // With it, the next question is what the machines may cost.
    put(&aws, &format!("sets/{key}/snapshot.json"), &kept(1).to_string());
    let said = refused();
    assert!(!said.contains(why) && said.contains("USD an hour") && said.contains("--yes"), "{said}");

    // A run whose store has lost it since goes on where machines may stand that have it: the store is not asked.
    let version = "[ \"$1\" = version ] && echo '{\"terraform_version\":\"1.11.4\"}'";
    std::fs::write(&terraform, format!("#!/bin/sh\n{version}\n")).unwrap();
    let ends = |arguments: &[&str], code: i32| {
        let mut command = aws.command(&[&["run", "--yes"][..], arguments].concat());
        one_line(&command.env("IOPSLAB_TERRAFORM", &terraform).exits(code).stderr)
    };
    let said = ends(&["own.toml", "--provider", "aws", "--out", "out"], 1);
    assert!(!said.contains(why), "{said}");
    let run = aws.lab.run_in("out");
    let resume = ["--resume", run.to_str().unwrap()];
    put(&aws, &format!("sets/{key}/snapshot.json"), &kept(9).to_string());
    let said = ends(&resume, 2);
    assert!(said.contains(why), "{said}");
    std::fs::write(run.join("terraform/id_ed25519"), "a key").unwrap();
    let said = ends(&resume, 1);
    assert!(!said.contains(why), "{said}");
    // Where its state knows of no machine, the store is asked before one is made.
    let script = format!("{version}\n[ \"$1\" = apply ] && echo >\"$0.applied\"\ntrue\n");
    std::fs::write(&terraform, format!("#!/bin/sh\n{script}")).unwrap();
    let said = ends(&resume, 1);
    assert!(said.contains(why) && !said.contains("taken away"), "{said}");
    assert!(!aws.lab.path().join("terraform.applied").exists(), "{said}");
    // What stands beside a machine that is gone goes as after any run, and that is said.
    let state = json!({ "resources": [{
        "mode": "managed", "type": "aws_instance", "name": "machine", "instances": [],
        "provider": "provider[\"registry.terraform.io/hashicorp/aws\"]",
    }] });
    let plan = json!({ "resource_changes": [{
        "mode": "managed", "type": "aws_instance", "change": { "actions": ["create"], "before": null },
    }] });
    let known = format!("'state pull') printf '%s\\n' '{state}' ;;\n'show -json') printf '%s\\n' '{plan}' ;;");
    let done = "'plan '*) echo \"$*\" >>\"$0.planned\" ;;\n'apply '*) echo \"$*\" >>\"$0.applied\" ;;";
    let init = "'init '*) mkdir -p .terraform ;;";
    let script = format!("#!/bin/sh\n{version}\ncase \"$1 $2\" in\n{init}\n{known}\n{done}\nesac\n");
    std::fs::write(&terraform, script).unwrap();
    for key in ["id_ed25519", "id_ed25519.pub"] {
        std::fs::write(run.join("terraform").join(key), "a key").unwrap();
    }
    let said = ends(&resume, 1);
    assert!(said.contains(why) && said.contains("that are missing: they are taken away"), "{said}");
    let planned = std::fs::read_to_string(aws.lab.path().join("terraform.planned")).unwrap();
    let is_to_destroy: Vec<bool> = planned.lines().map(|line| line.contains("-destroy")).collect();
    assert_eq!(is_to_destroy, [false, true], "{planned}");
    assert!(aws.lab.path().join("terraform.applied").exists(), "{said}");
    // Who is refused before any machine was looked for knows how those that may stand are taken away.
    std::fs::write(run.join("terraform/id_ed25519"), "a key").unwrap();
    let mut without_yes = aws.command(&[&["run"][..], &resume].concat());
    let said = one_line(&without_yes.env("IOPSLAB_TERRAFORM", &terraform).exits(2).stderr);
    assert!(said.contains("--yes") && said.contains("may stand") && said.contains("iopslab destroy "), "{said}");
}
