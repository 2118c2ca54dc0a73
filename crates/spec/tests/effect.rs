//! Nothing that the file states is ignored in silence: it is obeyed, refused with the reason, or told.

mod story;

use catalog::Catalog;
use spec::{Provider, parse, parse_to_run, refuse_unmeasurable};
use story::{GOOD, accepted, and, each_refused, notes, nothing, with};

fn to_run(text: &str, provider: Provider) -> Result<spec::Experiment, String> {
    parse_to_run(Catalog::built_in(), "x.toml", text, &nothing, provider).map_err(|mistakes| mistakes.to_string())
}

#[test]
fn three_nodes_are_priced_but_not_measured() {
    let text = with("size_gib = 320 }", "size_gib = 320 }\nnodes = 3");
    let planned = accepted(&text);
    let one = accepted(GOOD);
    let usd = |e: &spec::Experiment| e.money.configurations[0].usd_per_month.unwrap();
    assert!((usd(&planned) - 3.0 * usd(&one)).abs() < 1e-6);
    let told = notes(&planned, "cannot_be_run", None);
    assert_eq!(
        told,
        [
            "note: iopslab run refuses this: nodes = 3 of a: one node would be measured and three priced, so that \
             every figure per dollar would be wrong by that factor. Clusters are not measured so far: state nodes = \
             1, or price clusters with iopslab plan or iopslab size"
        ]
    );
    for provider in [Provider::Local, Provider::Simulated] {
        let message = to_run(&text, provider).unwrap_err();
        assert!(
            message.starts_with("x.toml:10:9: nodes = 3 of a: one node would be measured and three priced"),
            "{message}"
        );
    }
    assert!(refuse_unmeasurable("x.toml", &text).is_err() && refuse_unmeasurable("x.toml", GOOD).is_ok());
}

#[test]
fn what_cannot_be_run_is_told_with_all_other_mistakes() {
    let text = with("size_gib = 320 }", "size_gib = 320 }\nnodes = 2").replacen("records = 1000", "records = 0", 1);
    let message = to_run(&text, Provider::Simulated).unwrap_err();
    assert!(message.contains("x.toml:4:11: records cannot be 0"), "{message}");
    assert!(
        message.contains("x.toml:10:9: nodes = 2 of a: one node would be measured and two priced"),
        "{message}"
    );
}

