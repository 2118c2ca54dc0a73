//! Wrong input is refused with its place, what was expected, and the nearest valid name.

use crate::story::{GOOD, accepted, and, read, refused, with};
use experiment::{Aim, ParseContext, Provider, ReadFor, parse};

#[test]
fn the_good_file_is_good() {
    let experiment = accepted(GOOD);
    assert_eq!(experiment.dataset.payload_bytes(), 1_000_000);
    assert_eq!(experiment.load.repetitions, 3);
}

#[test]
fn a_key_of_another_table_is_named_with_it_and_once() {
    for (table, key, owner) in [
        ("[dataset]", "[target]\nnodes = 3\n[dataset]", "`nodes` belongs to [[configuration]]"),
        ("[[configuration]]", "[[configuration]]\nheap_mib = 512", "`heap_mib` belongs to [provider.local]"),
    ] {
        let message = refused(&GOOD.replacen(table, key, 1)).to_string();
        assert!(message.contains(owner), "{message}");
        assert!(!message.contains("did you mean") && !message.contains("cannot be"), "{message}");
    }
    let empty = refused("name = \"x\"\n").to_string();
    assert!(empty.contains("the key `load` is missing") && empty.contains("`iopslab init`"), "{empty}");
}

/// Mistakes came in rounds: one, and six more once it was mended.
#[test]
fn a_mistake_hides_no_other_that_does_not_depend_on_it() {
    let said = |text: &str, expected: &[&str]| {
        let message = refused(text).to_string();
        for part in expected {
            assert!(message.contains(part), "{part} is missing in:\n{message}");
        }
        // The number that was meant stands there for all the others.
        assert_eq!(message.lines().filter(|line| line.starts_with("x.toml:")).count(), expected.len(), "{message}");
    };
    let text = GOOD
        .replacen("records = 1000", "records = \"1M\"", 1)
        .replacen("r4.4xlarge", "r4.4xlrage", 1)
        .replacen("\"gp2\"", "\"gp22\"", 1)
        .replacen("update = 0.2", "update = 0.3\ndistribution = \"zipfan\"", 1)
        .replacen("[10]", "[\"10\"]\nduration_s = \"30s\"\nwarmup_s = -1", 1);
    said(
        &text,
        &[
            "records cannot be the text \"1M\"",
            "unknown instance type `r4.4xlrage`",
            "unknown volume type `gp22`",
            "the proportions sum to 1.1",
            "unknown distribution `zipfan`",
            "concurrency cannot be the text \"10\"",
            "duration_s cannot be the text \"30s\"",
            "warmup_s cannot be -1",
        ],
    );
    // Two that mean nothing, one of them in a table that cannot do without, and what was meant by others.
    let text = GOOD.replacen("records = 1000", "records = \"many\"\nseed = true", 1).replacen(
        "[10]",
        "10\nduration_s = \"soon\"\nwarmup_s = \"5 s\"",
        1,
    ) + "[[fault]]\nkind = \"node-kill\"\nat_s = \"later\"\n[[fault]]\nkind = 7\nat_s = 9\n";
    said(
        &text,
        &[
            "records cannot be the text \"many\"",
            "seed cannot be true",
            "concurrency cannot be the number 10",
            "duration_s cannot be the text \"soon\"",
            "warmup_s cannot be the text \"5 s\"",
            "at_s cannot be the text \"later\"",
            "kind cannot be the number 7",
        ],
    );
    // A number is a list of one: nothing is hidden.
    let text = GOOD.replacen("update = 0.2", "update = 0.3", 1).replacen("[10]", "10", 1);
    said(&text, &["the proportions sum to 1.1", "concurrency cannot be the number 10"]);
    // Unless its elements are text: that was refused twice, first with the advice to write [5].
    let text = with("[10]", "[10]\nonly = 5");
    said(&text, &["only cannot be the number 5 (text in quotes, such as only = [\"...\"])"]);
    let target = "[target]\nhosts = [\"h:9042\"]\ndbname = \"app\"\npassword_env = \"a b\"\n[dataset]";
    let parts =
        ["`hosts` without `keyspace`", "`dbname` is for PostgreSQL", "`password_env` is the name of a variable"];
    said(&with("[dataset]", target), &parts);
}

