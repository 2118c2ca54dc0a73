//! Caches in front of a database: what is stated of them, what they are at a scale, what they cost, and what does not
//! go with them.

use crate::story::{GOOD, accepted, each_refused, notes, read, refused, with};
use experiment::{
    CachePolicy, CacheTierSetup, DataSetFiles, Experiment, FaultAction, ParseContext, Provider, ReadFor, parse, setups,
};

const GP2: &str = "data_volume = { type = \"gp2\", size_gib = 320 }";
const TWO: &str = "{ memory_gib = 8, nodes = 2, instance = \"r7g.large\", ttl_s = 3600, policy = \"aside\" }";

/// The sound experiment with caches.
fn tier(stated: &str) -> String {
    with(GP2, &format!("{GP2}\ncache_tier = {stated}"))
}

fn setup(text: &str) -> CacheTierSetup {
    setups(&accepted(text))[0].cache_tier.clone().unwrap()
}

#[test]
fn a_tier_is_read_as_it_is_stated_and_divided_by_the_scale_but_for_its_time() {
    let experiment = accepted(&tier(TWO));
    let stated = experiment.configurations[0].cache_tier.as_ref().unwrap();
    assert_eq!(stated.label(), "2 x r7g.large with 8 GiB for items, ttl 3600 s, aside");
    let whole = setup(&tier(TWO));
    assert_eq!((whole.nodes, whole.memory_bytes, whole.ttl_s), (2, 8 << 30, Some(3_600)));
    let scaled = setup(&format!("{}\n[provider.local]\nscale = 8\n", tier(TWO)));
    assert_eq!((scaled.nodes, scaled.memory_bytes, scaled.ttl_s), (2, 1 << 30, Some(3_600)));
    assert_eq!(scaled.policy, CachePolicy::Aside);
    assert!((whole.cpus / scaled.cpus - 8.0).abs() < 1e-9, "{} and {}", whole.cpus, scaled.cpus);
    assert!(scaled.memory_limit_bytes() > scaled.memory_bytes);
    assert_eq!(scaled.all_cpus(), 2.0 * scaled.cpus);
    // 0.937 Gbit/s each.
    let network = scaled.all_network_bytes_per_s().unwrap();
    assert!((network - 2.0 * 0.937e9 / 8.0 / 8.0).abs() < 1.0, "{network}");
    // What is left out.
    let least = setup(&tier("{ memory_gib = 1, instance = \"r7g.large\" }"));
    assert_eq!((least.nodes, least.ttl_s, least.policy), (1, None, CachePolicy::Invalidate));
    let text = serde_json::to_string(&whole).unwrap();
    assert_eq!(serde_json::from_str::<CacheTierSetup>(&text).unwrap(), whole);
}

/// Its data set is the same one, and one process can serve both.
#[test]
fn caches_make_no_other_data_set() {
    let (plain, cached) = (setups(&accepted(GOOD)), setups(&accepted(&tier(TWO))));
    assert_eq!(DataSetFiles::of(&plain[0]), DataSetFiles::of(&cached[0]));
    assert!(plain[0].shares_process_with(&cached[0]));
}

#[test]
fn each_node_of_it_is_paid_for_beside_the_database() {
    let money = |text: &str| accepted(text).money.configurations.swap_remove(0);
    let (plain, cached) = (money(GOOD), money(&tier(TWO)));
    let of_tier: Vec<_> = cached.lines.iter().filter(|line| line.what.starts_with("cache tier: ")).collect();
    assert!(of_tier.iter().any(|line| line.what.contains("2 x r7g.large")), "{of_tier:?}");
    let usd: f64 = of_tier.iter().map(|line| line.usd_per_month).sum();
    assert!(usd > 0.0);
    let more = cached.usd_per_month.unwrap() - plain.usd_per_month.unwrap();
    assert!((more - usd).abs() < 0.01, "{more} and {usd}");
    assert_eq!(cached.lines.len(), plain.lines.len() + of_tier.len());
}

