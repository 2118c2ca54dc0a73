//! `max_wal_size` of PostgreSQL as a setting: divided in a model, and refused where the volume of the WAL could be
//! filled.

use experiment::setups;

use crate::story::{accepted, each_refused, notes, refused, with};

const LOG_OF_50_GIB: &str = "commitlog_volume = { type = \"gp3\", size_gib = 50 }";
/// What the configuration itself states, of full scale: what PostgreSQL has by itself.
const AS_SHIPPED: &str = "settings = { postgresql = { max_wal_size = \"1GB\" } }";

/// A PostgreSQL as it is, and with a setting more; `log` are lines of both, `local` are lines of `[provider.local]`.
fn text(log: &str, setting: &str, local: &str) -> String {
    format!(
        "{}[target]\ndatabase = \"postgresql\"\n\
         [[variant]]\nname = \"set\"\nsettings = {{ postgresql = {{ {setting} }} }}\n[provider.local]\n{local}\n",
        with("size_gib = 320 }", &format!("size_gib = 320 }}\n{log}"))
    )
}

#[test]
fn a_model_divides_what_is_stated_and_costs_nothing_more() {
    let both = format!("{LOG_OF_50_GIB}\n{AS_SHIPPED}");
    let experiment = accepted(&text(&both, "max_wal_size = \"4GB\"", "scale = 16"));
    let setups = setups(&experiment);
    assert_eq!([&setups[0], &setups[1]].map(|setup| setup.commitlog_bytes), [Some(64 << 20), Some(256 << 20)]);
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
    for (log, stated, local) in
        [(LOG_OF_50_GIB, "25GB", ""), (AS_SHIPPED, "159GB", "scale = 16"), (AS_SHIPPED, "512MB", "scale = 16")]
    {
        accepted(&of(log, stated, local));
    }
}

/// Records of 1,000 bytes, 1.15 for each on disk: 267.8 GiB, beside which a volume of 320 GiB has room for twice 26.
#[test]
fn a_volume_of_both_has_room_for_the_data_and_twice_the_log() {
    let of = |log: &str, stated: &str, records: &str| {
        text(log, &format!("max_wal_size = \"{stated}\""), "").replace("records = 1000", records)
    };
    let (many, stood_for) = ("records = 250_000_000", "records = 1000\nstands_for_records = 250_000_000");
    let why = "max_wal_size of a_set: 27.0 GiB, and its volume of 320.0 GiB has 267.8 GiB of data, too: ";
    each_refused(&[(of("", "27GB", many), why), (of("", "27GB", stood_for), why)]);
    for (log, stated) in [("", "26GB"), (LOG_OF_50_GIB, "25GB")] {
        accepted(&of(log, stated, many));
    }
}

/// A run of some of the configurations leaves the lines of the others out of it.
#[test]
fn what_does_not_fit_is_shown_at_its_own_lines_whatever_else_is_left_out() {
    let of = |line: &str| {
        let text = text("", "max_wal_size = \"27GB\"", "").replace("records = 1000", "records = 250_000_000");
        refused(&text.replacen("concurrency = [10]", &format!("concurrency = [10]\n{line}"), 1)).to_string()
    };
    assert_eq!(of("only = [\"a_set\"]"), of("# all"));
}

/// Else the smaller of two could be the larger one in a model.
#[test]
fn a_model_has_no_configuration_beside_it_that_states_none() {
    let mixed = |setting: &str, local: &str| text(LOG_OF_50_GIB, setting, local);
    let why = "max_wal_size of a_set: the 1:16 model divides it, and a, which states none, has 1 GiB there, as 16 GiB \
               would be at full scale (state max_wal_size in every configuration)";
    each_refused(&[(mixed("max_wal_size = \"4GB\"", "scale = 16"), why)]);
    accepted(&mixed("max_wal_size = \"4GB\"", ""));
    accepted(&mixed("wal_compression = \"pglz\"", "scale = 16"));
}

#[test]
fn a_plan_says_when_a_checkpoint_comes_by_it() {
    let both = format!("{LOG_OF_50_GIB}\n{AS_SHIPPED}");
    let late = notes(&accepted(&text(&both, "max_wal_size = \"4GB\"", "scale = 16")), "no_checkpoint", None);
    let [plain, set] = late.as_slice() else { panic!("{late:?}") };
    assert!(plain.starts_with("note: a: ") && plain.contains("once about 34 MiB are logged"), "{plain}");
    assert!(set.starts_with("note: a_set: ") && set.contains("once about 135 MiB are logged"), "{set}");
}