#[test]
fn the_rule_of_a_volume_has_its_source_once() {
    let message = refused(&with("size_gib = 320", "size_gib = 320, iops = 5000")).to_string();
    assert_eq!(message.matches("source").count(), 1, "{message}");
}

#[test]
fn every_wrong_input_is_refused_at_its_place() {
    let cases: &[(&str, &str, &str)] = &[
        // (replace, by, what the message must contain)
        ("records = 1000", "records = 0", "x.toml:4:11: records cannot be 0"),
        ("records = 1000", "records = -5", "records cannot be -5 (a whole number from 1"),
        ("records = 1000", "record = 1000", "x.toml:4:1: unknown key `record` (did you mean `records`?"),
        ("records = 1000", "", "the key `records` is missing"),
        ("r4.4xlarge", "r4.4xlrage", "x.toml:8:12: unknown instance type `r4.4xlrage` (nearest: r4.4xlarge"),
        ("\"gp2\"", "\"gp22\"", "x.toml:9:25: unknown volume type `gp22` (did you mean `gp2`?"),
        ("\"gp2\"", "\"local-nvme\"", "the instance's own disks are data_volume = \"local\""),
        ("size_gib = 320", "size_gib = 0", "x.toml:9:31:"),
        ("size_gib = 320", "size_gib = -3", "x.toml:9:31:"),
        ("size_gib = 320", "size_gb = 320", "in data_volume: unknown key `size_gb` (did you mean `size_gib`?"),
        ("size_gib = 320", "size_gib = 320, iops = 5000", "x.toml:9:47:"),
        ("{ type = \"gp2\", size_gib = 320 }", "{ type = \"io1\", size_gib = 100, iops = 5001 }", "50"),
        ("{ type = \"gp2\", size_gib = 320 }", "{ type = \"io1\", size_gib = 100 }", "iops"),
        ("{ type = \"gp2\", size_gib = 320 }", "\"local\"", "the catalog has no local disks of `r4.4xlarge`"),
        ("{ type = \"gp2\", size_gib = 320 }", "{ iops = 0 }", "iops cannot be 0"),
        ("{ type = \"gp2\", size_gib = 320 }", "{ iops = nan }", "iops cannot be NaN"),
        ("{ type = \"gp2\", size_gib = 320 }", "{ }", "neither a type nor a limit"),
        ("{ type = \"gp2\", size_gib = 320 }", "7", "data_volume cannot be 7"),
        ("\"gp2\", size", "\"gp2\", era = \"1999\", size", "no gp2 rules of an era `1999`"),
        ("update = 0.2", "update = 0.3", "the proportions sum to 1.1, not 1"),
        ("update = 0.2", "update = -0.2", "update cannot be -0.2"),
        (
            "update = 0.2",
            "update = 0.2\ndistribution = \"zipfan\"",
            "unknown distribution `zipfan` (did you mean `zipfian`?",
        ),
        ("update = 0.2", "update = 0.2\ndistribution = { kind = \"zipfian\", constant = 2 }", "constant cannot be 2"),
        ("name = \"w\"", "", "this workload has no name"),
        ("concurrency = [10]", "", "no load level"),
        ("concurrency = [10]", "concurrency = [0]", "concurrency cannot be 0"),
        ("concurrency = [10]", "concurrency = [10, 10]", "load level c10 is given twice"),
        ("concurrency = [10]", "rate = \"most\"", "rate cannot be \"most\""),
        ("concurrency = [10]", "rate = 5000", "rate cannot be 5000"),
        ("concurrency = [10]", "rate = [\"fast\"]", "a rate cannot be \"fast\""),
        ("concurrency = [10]", "rate = []", "rate has no load level"),
        (
            "concurrency = [10]",
            "rate = \"find\"",
            "looks for the highest rate that meets a bound on latency, and none is stated",
        ),
        (
            "concurrency = [10]",
            "rate = \"find\"\nconcurrency = [10]",
            "measures rates of its own, and concurrency is another kind of load",
        ),
        ("concurrency = [10]", "rate = \"find\"\noperations = 1000", "compares trials of the same time"),
        ("concurrency = [10]", "rate = \"find\"\nrepetitions = \"auto\"", "looks at ratios between configurations"),
        (
            "concurrency = [10]",
            "rate = \"find\"\nwarmup = \"auto\"",
            "throughput never stabilises at a rate that cannot be held",
        ),
        ("concurrency = [10]", "concurrency = [10]\nrest_max_s = -1", "rest_max_s cannot be -1"),
        ("concurrency = [10]", "rate = \"find\"\nclients = \"auto\"", "rate = \"find\" states none"),
        ("concurrency = [10]", "rate = [-1]", "rate cannot be -1"),
        (
            "concurrency = [10]",
            "concurrency = [10]\nrepetitions = 3\nprecision = 0.05",
            "precision is for repetitions = \"auto\"",
        ),
        (
            "concurrency = [10]",
            "concurrency = [10]\nrepetitions = \"adaptive\"\nprecision = 0.05",
            "precision is for repetitions = \"auto\"",
        ),
        (
            "concurrency = [10]",
            "concurrency = [10]\nrepetitions = \"auto\"\nhorizon_months = 12",
            "horizon_months is for repetitions = \"adaptive\"",
        ),
        (
            "concurrency = [10]",
            "concurrency = [10]\nbudget_minutes = 5",
            "budget_minutes is for repetitions = \"auto\" or \"adaptive\"",
        ),
        (
            "concurrency = [10]",
            "rate = [100]\nrepetitions = \"adaptive\"\nhorizon_months = 12",
            "horizon_months weighs throughput for money, and with rate something else decides",
        ),
        ("concurrency = [10]", "concurrency = [10]\nrepetitions = \"often\"", "repetitions cannot be \"often\""),
        ("concurrency = [10]", "rate = \"find\"\nrepetitions = \"adaptive\"", "looks at ratios between configurations"),
        (
            "concurrency = [10]",
            "concurrency = [10]\nwarmup = \"auto\"\nwarmup_s = 5",
            "both warmup = \"auto\" and warmup_s are given",
        ),
        ("concurrency = [10]", "concurrency = [10]\nwarmup = \"auto\"\nmax_warmup_s = 10", "max_warmup_s cannot be 10"),
        ("concurrency = [10]", "concurrency = [10]\nrepetitions = 0", "repetitions cannot be 0"),
        ("concurrency = [10]", "concurrency = [10]\nduration_s = 0", "duration_s cannot be 0"),
        ("concurrency = [10]", "concurrency = [10]\n[provider.local]\nscale = 0", "scale cannot be 0"),
        (
            "concurrency = [10]",
            "concurrency = [10]\n[provider.local]\nstart_timeout_s = 0",
            "x.toml:19:19: start_timeout_s cannot be 0 (a number from 1 to 7200)",
        ),
        (
            "concurrency = [10]",
            "concurrency = [10]\n[provider.local]\nsettle_timeout_s = 9000",
            "settle_timeout_s cannot be 9000",
        ),
        ("name = \"x\"", "name = \"../x\"", "x.toml:1:8: `../x` cannot be the name"),
        ("name = \"x\"", "name = \"x\"\nbaseline = \"b\"", "x.toml:2:12: baseline `b` is no configuration"),
        ("[dataset]", "[target]\ndatabase = \"mongodb\"\n[dataset]", "unknown database `mongodb`"),
        ("[dataset]", "[target]\ndatabase = \"casandra\"\n[dataset]", "`casandra` (did you mean `cassandra`? valid: "),
        ("[dataset]", "[target]\nversion = \"4.1.0\"\n[dataset]", "version `4.1.0` is not supported"),
        ("[dataset]", "[target]\nconsistency = \"quorom\"\n[dataset]", "did you mean `quorum`?"),
        ("[dataset]", "[target]\nversion = \"5.0.9\"\nhosts = [\"h:1\"]\n[dataset]", "exclude each other"),
        ("name = \"w\"", "ycsb = \"nowhere\"\nname = \"w\"", "exclude each other"),
        (
            "[[workload]]",
            "[[configuration]]\nname = \"a\"\ninstance = \"r4.4xlarge\"\ndata_volume = { iops = 5 }\n[[workload]]",
            "two configurations are called `a`",
        ),
        ("size_gib = 320 }", "size_gib = 320 }\nmemory_limit_gib = 500", "memory_limit_gib cannot be 500"),
        ("size_gib = 320 }", "size_gib = 320 }\nmemory_limit_gib = 0.6", "leaves nothing for the page cache"),
        ("size_gib = 320 }", "size_gib = 320 }\nnodes = 400", "nodes cannot be 400"),
        ("name = \"x\"", "name = ", "x.toml:1:8:"),
        // Values of the wrong kind: at the value, with an example of the right one.
        (
            "size_gib = 320",
            "size_gib = \"4TB\"",
            "x.toml:9:42: in data_volume: size_gib cannot be the text \"4TB\" (a number of GiB without quotes or unit, \
             such as size_gib = 4.5)",
        ),
        (
            "type = \"gp2\", size_gib = 320",
            "iops = \"3k\"",
            "in data_volume: iops cannot be the text \"3k\" (a number without quotes or unit, such as iops = 3000)",
        ),
        ("records = 1000", "records = \"1M\"", "point or unit, such as records = 1_000_000)"),
        (
            "concurrency = [10]",
            "concurrency = [10]\nduration_s = \"5min\"",
            "duration_s cannot be the text \"5min\" (a number of seconds without quotes or unit, such as duration_s = \
             300)",
        ),
        (
            "concurrency = [10]",
            "concurrency = [10]\n[provider.local]\nscale = \"1:16\"",
            "scale cannot be the text \"1:16\" (a number without quotes or unit, such as scale = 16)",
        ),
        (
            "concurrency = [10]",
            "concurrency = [10]\n[objective]\np99_ms = \"10ms\"",
            "(a number of milliseconds without quotes or unit, such as p99_ms = 10)",
        ),
        (
            "concurrency = [10]",
            "rate = \"9k\"",
            "rate cannot be \"9k\" (operations per second, such as rate = [9000], or rate = \"find\")",
        ),
        ("concurrency = [10]", "rate = [\"12k\"]", "a rate cannot be \"12k\" (operations per second: rate = [12_000])"),
        ("concurrency = [10]", "rate = 700", "rate cannot be 700 (operations per second, such as rate = [700]"),
        ("read = 0.8", "read = 80", "read cannot be 80 (a number from 0 to 1; 80 % is read = 0.8)"),
        ("update = 0.2", "update = 120", "update cannot be 120 (a number from 0 to 1)"),
        ("\"gp2\"", "2", "x.toml:9:24: in data_volume: type cannot be the number 2 (text in quotes"),
        (
            "\"r4.4xlarge\"",
            "{ vcpus = 4, memory_gib = \"16 GiB\" }",
            "x.toml:8:38: in instance: memory_gib cannot be the text \"16 GiB\" (a number",
        ),
        ("records = 1000", "records = 1e6", "x.toml:4:11: records cannot be the number 1000000.0 (a whole number"),
        ("records = 1000", "records = \"1000\"", "x.toml:4:11: records cannot be the text \"1000\" (a whole number"),
        (
            "read = 0.8",
            "read = \"80%\"",
            "read cannot be the text \"80%\" (a number without quotes or unit, such as read = 0.8)",
        ),
        (
            "concurrency = [10]",
            "concurrency = 10",
            "x.toml:17:15: concurrency cannot be the number 10 (a list in brackets, such as concurrency = [10])",
        ),
        (
            "concurrency = [10]",
            "concurrency = [10, \"20\"]",
            "x.toml:17:20: concurrency cannot be the text \"20\" (a whole number",
        ),
        (
            "update = 0.2",
            "update = 0.2\nread_all_fields = \"yes\"",
            "read_all_fields cannot be the text \"yes\" (read_all_fields = true or read_all_fields = false",
        ),
        (
            "update = 0.2",
            "update = 0.2\ndistribution = { kind = \"zipfian\", constant = \"high\" }",
            "in distribution: constant cannot be the text \"high\" (a number",
        ),
        ("[dataset]", "[basis]\npurchase = \"borrowed\"\n[dataset]", "x.toml:4:12: unknown purchase option"),
        ("[dataset]", "[basis]\nprice_date = \"soon\"\n[dataset]", "x.toml:4:14: `soon` is no price date"),
        ("[dataset]", "[basis]\nregion = \"atlantis-1\"\n[dataset]", "x.toml:4:10: no prices of region"),
        ("[dataset]", "[basis]\nhours_per_month = 0\n[dataset]", "x.toml:4:19: hours per month is 0"),
        ("[dataset]", "[basis]\nuplift_percent = -1\n[dataset]", "x.toml:4:18: uplift percent is -1"),
        ("[dataset]", "[[dataset]]", "dataset cannot be a list of tables (one table: write [dataset]"),
        (
            "[[configuration]]",
            "[configuration]",
            "configuration cannot be a table (a list of tables: write [[configuration]]",
        ),
    ];
    for (replace, by, expected) in cases {
        let text = GOOD.replacen(replace, by, 1);
        assert_ne!(&text, GOOD, "{replace} is not in the good file");
        let message = refused(&text).to_string();
        assert!(message.contains(expected), "{by}\n  expected: {expected}\n  message:  {message}");
    }
}

