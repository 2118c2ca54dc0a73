//! `shared_buffers` of PostgreSQL as a setting: divided in a model, counted once beside the page cache, and refused
//! where they cannot be.

use crate::story::{accepted, each_refused, notes, read, refused, with};
use experiment::{CacheOf, Experiment, Provider, ReadFor, setups, use_whole_machines};
use proptest::prelude::*;

const MIB: f64 = 1_048_576.0;
/// A vacuum's memory, and that of the processes.
const BESIDES: f64 = 320.0 * MIB;
/// What is rounded in a model.
const PAGE: f64 = 8_192.0;

/// A PostgreSQL with so much memory as it is, and with a setting more; `local` are lines of `[provider.local]`.
fn text(memory_gib: u32, setting: &str, local: &str) -> String {
    let limited = with("size_gib = 320 }", &format!("size_gib = 320 }}\nmemory_limit_gib = {memory_gib}"));
    format!(
        "{limited}[target]\ndatabase = \"postgresql\"\n\
         [[variant]]\nname = \"set\"\nsettings = {{ postgresql = {{ {setting} }} }}\n[provider.local]\n{local}\n"
    )
}

/// Bytes that are the database's own, of its page cache, and of both with the rest, for each configuration.
fn shared_out(experiment: &Experiment) -> Vec<[u64; 3]> {
    let all = setups(experiment);
    all.iter().map(|s| [s.heap_bytes, s.page_cache_budget_bytes, s.memory_limit_bytes]).collect()
}

#[test]
fn the_page_cache_has_what_shared_buffers_leave_and_nothing_costs_more() {
    let experiment = accepted(&text(32, "shared_buffers = \"2GB\"", "scale = 16"));
    let mib = shared_out(&experiment).iter().map(|of| of.map(|bytes| bytes as f64 / MIB)).collect::<Vec<_>>();
    // (32 GiB - 8 GiB - 320 MiB) / 16, and with 2 GiB in place of a quarter.
    assert_eq!(mib, [[512.0, 1_516.0, 2_348.0], [128.0, 1_900.0, 2_348.0]]);
    let [plain, set] = experiment.money.configurations.as_slice() else { panic!("two configurations") };
    assert_eq!(plain.usd_per_month, set.usd_per_month);
    let setups = setups(&experiment);
    assert!(!setups[0].shares_process_with(&setups[1]), "they are decided at its start");
    assert!(CacheOf::new(&setups[0]) != CacheOf::new(&setups[1]));
}

proptest! {
    /// Whatever share they have of whatever memory, at every scale.
    #[test]
    fn memory_is_shared_out_and_no_byte_of_it_twice(gib in 32_u32..=120, tenths in 1_u32..=7, scale in 1_u32..=32) {
        let mb = gib * 1_024 * tenths / 10;
        let setting = format!("shared_buffers = \"{mb}MB\"");
        let experiment = accepted(&text(gib, &setting, &format!("scale = {scale}")));
        let all = shared_out(&experiment);
        let [_, [main, page_cache, _]] = all.as_slice() else { panic!("two configurations") };
        let (scale, stated) = (f64::from(scale), f64::from(mb) * MIB);
        let lost = stated / scale - *main as f64;
        prop_assert!((0.0..PAGE).contains(&lost), "{stated} / {scale} is not {main}");
        let whole = *page_cache as f64 * scale + stated + BESIDES;
        prop_assert!((whole - f64::from(gib) * 1_024.0 * MIB).abs() <= scale + 1.0, "{whole}");
        prop_assert!(all[0][2].abs_diff(all[1][2]) < 1 << 20, "{all:?}");
    }
}

