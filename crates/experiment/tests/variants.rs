//! `[[variant]]`: configurations with other settings beside those that it is for.

use experiment::{Provider, ReadFor};

use crate::settings::{refused_for, settings};
use crate::story::{accepted, each_refused, read, refused, with};

const VARIANTS: &str = r#"
[[variant]]
name = "chunks-4k"
settings = { table = { compression = { chunk_length_in_kb = 4 } } }

[[variant]]
name = "mmap"
configurations = ["b"]
[variant.settings.cassandra]
disk_access_mode = "mmap"
"#;

/// Two configurations, the second with settings of its own.
fn two_with(variants: &str) -> String {
    let second = "[[configuration]]\nname = \"b\"\ninstance = \"r4.4xlarge\"\n\
                  settings = { jvm = [\"-Xss1m\"], \
                  cassandra = { disk_access_mode = \"standard\", concurrent_reads = 16 } }\n\
                  data_volume = { type = \"gp2\", size_gib = 320 }\n\n[[workload]]";
    with("[[workload]]", second) + variants
}

#[test]
fn a_variant_makes_a_configuration_of_each_that_it_is_for_beside_it() {
    let experiment = accepted(&two_with(VARIANTS));
    let found: Vec<(&str, String)> =
        experiment.configurations.iter().map(|c| (c.name.as_str(), c.settings.labels().join("; "))).collect();
    let own = "jvm -Xss1m; cassandra concurrent_reads = 16; cassandra disk_access_mode = standard";
    let small = "table compression = LZ4Compressor, chunk_length_in_kb 4";
    assert_eq!(
        found,
        [
            ("a", String::new()),
            ("a_chunks-4k", small.to_owned()),
            ("b", own.to_owned()),
            ("b_chunks-4k", format!("{own}; {small}")),
            // What both state is the variant's.
            ("b_mmap", own.replace("standard", "mmap")),
        ]
    );
    let money = &experiment.money.configurations;
    assert_eq!(money.len(), 5);
    assert_eq!(money[0].usd_per_month, money[1].usd_per_month, "settings cost nothing");
    assert!(money[0].usd_per_month.is_some());
    let plan = experiment::plan(&experiment);
    let cells: Vec<&str> = plan.cells.iter().map(|cell| cell.configuration.as_str()).collect();
    assert_eq!(cells, ["a", "a_chunks-4k", "b", "b_chunks-4k", "b_mmap"]);
}

#[test]
fn a_variant_can_be_the_baseline() {
    let text = two_with(VARIANTS).replacen("name = \"x\"\n", "name = \"x\"\nbaseline = \"b_mmap\"\n", 1);
    assert_eq!(accepted(&text).baseline.as_deref(), Some("b_mmap"));
    let text = text.replacen("baseline = \"b_mmap\"", "baseline = \"a_mmap\"", 1);
    assert!(refused(&text).to_string().contains("baseline `a_mmap` is no configuration"));
}

#[test]
fn wrong_variants_are_refused_at_their_place() {
    let variant = |lines: &str| two_with(&format!("\n[[variant]]\n{lines}\n"));
    let settings = "settings = { jvm = [\"-Xss2m\"] }";
    each_refused(&[
        (
            variant(&format!("name = \"v\"\n{settings}\n\n[[variant]]\nname = \"v\"\n{settings}")),
            "two variants are called `v`",
        ),
        (variant("name = \"v\"\nsettings = {}"), "variant `v` sets nothing: it is the configuration itself"),
        (variant("name = \"v\"\nsettings = { jvm = [] }"), "variant `v` sets nothing"),
        (variant("name = \"v\""), "variant `v` sets nothing: it is the configuration itself"),
        (variant(&format!("name = \"v v\"\n{settings}")), "`v v` cannot be the name of the variant"),
        (
            variant(&format!("name = \"v\"\nconfigurations = [\"c\"]\n{settings}")),
            "`c` is no configuration (valid: a, b)",
        ),
        (variant(&format!("name = \"v\"\nconfigurations = [\"a\", \"a\"]\n{settings}")), "`a` is named twice"),
        (variant(&format!("name = \"v\"\nconfigurations = []\n{settings}")), "variant `v` is for no configuration"),
        (variant(&format!("name = \"v\"\nsetting = {{}}\n{settings}")), "unknown key `setting`"),
        (
            variant("name = \"v\"\nsettings = { cassandra = { concurrent_read = 1 } }"),
            "cassandra.yaml has no key `concurrent_read`",
        ),
    ]);
    // For two configurations, and reported once.
    let twice = variant("name = \"v\"\nsettings = { table = { compression = { chunk_length_in_kb = 3 } } }");
    assert_eq!(refused(&twice).list().len(), 1);
    // The joined name is one that a configuration has.
    let same =
        two_with(&format!("\n[[variant]]\nname = \"y\"\n{settings}\n")).replacen("name = \"b\"", "name = \"a_y\"", 1);
    assert!(refused(&same).to_string().contains("two configurations are called `a_y`"));
}

#[test]
fn a_variant_is_refused_where_settings_are() {
    let simulated = refused_for(&two_with(VARIANTS), Provider::Simulated).to_string();
    let all = "settings of a_chunks-4k, b and 2 others: a simulation has no database to set them in";
    assert!(simulated.contains(all), "{simulated}");
    let host = settings("host = { read_ahead_kb = 8 }");
    let on =
        |machines: &str| format!("{host}\n[provider.hosts]\ndatabase = [\"db1\"]\nclient = [\"load1\"]\n{machines}");
    let message = refused_for(&on(""), Provider::Hosts).to_string();
    assert!(message.contains("read_ahead_kb of a: these machines have disks of their own"), "{message}");
    read(&on("limits = true"), ReadFor::PlanOf(Provider::Hosts)).unwrap();
}

/// It takes those whose effect is stated, by the name of the variant or of the configuration.
#[test]
fn a_simulation_takes_settings_whose_effect_is_stated() {
    let stated = |names: &[&str]| {
        let effects = names.iter().map(|name| format!("[provider.simulated.settings.{name}]\nmisses = 0.5\n"));
        two_with(VARIANTS) + "\n" + &effects.collect::<String>()
    };
    let all = stated(&["chunks-4k", "mmap", "b"]);
    let experiment = read(&all, ReadFor::PlanOf(Provider::Simulated)).unwrap();
    let truth = experiment.place.truth().unwrap();
    let of: Vec<&str> = truth.settings.keys().map(String::as_str).collect();
    assert_eq!(of, ["a_chunks-4k", "b", "b_chunks-4k", "b_mmap"]);
    // One that is left out is still made up by nobody.
    let message = refused_for(&stated(&["chunks-4k", "b"]), Provider::Simulated).to_string();
    assert!(
        message.contains("settings of b_mmap: a simulation has no database")
            && message.contains("[provider.simulated.settings.NAME]")
            && !message.contains("settings of a_chunks-4k"),
        "{message}"
    );
    let message = refused_for(&stated(&["chunks-4k", "mmap", "b", "a"]), Provider::Simulated).to_string();
    assert!(message.contains("`a` is no variant, and no configuration with settings"), "{message}");
}