#[test]
fn all_mistakes_are_reported_together() {
    let text =
        GOOD.replacen("records = 1000", "records = 0", 1).replacen("r4.4xlarge", "nosuch", 1).replacen("0.8", "0.9", 1);
    let mistakes = refused(&text);
    let lines: Vec<_> = mistakes.list().iter().map(|m| m.line).collect();
    assert_eq!(lines, [4, 8, 11], "{mistakes}");
    let json = serde_json::to_value(&mistakes).unwrap();
    assert_eq!(json[0]["line"], 4);
}

#[test]
fn an_unknown_key_hides_no_other_mistake() {
    // Three slips of the pen and two impossible values, one of them under a misspelt key.
    let text = GOOD
        .replacen("name = \"x\"", "name = \"x\"\nquestoin = \"Is it?\"", 1)
        .replacen("records = 1000", "record = 0", 1)
        .replacen("update = 0.2", "update = 0.3", 1)
        .replacen("concurrency = [10]", "concurrency = [10]\nduration = 5\nseeed = 1", 1);
    let mistakes = refused(&text);
    let reported: Vec<String> = mistakes.list().iter().map(|m| format!("{}: {}", m.line, m.message)).collect();
    assert_eq!(
        reported,
        [
            "2: unknown key `questoin`",
            "5: unknown key `record`",
            "5: records cannot be 0",
            "12: the proportions sum to 1.1, not 1",
            "19: unknown key `duration`",
            "20: unknown key `seeed`",
        ],
        "{mistakes}"
    );
}

