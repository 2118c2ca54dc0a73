//! How often a model misses its page cache beside full scale, and the page cache that keeps that. Expected figures are
//! those of `scripts/model-misses.py`.

use crate::story::{accepted, each_refused, notes, with};
use experiment::{ModelMisses, Plan, Setups, plan, setups};

/// Payload bytes of a record.
const RECORD_BYTES: f64 = 1_000.0;
/// Bytes on disk of each of them.
const ON_DISK: f64 = 1.15;

/// So many records at 1:`scale`, a fifth of which the page cache holds; `dataset` and `local` are further lines.
fn text(records: f64, scale: f64, distribution: &str, (dataset, local): (&str, &str)) -> String {
    let page_cache_mib = records / scale * RECORD_BYTES * ON_DISK * 0.2 / 1_048_576.0;
    format!(
        "name = \"x\"\n[dataset]\nrecords = {records}\n{dataset}\n\
         [[configuration]]\nname = \"a\"\ninstance = \"r6i.4xlarge\"\n\
         data_volume = {{ type = \"gp3\", size_gib = 500 }}\n\
         [[workload]]\nname = \"w\"\nread = 0.8\nupdate = 0.2\ndistribution = {distribution}\n\
         [load]\nconcurrency = [10]\n\
         [provider.local]\nscale = {scale}\npage_cache_mib = {page_cache_mib}\n{local}\n"
    )
}

const ZIPFIAN: &str = "\"zipfian\"";
const FULL: f64 = 100_000_000.0;

fn planned(text: &str) -> (Plan, Setups) {
    let experiment = accepted(text);
    (plan(&experiment), setups(&experiment))
}

fn misses(text: &str) -> Vec<ModelMisses> {
    let (plan, setups) = planned(text);
    plan.misses().all(&setups)
}

/// Reads that miss for each operation, a tenth of which is 0.1.
fn is_near(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 0.015
}

#[test]
fn a_model_misses_more_often_where_some_keys_are_more_popular_whatever_their_number() {
    for (distribution, scale, in_model, at_full_scale) in [
        (ZIPFIAN, 16.0, 0.8 * 0.492, 0.8 * 0.391),
        (ZIPFIAN, 64.0, 0.8 * 0.541, 0.8 * 0.391),
        ("\"latest\"", 16.0, 0.8 * 0.292, 0.8 * 0.253),
        ("\"uniform\"", 64.0, 0.8 * 0.8, 0.8 * 0.8),
    ] {
        let found = misses(&text(FULL, scale, distribution, ("", "")));
        let [of] = found.as_slice() else { panic!("{distribution} at 1:{scale}: {found:?}") };
        assert_eq!((of.configuration.as_str(), of.workload.as_str()), ("a", "w"));
        assert!(is_near(of.in_model, in_model) && is_near(of.at_full_scale, at_full_scale), "1:{scale}: {of:?}");
        assert_eq!(of.differ(), distribution != "\"uniform\"", "{of:?}");
    }
    assert!(misses(&text(FULL, 1.0, ZIPFIAN, ("", ""))).is_empty(), "it is full scale");
}

/// 1.04 times at 1:1.5, 1.07 at 1:2.
#[test]
fn a_plan_says_it_from_a_twentieth_on() {
    let said = |text: &str| notes(&accepted(text), "model_misses", None);
    for (scale, reported) in [(1.0, false), (1.5, false), (2.0, true), (16.0, true)] {
        let found = said(&text(FULL, scale, ZIPFIAN, ("", "")));
        assert_eq!(!found.is_empty(), reported, "1:{scale}: {found:?}");
    }
    let found = said(&text(FULL, 16.0, ZIPFIAN, ("", ""))).remove(0);
    assert!(found.contains("a under w: 0.39") && found.contains("for each operation here, 0.31"), "{found}");
    assert!(found.contains("(20.0 % of 6250000 records in it, instead of 20.0 % of 100000000)"), "{found}");
    assert!(found.contains("volumes are read 1.2") && found.contains("page_cache = \"same-misses\""), "{found}");
    assert!(!found.contains("reckoned without"), "{found}");
    let of_postgresql = text(FULL, 16.0, ZIPFIAN, ("", "")) + "[target]\ndatabase = \"postgresql\"\n";
    let found = said(&of_postgresql).remove(0);
    assert!(found.contains("reckoned without shared_buffers and without what updates read"), "{found}");
    assert_eq!(said(&text(FULL, 64.0, "\"uniform\"", ("", ""))), Vec::<String>::new());
}

