//! `max_wal_size` of PostgreSQL as a setting: divided in a model, and refused where the volume of the WAL could be
//! filled.

use experiment::setups;

use crate::story::{accepted, each_refused, notes, with};

const LOG_OF_50_GIB: &str = "commitlog_volume = { type = \"gp3\", size_gib = 50 }";

/// A PostgreSQL as it is, and with a setting more; `log` is a line of both, `local` are lines of `[provider.local]`.
fn text(log: &str, setting: &str, local: &str) -> String {
    format!(
        "{}[target]\ndatabase = \"postgresql\"\n\
         [[variant]]\nname = \"set\"\nsettings = {{ postgresql = {{ {setting} }} }}\n[provider.local]\n{local}\n",
        with("size_gib = 320 }", &format!("size_gib = 320 }}\n{log}"))
    )
}

#[test]
fn a_model_divides_what_is_stated_and_costs_nothing_more() {
    let experiment = accepted(&text(LOG_OF_50_GIB, "max_wal_size = \"4GB\"", "scale = 16"));
    let setups = setups(&experiment);
    assert_eq!([&setups[0], &setups[1]].map(|setup| setup.commitlog_bytes), [None, Some(256 << 20)]);
    let size = |i: usize| setups[i].commitlog.as_ref().unwrap().size_bytes;
    assert_eq!(size(0), size(1), "they have one hardware");
    assert!(!setups[0].shares_process_with(&setups[1]), "it is another configuration of the server");
    let [plain, set] = experiment.money.configurations.as_slice() else { panic!("two configurations") };
    assert_eq!(plain.usd_per_month, set.usd_per_month);
}

#[test]
fn what_could_fill_its_volume_or_is_too_little_to_start_with_is_refused() {
    let of = |log: &str, stated: &str, local: &str| text(log, &format!("max_wal_size = \"{stated}\""), local);
    each_refused(&[
        (of(LOG_OF_50_GIB, "26GB", ""), "max_wal_size of a_set: 26.0 GiB, and the volume of its log has 50.0 GiB: "),
        (of(LOG_OF_50_GIB, "26GB", "scale = 16"), "(state 25.0 GiB at the most, or a larger volume)"),
        (of("", "161GB", ""), "161.0 GiB, and its volume, which has the data too, has 320.0 GiB: "),
        (
            of("", "256MB", "scale = 16"),
            "max_wal_size of a_set: 16.0 MiB in the 1:16 model, and the database does not start with less than 32 MiB",
        ),
        (of("", "16MB", ""), "max_wal_size of a_set: 16.0 MiB, and the database does not start with less than 32 MiB"),
        (of("", "16 gigabytes", ""), "max_wal_size cannot be \"16 gigabytes\""),
    ]);
    for (log, stated, local) in [(LOG_OF_50_GIB, "25GB", ""), ("", "160GB", "scale = 16"), ("", "512MB", "scale = 16")]
    {
        accepted(&of(log, stated, local));
    }
}

#[test]
fn a_plan_says_when_a_checkpoint_comes_by_it_and_that_another_configuration_has_none_stated() {
    let said =
        |setting: &str, local: &str, rule: &str| notes(&accepted(&text(LOG_OF_50_GIB, setting, local)), rule, None);
    let stated = "max_wal_size = \"4GB\"";
    let late = said(stated, "scale = 16", "no_checkpoint");
    let [plain, set] = late.as_slice() else { panic!("{late:?}") };
    assert!(plain.starts_with("note: a: ") && plain.contains("once about 539 MiB are logged"), "{plain}");
    assert!(set.starts_with("note: a_set: ") && set.contains("once about 135 MiB are logged"), "{set}");
    let found = said(stated, "scale = 16", "log_space_unstated");
    let starts = "note: a: max_wal_size is not stated and is 1 GiB in the 1:16 model, as 16 GiB would be at full scale";
    assert!(found.len() == 1 && found[0].starts_with(starts), "{found:?}");
    assert_eq!(said(stated, "", "log_space_unstated"), [""; 0], "nothing is divided");
    assert_eq!(said("wal_compression = \"pglz\"", "scale = 16", "log_space_unstated"), [""; 0], "nobody states it");
}
