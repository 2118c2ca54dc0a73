//! A backlog of compaction: what is stated of it, which files it is, and what does not go with it.

use crate::story;
use crate::story::{accepted, each_refused, with};
use experiment::{BacklogFiles, DataSetFiles, Provider, ReadFor, Setup, setups};

const GP2: &str = "data_volume = { type = \"gp2\", size_gib = 320 }";

/// The sound experiment with a backlog, and more of its configuration.
fn backlog(stated: &str) -> String {
    with(GP2, &format!("{GP2}\nbacklog = {stated}"))
}

fn setup(text: &str) -> Setup {
    setups(&accepted(text))[0].clone()
}

#[test]
fn a_backlog_is_so_many_sstables_of_so_many_records_each() {
    let half = "{ overwrites = 0.5, sstables = 8 }";
    let found = setup(&backlog(half)).backlog.unwrap();
    assert_eq!((found.sstables, found.records), (8, 63), "1,000 records / 2 / 8");
    // At a scale it is that of the records that are left.
    let scaled = setup(&format!("{}\n[provider.local]\nscale = 2\n", backlog(half)));
    assert_eq!(scaled.backlog.map(|b| b.records), Some(31));
    // More than each once: in other SSTables.
    let twice = setup(&backlog("{ overwrites = 2, sstables = 2 }")).backlog.unwrap();
    assert_eq!((twice.records, twice.all_records()), (1_000, 2_000));
    assert_eq!(twice.growth(1_000), 3.0);
}

#[test]
fn it_is_another_data_set_with_a_name_of_its_own_and_room_on_the_volume() {
    let large = |text: &str| setup(&text.replace("records = 1000", "records = 1_000_000"));
    let behind = large(&backlog("{ overwrites = 1, sstables = 20 }"));
    let rest = large(story::GOOD);
    let (files, other) = (DataSetFiles::of(&behind), DataSetFiles::of(&rest));
    assert_ne!(files, other);
    let words = "records at rest, with a backlog of 20 SSTables of 50000 overwritten records";
    assert_eq!(files.label(), words);
    assert_eq!(files.backlog.map(BacklogFiles::key).as_deref(), Some("backlog-20x50000"));
    let text = serde_json::to_string(&other).unwrap();
    assert_eq!(serde_json::from_str::<DataSetFiles>(&text).unwrap(), other);
    let text = serde_json::to_string(&behind).unwrap();
    assert_eq!(serde_json::from_str::<Setup>(&text).unwrap(), behind);
    // Twice as much is on a volume that is made as large as its data need.
    let small = |text: &str| {
        let text = text.replace("size_gib = 320", "size_gib = 1");
        large(&text).data.size_bytes
    };
    let made = small(&backlog("{ overwrites = 1, sstables = 20 }"));
    assert_eq!(made, 2 * small(story::GOOD), "five times the payload");
}

#[test]
fn variants_of_a_configuration_have_its_backlog() {
    let text = format!(
        "{}\n[[variant]]\nname = \"lcs\"\n\
         settings = {{ table = {{ compaction = {{ class = \"LeveledCompactionStrategy\" }} }} }}\n",
        backlog("{ overwrites = 0.5, sstables = 4 }")
    );
    let all = setups(&accepted(&text));
    assert_eq!(all.len(), 2);
    assert_eq!(all[0].backlog, all[1].backlog);
    assert_ne!(DataSetFiles::of(&all[0]), DataSetFiles::of(&all[1]));
}

#[test]
fn what_cannot_be_is_refused_with_its_reason() {
    let good = "{ overwrites = 0.5, sstables = 8 }";
    let existing = "\n[target]\nhosts = [\"127.0.0.1:9042\"]\nkeyspace = \"k\"\n";
    each_refused(&[
        (backlog("{ sstables = 8 }"), "the key `overwrites` is missing"),
        (backlog("{ overwrites = 0.5 }"), "the key `sstables` is missing"),
        (backlog("{ overwrites = 0.5, sstable = 8 }"), "did you mean `sstables`?"),
        (backlog("{ overwrites = 0, sstables = 8 }"), "overwrites cannot be 0"),
        (backlog("{ overwrites = -1, sstables = 8 }"), "overwrites cannot be -1"),
        (backlog("{ overwrites = 0.5, sstables = 0 }"), "sstables cannot be 0"),
        (backlog("{ overwrites = 0.5, sstables = 1001 }"), "a whole number from 1 to 1000"),
        (backlog("{ overwrites = 3, sstables = 2 }"), "one of them holds no record twice"),
        (backlog("{ overwrites = 0.5, sstables = 800 }"), "an SSTable would hold 0.62 records"),
        (
            backlog("{ overwrites = 1, sstables = 4 }").replace("records = 1000", "records = 1_000_000"),
            "238 MiB of payload in an SSTable, which is one flush of one memtable: 64 MiB at most",
        ),
        (backlog("{ overwrites = 1, sstables = 4 }").replace("records = 1000", "records = 1_000_000"), "sstables = 15"),
        // Three nodes share the memory of a loading machine.
        (
            backlog("{ overwrites = 1, sstables = 20 }\nnodes = 3").replace("records = 1000", "records = 1_000_000"),
            "32 MiB at most",
        ),
        (format!("{}{existing}", backlog(good)), "iopslab restores no files in a cluster that exists"),
        (
            format!("{}\n[objective]\np99_ms = 10\n", backlog(good).replace("concurrency = [10]", "rate = \"find\"")),
            "each rate that is tried would find less of it",
        ),
        (
            backlog(&format!("{good}\nsettings = {{ cassandra = {{ autocompaction_on_startup_enabled = false }} }}")),
            "iopslab keeps automatic compaction off until measurement begins",
        ),
    ]);
}

#[test]
fn a_simulation_has_no_sstables_and_a_compaction_may_be_planned_besides() {
    let text = backlog("{ overwrites = 0.5, sstables = 8 }");
    let simulated = story::read(&text, ReadFor::PlanOf(Provider::Simulated));
    let said = simulated.err().unwrap().to_string();
    assert!(said.contains("a simulation has no SSTables to compact"), "{said}");
    accepted(&format!("{text}\n[[fault]]\nkind = \"compaction\"\nat_s = 10\n"));
}