#[test]
fn all_mistakes_of_a_tier_are_found_at_once() {
    let wrong = "{ memory_gib = 80, nodes = 0, instance = \"r7g.larg\", ttl_s = 9000000, policy = \"back\" }";
    let found = refused(&tier(wrong)).to_string();
    for said in ["nodes of cache_tier cannot be 0", "r7g.larg", "ttl_s cannot be 9000000", "policy cannot be `back`"] {
        assert!(found.contains(said), "{said}\n{found}");
    }
    each_refused(&[
        // All of the machine's: memcached takes more than what its items do.
        (tier("{ memory_gib = 16, instance = \"r7g.large\" }"), "memory_gib of cache_tier cannot be 16"),
        (
            format!("{}\n[provider.local]\nscale = 64\n", tier("{ memory_gib = 0.25, instance = \"r7g.large\" }")),
            "a node would have 4.0 MiB for items on this machine",
        ),
        (
            tier(TWO).replace("records = 1000", "records = 1000\nfield_length = 200_000"),
            "memcached takes no item of 1.9 MiB",
        ),
        (
            tier(TWO) + "\n[[fault]]\nkind = \"node-kill\"\nat_s = 10\n",
            "no [[fault]] but cache-kill is measured behind a cache so far",
        ),
        (
            tier(TWO) + "\n[target]\nhosts = [\"10.0.0.1:9042\"]\nkeyspace = \"k\"\n",
            "iopslab puts nothing in front of a cluster that exists",
        ),
        (tier("{ memory_gib = 1 }"), "instance"),
    ]);
}