/// Of a sixteenth of the records a third has to be cached where it was a fifth of all.
#[test]
fn a_page_cache_that_keeps_the_misses_misses_as_often() {
    let kept = text(FULL, 16.0, ZIPFIAN, ("", "page_cache = \"same-misses\""));
    let (plan, setups) = planned(&kept);
    let held = plan.dataset.bytes_on_disk();
    let setup = plan.caches.setup(&setups[0], "w", &plan.dataset);
    let share = setup.page_cache_budget_bytes as f64 / held;
    assert!((share - 0.335).abs() < 0.015, "{share}");
    let more = setup.page_cache_budget_bytes - setups[0].page_cache_budget_bytes;
    assert_eq!(setup.memory_limit_bytes - setups[0].memory_limit_bytes, more);
    let of = plan.misses().all(&setups).remove(0);
    assert!((of.factor() - 1.0).abs() < 0.005 && is_near(of.at_full_scale, 0.8 * 0.391), "{of:?}");
    assert_eq!(notes(&accepted(&kept), "model_misses", None), Vec::<String>::new());
    let same_share = text(FULL, 16.0, ZIPFIAN, ("", "page_cache = \"same-share\""));
    assert_eq!(planned(&same_share).0.caches, planned(&text(FULL, 16.0, ZIPFIAN, ("", ""))).0.caches, "the default");
}

/// What is stated may be less than the least that memory is divided to.
#[test]
fn a_small_page_cache_that_is_stated_keeps_the_misses_too() {
    let kept = text(1_600_000.0, 16.0, ZIPFIAN, ("", "page_cache = \"same-misses\""));
    let (plan, setups) = planned(&kept);
    let setup = plan.caches.setup(&setups[0], "w", &plan.dataset);
    let mib = setup.page_cache_budget_bytes as f64 / 1_048_576.0;
    assert!((22.0..64.0).contains(&mib), "{mib}");
    let of = plan.misses().all(&setups).remove(0);
    assert!((of.factor() - 1.0).abs() < 0.005, "{of:?}");
}

/// 8 GiB of memory at 1:256 would leave some 14 MiB: a page cache of 64 MiB misses less often, and is not made smaller.
#[test]
fn a_page_cache_that_was_raised_to_the_least_misses_less_often() {
    let text: String = text(20_000_000.0, 256.0, "\"uniform\"", ("", ""))
        .replace("r6i.4xlarge", "c6i.xlarge")
        .lines()
        .filter(|line| !line.starts_with("page_cache_mib"))
        .map(|line| format!("{line}\n"))
        .collect();
    let of = misses(&text).remove(0);
    assert!(of.factor() < 0.9 && of.share_in_model > of.share_at_full_scale && !of.can_be_kept, "{of:?}");
    let found = notes(&accepted(&text), "model_misses", None).remove(0);
    assert!(found.contains("Load more of the records") && !found.contains("same-misses"), "{found}");
}

/// What production reads is known better than what is reckoned.
#[test]
fn a_calibrated_page_cache_is_left_alone() {
    let calibrated = text(FULL, 16.0, ZIPFIAN, ("", "page_cache = \"calibrated\""));
    assert!(misses(&calibrated).is_empty());
    assert_eq!(notes(&accepted(&calibrated), "model_misses", None), Vec::<String>::new());
    let plain = planned(&text(FULL, 16.0, ZIPFIAN, ("", ""))).0;
    assert_eq!(planned(&calibrated).0.caches, plain.caches);
}

/// The note on memory that was raised is on what memory leaves, and not on a size that is reckoned or asked for.
#[test]
fn a_page_cache_is_raised_to_the_least_only_where_it_is_what_memory_leaves() {
    let limited = with("size_gib = 320 }", "size_gib = 320 }\nmemory_limit_gib = 16");
    let limited = limited.replace("records = 1000\n", "records = 100_000_000\n");
    let raised = |local: &str| {
        let text = format!("{limited}[provider.local]\nscale = 256\n{local}\n");
        notes(&accepted(&text), "memory_raised", None).len()
    };
    let all = ["", "page_cache = \"same-misses\"", "page_cache_mib = 32", "[sweep]\ncache_ratio = [2]"];
    assert_eq!(all.map(raised), [1, 0, 0, 0]);
}