#[test]
fn a_run_refuses_hosts_and_replicas_that_are_not_there() {
    for (target, expected) in [
        (
            "hosts = [\"h:9042\"]",
            "x.toml:4:9: [target] hosts: a run starts its own Cassandra so far",
        ),
        (
            "consistency = \"two\"",
            "x.toml:4:15: consistency `two` needs as many replicas, and one node is measured",
        ),
    ] {
        let text = with("[dataset]", &format!("[target]\n{target}\n[dataset]"));
        assert_eq!(notes(&accepted(&text), "cannot_be_run", None).len(), 1);
        for provider in [Provider::Local, Provider::Simulated] {
            let message = to_run(&text, provider).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }
}

#[test]
fn keys_that_contradict_the_rest_are_refused() {
    let distribution = |of: &str| with("update = 0.2", &format!("update = 0.2\ndistribution = {of}"));
    let cases = [
        (
            with("concurrency = [10]", "concurrency = [10]\narrival = \"poisson\""),
            "x.toml:18:11: arrival is for the open loop, and no rate is given",
        ),
        (
            with("update = 0.2", "update = 0.2\nmax_scan_length = 5"),
            "x.toml:15:19: max_scan_length is for workloads that scan (remove it; this workload has none of these \
             operations)",
        ),
        (
            with("read = 0.8\nupdate = 0.2", "update = 1.0\nread_all_fields = false"),
            "read_all_fields is for workloads that read or read-modify-write",
        ),
        (
            with("read = 0.8\nupdate = 0.2", "read = 1.0\nwrite_all_fields = false"),
            "write_all_fields is for workloads that update or read-modify-write",
        ),
        (
            with("read = 0.8\nupdate = 0.2", "insert = 1.0\ndistribution = \"latest\""),
            "distribution is for workloads that do more than insert new records",
        ),
        (
            distribution("{ kind = \"uniform\", constant = 0.9 }"),
            "x.toml:15:36: constant is for zipfian, not for uniform (remove it, or kind = \"zipfian\")",
        ),
        (
            distribution("{ kind = \"hotspot\", data_fraction = 0.1, fraction = 0.2 }"),
            "x.toml:15:57: fraction is for exponential, not for hotspot",
        ),
        (
            with(
                "name = \"w\"\nread = 0.8\nupdate = 0.2",
                "ycsb = \"w\"\nread_all_fields = false\nmax_scan_length = 7",
            ),
            "`ycsb` and read_all_fields, max_scan_length exclude each other",
        ),
        (
            with("[dataset]", "[target]\nconsistency = \"any\"\n[dataset]"),
            "x.toml:4:15: consistency `any` is for writes alone, and `w` reads",
        ),
        (
            with("r4.4xlarge", "i3.4xlarge").replacen(
                "{ type = \"gp2\", size_gib = 320 }",
                "\"local\"\ncommitlog_volume = \"local\"",
                1,
            ),
            "x.toml:10:20: data and commit log both on \"local\" are the same disks, not two volumes",
        ),
    ];
    each_refused(&cases);
}

#[test]
fn keys_that_follow_nothing_are_told_where_they_follow_nothing() {
    let text = format!(
        "{}request_timeout_s = 5\nwarmup = \"auto\"\n[provider.local]\nheap_mib = 1024\n[provider.simulated]\nseed = \
         2\n",
        with(
            "[dataset]",
            "[target]\nversion = \"5.0.9\"\nconsistency = \"quorum\"\n[dataset]"
        )
    );
    let experiment = accepted(&text);
    let told = |provider| notes(&experiment, "key_without_effect", provider);
    let of_one_node = "note: consistency = \"quorum\" waits for the only replica of one node, as \"one\" does. What \
                       it costs in a cluster is not measured here";
    let simulated = "note: without effect in a simulated run: [target] version, [target] consistency, [load] \
                     request_timeout_s, [provider.local] heap_mib. They are for a database on a machine";
    let warmup = "note: warmup = \"auto\": a simulated run warms up for the whole of max_warmup_s. Simulated seconds \
                  cost nothing";
    let truth = "note: [provider.simulated] has no effect in a run on this machine. It is for: iopslab run \
                 --provider simulated";
    assert_eq!(told(None), [simulated, warmup, of_one_node], "the file states a truth");
    assert_eq!(told(Some(Provider::Simulated)), [simulated, warmup, of_one_node]);
    assert_eq!(told(Some(Provider::Local)), [truth, of_one_node]);
}

#[test]
fn each_provider_carries_out_what_it_can() {
    let text = and("warmup = \"auto\"\nmax_warmup_s = 120\n[provider.simulated]\nseed = 2\n");
    let local = to_run(&text, Provider::Local).unwrap();
    assert_eq!((local.simulated, local.load.warmup_max_s), (None, Some(120.0)));
    let simulated = to_run(&text, Provider::Simulated).unwrap();
    assert_eq!(simulated.simulated.unwrap().seed, 2);
    assert_eq!((simulated.load.warmup_s, simulated.load.warmup_max_s), (120.0, None));
    assert!(
        to_run(GOOD, Provider::Simulated).unwrap().simulated.is_some(),
        "the default truth"
    );
}

#[test]
fn a_stated_page_cache_takes_the_place_of_memory() {
    let told = |text: &str| notes(&accepted(text), "key_without_effect", None);
    let limited = with("size_gib = 320 }", "size_gib = 320 }\nmemory_limit_gib = 30");
    assert_eq!(
        told(&format!(
            "{limited}[provider.local]\npage_cache_mib = 64\nheap_mib = 1024\n"
        )),
        [
            "note: page_cache_mib = 64 is the page cache of every configuration: memory_limit_gib has no effect. \
             Leave page_cache_mib out to measure what memory gives"
        ]
    );
    let two = with(
        "[[workload]]",
        "[[configuration]]\nname = \"b\"\ninstance = \"r4.2xlarge\"\ndata_volume = { iops = 5 }\n[[workload]]",
    );
    let both = told(&format!("{two}[provider.local]\npage_cache_mib = 64\n"));
    assert!(
        both[0].contains("differ in memory, and that has an effect on the heap alone"),
        "{both:?}"
    );
    assert_eq!(told(&two), Vec::<String>::new());
}

#[test]
fn a_stated_price_is_taken_as_it_is() {
    let text = with(
        "size_gib = 320 }",
        "size_gib = 320 }\nprice_usd_per_month = 100\n[basis]\nuplift_percent = 10",
    );
    assert_eq!(
        notes(&accepted(&text), "key_without_effect", None),
        [
            "note: [basis] uplift_percent has no effect on a: price_usd_per_month is taken as stated. State prices \
             on the same basis"
        ]
    );
}

#[test]
fn what_a_ycsb_file_says_about_the_trial_is_told() {
    let text = with("name = \"w\"\nread = 0.8\nupdate = 0.2", "ycsb = \"w.properties\"");
    let read =
        |_: &str| Ok("readproportion=1\nupdateproportion=0\noperationcount=5\nthreadcount=3\ntable=t\n".to_owned());
    let experiment = parse(Catalog::built_in(), "x.toml", &text, &read).unwrap();
    assert_eq!(
        notes(&experiment, "ycsb_property", None),
        [
            "note: w.properties: operationcount has no effect here: [load] operations and duration_s bound a trial. \
             The experiment file decides what the property file cannot",
            "note: w.properties: threadcount has no effect here: [load] concurrency is the number of requests in \
             flight. The experiment file decides what the property file cannot",
            "note: w.properties: without meaning here: table. The experiment file decides what the property file \
             cannot",
        ]
    );
}