/// Without machines there was no place, and nothing was looked at that needs one.
#[test]
fn a_provider_that_is_wrong_hides_no_other_mistake() {
    let priceless = GOOD
        .replacen("\"r4.4xlarge\"", "{ vcpus = 4, memory_gib = 16 }", 1)
        .replacen("{ type = \"gp2\", size_gib = 320 }", "{ iops = 3000 }", 1)
        .replacen("concurrency = [10]", "concurrency = [10]\nrepetitions = \"auto\"\nbudget_usd = 5", 1);
    let no_price = "budget_usd needs a price for every configuration, `a` has none";
    let cases: [(Provider, &str, &[&str]); 3] = [
        (
            Provider::Hosts,
            "[provider.hosts]\ndatabase = [\"-o\"]\nclient = []\n",
            &["a machine cannot be called `-o`", "[provider.hosts] client names no machine", no_price],
        ),
        (
            Provider::Aws,
            "[provider.aws]\nroot_gib = 1\n[basis]\npurchase = \"borrowed\"\n",
            &[
                "root_gib cannot be 1",
                "is no instance type of AWS",
                "is no volume of AWS",
                "controller_cidr is missing",
                "has no way in but public addresses",
                "unknown purchase option `borrowed`",
                no_price,
            ],
        ),
        (
            Provider::Aws,
            "[provider.aws]\nregion = \"us east\"\npublic_address = true\ncontroller_cidr = \"0.0.0.0/0\"\n",
            &[
                "region cannot be `us east`",
                "controller_cidr cannot be `0.0.0.0/0`",
                "is no instance type of AWS",
                "is no volume of AWS",
                no_price,
            ],
        ),
    ];
    for (provider, more, expected) in cases {
        let mistakes = read(&format!("{priceless}{more}"), ReadFor::Run(provider)).unwrap_err();
        let reported = mistakes.to_string();
        for part in expected {
            assert!(reported.contains(part), "{part:?} is missing in:\n{reported}");
        }
        // One that follows from another is none.
        assert_eq!(mistakes.list().len(), expected.len(), "{reported}");
    }
}