/// At full scale there is no smaller one: 16 MiB are what Cassandra leaves of 768, and 86 of 870.
#[test]
fn a_small_node_at_full_scale_is_not_advised_a_smaller_scale() {
    let said = |limit_gib: f64| {
        let limited = with("size_gib = 320 }", &format!("size_gib = 320 }}\nmemory_limit_gib = {limit_gib}"));
        notes(&accepted(&limited), "memory_raised", None)
    };
    let found = said(0.75);
    let [note] = found.as_slice() else { panic!("{found:#?}") };
    assert!(note.contains("16 MiB of page cache is what its memory leaves, and it has 64 MiB, the least"), "{note}");
    assert!(note.contains("set a larger memory_limit_gib") && !note.contains("scale"), "{note}");
    assert_eq!(said(0.85), [""; 0]);
}

/// A data set that was made smaller by other means than the scale.
#[test]
fn records_may_stand_for_more() {
    let reduced = text(FULL / 16.0, 1.0, ZIPFIAN, ("stands_for_records = 100_000_000", ""));
    let of = misses(&reduced).remove(0);
    assert!(is_near(of.in_model, 0.8 * 0.492) && is_near(of.at_full_scale, 0.8 * 0.391), "{of:?}");
    let kept = reduced + "page_cache = \"same-misses\"\n";
    assert!((misses(&kept)[0].factor() - 1.0).abs() < 0.005, "{:?}", misses(&kept));
}

#[test]
fn what_does_not_go_together_is_refused() {
    let plain = text(FULL, 16.0, ZIPFIAN, ("", ""));
    let without_size: String =
        plain.lines().filter(|l| !l.starts_with("page_cache_mib")).map(|l| format!("{l}\n")).collect();
    each_refused(&[
        (
            without_size.clone() + "page_cache = \"calibrated\"\n",
            "page_cache = \"calibrated\": page_cache_mib was chosen by what production reads, and is not stated",
        ),
        (plain.clone() + "page_cache = \"same\"\n", "page_cache cannot be `same`"),
        (
            text(FULL, 16.0, ZIPFIAN, ("stands_for_records = 99_999_999", "")),
            "stands_for_records = 99999999 is less than records = 100000000",
        ),
        (
            without_size + "page_cache = \"same-misses\"\n[sweep]\ncache_ratio = [2]\n",
            "page_cache = \"same-misses\" of [provider.local] says how large page caches are",
        ),
    ]);
}

/// 115 GB on disk, and as much again for compaction: 214.2 GiB.
#[test]
fn disks_that_have_no_room_for_full_scale_are_reported() {
    let sized = |gib: u32, dataset: &str| {
        text(FULL, 16.0, "\"uniform\"", (dataset, "")).replace("size_gib = 500", &format!("size_gib = {gib}"))
    };
    let reported = |text: &str| notes(&accepted(text), "disk_too_small", None);
    let with = |gib: u32, dataset: &str| reported(&sized(gib, dataset));
    assert_eq!(with(215, ""), Vec::<String>::new());
    let found = with(214, "").remove(0);
    assert!(found.contains("a: a node has 115 GB of data at full scale") && found.contains("have 230 GB"), "{found}");
    assert!(found.ends_with("state a larger volume, or more nodes"), "{found}");
    assert_eq!(with(500, "").len(), 0);
    assert_eq!(with(500, "stands_for_records = 300_000_000").len(), 1, "345 GB");
    // Nothing is compacted.
    let postgresql =
        |gib| reported(&sized(gib, "").replace("[dataset]", "[target]\ndatabase = \"postgresql\"\n[dataset]"));
    assert_eq!(postgresql(110), Vec::<String>::new());
    let found = postgresql(100).remove(0);
    assert!(found.contains("have 107 GB") && !found.contains("compaction"), "{found}");
    assert!(found.ends_with("state a larger volume"), "it is one node: {found}");
}
