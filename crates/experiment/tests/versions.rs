//! Versions of the database: known or refused, each with a process and a data set of its own, and no money.

use crate::story::{GOOD, accepted, and, each_refused, notes, read, refused, with};
use experiment::{DataSetFiles, PRODUCTS, Provider, ReadFor, Setup, setups, versions};

const VOLUME: &str = "data_volume = { type = \"gp2\", size_gib = 320 }";

/// The sound file whose configuration states this database.
fn database(stated: &str) -> String {
    with(VOLUME, &format!("{VOLUME}\ndatabase = {stated}"))
}

/// What a setup of the sound file is with this version.
fn with_version(version: Option<&str>) -> Setup {
    Setup { version: version.map(str::to_owned), ..setups(&accepted(GOOD))[0].clone() }
}

#[test]
fn an_unknown_version_is_named_with_those_known_wherever_it_stands() {
    let known = format!("(known: {}", PRODUCTS[0].default_version);
    let target = with("[dataset]", "[target]\nversion = \"3.11.19\"\n\n[dataset]");
    let variant = and("\n[[variant]]\nname = \"v\"\ndatabase = { version = \"3.11.19\" }\n");
    for text in [target, variant, database("{ name = \"cassandra\", version = \"3.11.19\" }")] {
        let mistakes = refused(&text);
        assert_eq!(mistakes.list().len(), 1, "{mistakes}");
        let words = mistakes.to_string();
        assert!(words.contains("version `3.11.19` is not supported") && words.contains(&known), "{words}");
    }
}

#[test]
fn what_a_database_of_a_configuration_cannot_be_is_refused() {
    let default = PRODUCTS[0].default_version;
    let existing = database(&format!("{{ version = \"{default}\" }}")).replacen(
        "[dataset]",
        "[target]\nhosts = [\"127.0.0.1:9042\"]\nkeyspace = \"k\"\n\n[dataset]",
        1,
    );
    each_refused(&[
        (database("{ name = \"cassandra\" }"), "the key `version` is missing"),
        (
            database(&format!("{{ name = \"mongodb\", version = \"{default}\" }}")),
            "`mongodb` is not the database of this experiment (that of [target], for all of it: cassandra)",
        ),
        // Nothing is upgraded in place.
        (database(&format!("{{ version = \"{default}\", upgrade_from = \"4.1.10\" }}")), "unknown key `upgrade_from`"),
        (existing, "a cluster that exists has its version"),
    ]);
    let stated = database(&format!("{{ version = \"{default}\" }}"));
    let simulated = read(&stated, ReadFor::PlanOf(Provider::Simulated)).unwrap_err().to_string();
    assert!(simulated.contains("database of a: all versions are one to a simulation"), "{simulated}");
}

/// Also a key below another: its files would lie where nothing is measured.
#[test]
fn where_files_of_a_node_are_is_not_for_an_experiment_to_state() {
    let has_accord = |version: &&str| cassandra_model::has_key(version, "accord.journal_directory");
    let version = cassandra_model::versions().find(has_accord).expect("6.0 has it");
    let text = database(&format!(
        "{{ name = \"cassandra\", version = \"{version}\" }}\n\
         settings = {{ cassandra = {{ accord = {{ journal_directory = \"/elsewhere\" }} }} }}"
    ));
    each_refused(&[(text, "accord.journal_directory: iopslab decides where the files of a node are")]);
}

#[test]
fn the_version_of_the_target_is_nothing_of_ones_own() {
    let stated = database(&format!("{{ name = \"cassandra\", version = \"{}\" }}", PRODUCTS[0].default_version));
    assert_eq!(accepted(&stated), accepted(GOOD));
}

/// Whichever are known: each is a configuration beside the others, and costs what they cost.
#[test]
fn each_known_version_can_stand_beside_the_default() {
    for other in cassandra_model::versions().filter(|version| *version != PRODUCTS[0].default_version) {
        let experiment =
            accepted(&and(&format!("\n[[variant]]\nname = \"v\"\ndatabase = {{ version = \"{other}\" }}\n")));
        let own: Vec<Option<&str>> = experiment.configurations.iter().map(|c| c.version.as_deref()).collect();
        assert_eq!(own, [None, Some(other)]);
        let money = &experiment.money.configurations;
        assert_eq!(money[0].usd_per_month, money[1].usd_per_month, "an upgrade costs no money");
        assert_eq!(setups(&experiment)[1].version.as_deref(), Some(other));
        let alphas = notes(&experiment, "before_release", None);
        assert_eq!(alphas.len(), usize::from(other.contains('-')), "an alpha is called one: {alphas:?}");
    }
}

#[test]
fn versions_share_neither_a_process_nor_the_files_of_a_data_set() {
    let (old, new) = (with_version(Some("4.1.10")), with_version(None));
    assert!(new.shares_process_with(&with_version(None)) && old.shares_process_with(&with_version(Some("4.1.10"))));
    assert!(!old.shares_process_with(&new) && !new.shares_process_with(&old));
    let (files, others) = (DataSetFiles::of(&old), DataSetFiles::of(&new));
    assert_ne!(files, others);
    assert_eq!((files.label().as_str(), others.label().as_str()), ("files of version 4.1.10", ""));
    let text = serde_json::to_string(&files).unwrap();
    assert_eq!(serde_json::from_str::<DataSetFiles>(&text).unwrap(), files);
    let text = serde_json::to_string(&old).unwrap();
    assert_eq!(serde_json::from_str::<Setup>(&text).unwrap(), old);
}

#[test]
fn versions_are_named_in_the_order_of_their_configurations() {
    let own = [Some("4.1.10".to_owned()), None, Some("4.1.10".to_owned()), Some("6.0-alpha2".to_owned())];
    assert_eq!(versions("5.0.9", own.iter()), ["4.1.10", "5.0.9", "6.0-alpha2"]);
}