#[test]
fn an_unknown_table_and_a_key_without_a_like_are_reported_too() {
    let text = GOOD.replacen("[[workload]]", "[[worklod]]", 1).replacen("[load]", "[load]\nzzz = 1", 1).replacen(
        "records = 1000",
        "records = 0",
        1,
    );
    let mistakes = refused(&text);
    let reported: Vec<&str> = mistakes.list().iter().map(|m| m.message.as_str()).collect();
    assert_eq!(reported, ["records cannot be 0", "unknown key `worklod`", "unknown key `zzz`"]);
    // A second key of the same name is no reason to read the wrong one.
    let text = and("seed = 1\nsed = 2\n");
    let mistakes = refused(&text);
    assert_eq!(mistakes.list().len(), 1, "{mistakes}");
}

#[test]
fn a_mistake_in_a_ycsb_file_points_into_that_file() {
    let text = GOOD.replacen("name = \"w\"\nread = 0.8\nupdate = 0.2", "ycsb = \"w.properties\"", 1);
    let refused_beside = |contents: &str| {
        let read = |_: &str| Ok(contents.to_owned());
        let beside = ParseContext::files(&read);
        parse(catalog::Catalog::built_in(), "x.toml", &text, &beside, ReadFor::Anybody).unwrap_err().to_string()
    };
    let wrong = refused_beside("readproportion=1\nrequestdistribution=zipfan\n");
    assert!(wrong.starts_with("w.properties:2:"), "{wrong}");
    let other = refused_beside("recordcount=77\nreadproportion=1\n");
    assert!(
        other.contains("w.properties:1:") && other.contains("recordcount = 77, but [dataset] records = 1000"),
        "{other}"
    );
    let missing = refused(&text).to_string();
    assert!(missing.contains("no other file is read here"), "{missing}");
}