#[test]
fn a_node_of_it_is_killed_by_plan_and_comes_back() {
    let killed = |stated: &str| format!("{}\n[[fault]]\nkind = \"cache-kill\"\nat_s = 20\n{stated}", tier(TWO));
    let experiment = accepted(&killed("node = 2\nfor_s = 10\n"));
    let fault = experiment.faults[0];
    assert_eq!(fault.action, FaultAction::CacheKill { cache_node: 2 });
    assert_eq!(fault.label(), "cache-kill of cache node 2 at 20 s for 10 s");
    // Caches are beside the first node, and no replica of the database is away.
    assert_eq!((setups(&experiment)[0].host_of(&fault), fault.kind().takes_node_away()), (0, false));
    let of_node = |note: &experiment::Note| note.rule.starts_with("fault_");
    let notes = experiment::static_notes(catalog::Catalog::built_in(), &experiment, Some(Provider::Local), None);
    assert!(!notes.iter().any(of_node), "{notes:?}");
    let text = serde_json::to_string(&experiment.faults).unwrap();
    assert!(text.contains(r#""kind":"cache-kill","cache_node":2,"node":1"#), "{text}");
    assert_eq!(serde_json::from_str::<Vec<experiment::NodeFault>>(&text).unwrap(), experiment.faults);
    // The first one, to the end.
    let least = accepted(&killed("")).faults[0];
    assert_eq!(least.label(), "cache-kill of cache node 1 at 20 s to the end");
    // There are more of them than a cluster has nodes.
    let many = TWO.replace("nodes = 2", "nodes = 40");
    assert_eq!(accepted(&killed("node = 40\n").replace(TWO, &many)).faults.len(), 1);
}

#[test]
fn a_cache_that_some_configuration_does_not_have_is_not_killed() {
    const KILL: &str = "\n[[fault]]\nkind = \"cache-kill\"\nat_s = 20\n";
    let other = GP2.replace("320", "640");
    let beside = format!("\n[[configuration]]\nname = \"b\"\ninstance = \"r4.4xlarge\"\n{other}\n");
    let pause = "for_s = 10\n[[fault]]\nkind = \"node-pause\"\nat_s = 40\n";
    each_refused(&[
        (format!("{GOOD}{KILL}"), "cache-kill: a has no cache_tier"),
        (tier(TWO) + &beside + KILL, "cache-kill: b has no cache_tier"),
        (tier(TWO) + KILL + "node = 3\n", "node = 3: the cache tier of a has 2 nodes"),
        (tier(&TWO.replace("nodes = 2, ", "")) + KILL + "node = 2\n", "node = 2: the cache tier of a has one node"),
        (tier(TWO) + KILL + "node = 65\n", "node cannot be 65"),
        (tier(TWO) + KILL + "volume = \"data\"\n", "volume has no effect on cache-kill"),
        (tier(TWO) + KILL + pause, "no [[fault]] but cache-kill"),
        (
            tier(TWO) + KILL + "[[fault]]\nkind = \"cache-kill\"\nnode = 2\nat_s = 30\n",
            "cache-kill of cache node 2 at 30 s to the end begins before cache-kill of cache node 1 at 20 s",
        ),
    ]);
}

#[test]
fn a_node_has_no_more_memory_than_the_machine_that_is_paid_for() {
    let most = setup(&tier("{ memory_gib = 14.48, instance = \"r7g.large\" }"));
    assert!(((15 << 30)..=(16 << 30)).contains(&most.memory_limit_bytes()), "{most:?}");
}

/// Every request of such a key would be refused by memcached, and measured as an answer that did not come.
#[test]
fn keys_that_memcached_does_not_take_are_refused() {
    let text = tier(TWO).replacen("name = \"w\"\nread = 0.8\nupdate = 0.2", "ycsb = \"w.properties\"", 1);
    let of = |zeropadding: u32| {
        let read = |_: &str| Ok(format!("readproportion=1\nupdateproportion=0\nzeropadding={zeropadding}\n"));
        let beside = ParseContext::files(&read);
        let parsed = parse(catalog::Catalog::built_in(), "x.toml", &text, &beside, ReadFor::Anybody);
        parsed.err().map(|mistakes| mistakes.to_string())
    };
    assert_eq!(of(246), None);
    let found = of(247).unwrap();
    assert!(found.contains("cache_tier of a: memcached takes no key of 251 bytes"), "{found}");
}

#[test]
fn it_is_measured_here_on_aws_and_on_machines_that_are_named_for_it() {
    let mistakes_of = |text: &str, provider| read(text, ReadFor::PlanOf(provider)).err().map(|m| m.to_string());
    let mistakes = |provider| mistakes_of(&tier(TWO), provider);
    let simulated = mistakes(Provider::Simulated).unwrap();
    assert!(simulated.contains("cache_tier of a: a simulation has no cache to ask"), "{simulated}");
    for provider in [Provider::Local, Provider::Aws] {
        assert_eq!(mistakes(provider), None, "{provider:?}");
    }

    let by_ssh = |caches: &str| {
        let hosts = "[provider.hosts]\ndatabase = [\"db1\"]\nclient = [\"load1\"]";
        mistakes_of(&format!("{}\n{hosts}\n{caches}", tier(TWO)), Provider::Hosts)
    };
    let none = by_ssh("").unwrap();
    let why = "cache_tier of a: [provider.hosts] names no machine for caches, and it has nodes = 2";
    assert!(none.contains(why) && none.contains("[provider.hosts] cache = [\"cache1\"]"), "{none}");
    let few = by_ssh("cache = [\"cache1\"]").unwrap();
    assert!(few.contains("[provider.hosts] names 1 for caches, and it has nodes = 2"), "{few}");
    let two = by_ssh("cache = [\"cache1\", { ssh = \"cache2\", address = \"10.0.0.9\" }]");
    assert_eq!(two, None);
}

#[test]
fn machines_for_caches_that_no_configuration_has_are_reported() {
    let hosts = "\n[provider.hosts]\ndatabase = [\"db1\"]\nclient = [\"load1\"]\ncache = [\"cache1\", \"cache2\"]\n";
    let is_reported = |text: &str| {
        let said = notes(&accepted(&format!("{text}{hosts}")), "key_without_effect", Some(Provider::Hosts));
        said.iter().any(|note| note.contains("[provider.hosts] cache has no effect"))
    };
    assert!(is_reported(GOOD));
    assert!(!is_reported(&tier(TWO)));
}

#[test]
fn a_time_to_live_that_no_trial_can_show_is_reported() {
    let said = |experiment: &Experiment| notes(experiment, "key_without_effect", None);
    let of = |ttl: &str| said(&accepted(&tier(&format!("{{ memory_gib = 1, instance = \"r7g.large\"{ttl} }}"))));
    let about = |notes: Vec<String>| notes.iter().any(|note| note.contains("ttl_s has no effect in trials of a"));
    assert!(about(of(", ttl_s = 86_400")));
    assert!(!about(of(", ttl_s = 2")) && !about(of("")));
}