#[test]
fn shared_buffers_that_cannot_be_are_refused_with_the_reason() {
    let sum = "leave nothing of 32.0 GiB of memory for the page cache (shared_buffers (a quarter unless stated)";
    let of_model = "shared_buffers of a_set: 64 KiB in the 1:16 model, and the database does not start with less than \
                    128 KiB";
    each_refused(&[
        (text(32, "shared_buffers = \"40GB\"", ""), "shared_buffers of a_set: 40.0 GiB, and 0.3 GiB that the database"),
        (text(32, "shared_buffers = \"40GB\"", ""), sum),
        (text(32, "shared_buffers = \"31.9GB\"", ""), sum),
        // However much page cache is stated beside them.
        (text(32, "shared_buffers = \"40GB\"", "page_cache_mib = 64"), sum),
        (text(32, "shared_buffers = \"120kB\"", ""), "shared_buffers cannot be \"120kB\""),
        (text(32, "shared_buffers = \"1MB\"", "scale = 16"), of_model),
    ]);
    let message = refused(&text(32, "shared_buffers = \"40GB\"", "")).to_string();
    // The value of the variant.
    assert!(message.starts_with("x.toml:23:46: "), "{message}");
    accepted(&text(32, "shared_buffers = \"1MB\"", "scale = 8"));
    let of_cassandra = with("size_gib = 320 }", "size_gib = 320 }\nsettings = { cassandra = { shared_buffers = 1 } }");
    assert!(refused(&of_cassandra).to_string().contains("shared_buffers"));
}

/// The page cache that is stated stays as it is, so that the database has more memory than the machine gave it.
#[test]
fn a_stated_page_cache_gives_nothing_to_shared_buffers_and_a_plan_says_so() {
    let said = |setting: &str| {
        let text = text(32, setting, "scale = 16\npage_cache_mib = 64");
        notes(&accepted(&text), "memory_beside_page_cache", None)
    };
    assert_eq!(
        said("shared_buffers = \"4GB\""),
        ["note: page_cache_mib = 64 is the page cache of every configuration: the configurations differ in \
          shared_buffers, which is memory beside it and takes nothing from it. Leave page_cache_mib out to measure \
          what memory gives"]
    );
    assert_eq!(said("wal_compression = \"pglz\""), [""; 0]);
}

/// 2 GiB of `shared_buffers` and 5.7 GiB of page cache, in a small model: nobody was told that it has more than that.
#[test]
fn a_plan_says_which_memory_of_a_small_model_is_raised_to_the_least() {
    let said = |local: &str| notes(&accepted(&text(8, "shared_buffers = \"3GB\"", local)), "memory_raised", None);
    let found = said("scale = 256");
    let [cache, buffers, of_variant] = found.as_slice() else { panic!("{found:#?}") };
    let starts = "note: a: 23 MiB of page cache would be its part of the 1:256 model, and it has 64 MiB, the least. ";
    assert!(cache.starts_with(starts), "{cache}");
    assert!(buffers.starts_with("note: a: 8 MiB of shared_buffers would be its part of"), "{buffers}");
    assert!(buffers.contains("and it has 16 MiB"), "{buffers}");
    // What is stated is divided, and not raised.
    assert!(of_variant.starts_with("note: a_set: 19 MiB of page cache would be its part of"), "{of_variant}");
    assert_eq!(said("scale = 256\npage_cache_mib = 64").len(), 1, "a page cache that is stated is not raised");
    assert_eq!(said("scale = 256\npage_cache = \"same-misses\"").len(), 1, "its size is reckoned");
    assert_eq!(said("scale = 16"), [""; 0]);
}

/// The page cache has what they leave of the memory that is found there.
#[test]
fn on_machines_as_they_are_shared_buffers_are_those_of_the_file() {
    let text =
        text(32, "shared_buffers = \"1MB\"", "") + "[provider.hosts]\ndatabase = [\"db1\"]\nclient = [\"load1\"]\n";
    let experiment = read(&text, ReadFor::Run(Provider::Hosts)).unwrap();
    let mut setups = setups(&experiment);
    use_whole_machines(&mut setups, 16.0, 64 << 30).unwrap();
    let [plain, set] = [0, 1].map(|i| setups[i].page_cache_budget_bytes as f64 / MIB);
    assert_eq!((setups[1].heap_bytes, set - plain), (1 << 20, 8_192.0 - 1.0));
}