#[test]
fn how_long_cassandra_may_take_can_be_stated() {
    let patience = |more: &str| {
        let text = GOOD.replacen("concurrency = [10]", &format!("concurrency = [10]\n[provider.local]\n{more}"), 1);
        let plan = experiment::plan(&accepted(&text));
        (plan.patience.start_s, plan.patience.settle_s)
    };
    assert_eq!(patience(""), (180.0, 600.0));
    assert_eq!(patience("start_timeout_s = 900\nsettle_timeout_s = 30.5"), (900.0, 30.5));
}

#[test]
fn repetitions_and_warm_up_may_decide_for_themselves() {
    let text = GOOD.replacen(
        "concurrency = [10]",
        "concurrency = [10]\nrepetitions = \"auto\"\nprecision = 0.1\nmax_repetitions = 12\nbudget_minutes = 30\n\
         warmup = \"auto\"",
        1,
    );
    let load = accepted(&text).load;
    let adaptive = load.adaptive.unwrap();
    assert_eq!((adaptive.blocks_min, adaptive.blocks_max, load.repetitions), (3, 12, 12));
    assert_eq!((adaptive.aim, adaptive.budget_s), (Aim::Ratios { precision: 0.1 }, Some(1800.0)));
    assert_eq!(load.shape.warmup_max_s, Some(300.0));
}

#[test]
fn repetitions_may_go_on_until_the_answer_is_decided() {
    let adaptive = |more: &str| {
        let load = format!("concurrency = [10]\nrepetitions = \"adaptive\"\n{more}");
        let load = accepted(&GOOD.replacen("concurrency = [10]", &load, 1)).load;
        assert_eq!(load.repetitions, load.adaptive.as_ref().unwrap().blocks_max);
        load.adaptive.unwrap()
    };
    let plain = adaptive("");
    assert_eq!((plain.blocks_min, plain.blocks_max), (2, 12));
    // With three there is one look, at the end.
    assert_eq!(adaptive("max_repetitions = 3").blocks_min, 3);
    assert_eq!(plain.aim, Aim::Answer { horizon_months: None });
    let bounded = adaptive("max_repetitions = 6\nbudget_minutes = 30\nbudget_usd = 5\nhorizon_months = 12");
    assert_eq!((bounded.blocks_max, bounded.budget_s, bounded.budget_usd), (6, Some(1800.0), Some(5.0)));
    assert_eq!(bounded.aim, Aim::Answer { horizon_months: Some(12.0) });
}
