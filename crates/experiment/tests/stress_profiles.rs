//! `cql = "press.yaml"`: user profiles of cassandra-stress as workloads, and how mistakes in them are refused.
//!
//! The two profiles are typical of published ones. Of those that Apache Cassandra brings (`tools/cqlstress-*.yaml`,
//! with `partitions` stated where they leave the population at 100 billion), by reading them, not by a run:
//!
//! * `cqlstress-lwt-example.yaml` is taken: 10 million partitions of 1,000 rows; `insert` is a conditional update.
//!   A note: keys have at least 16 bytes (its 5 to 100).
//! * `cqlstress-counter-example.yaml` is taken. Notes: keys have at least 16 bytes (its 1 to 4), and the population of
//!   the counter is not followed.
//! * `cqlstress-insanity-example.yaml` is taken. Notes: `insert` writes the mean of 1 to 20 rows, keys have at least 16
//!   bytes, and the population of `lval` is not followed.
//! * `cqlstress-example.yaml` is refused at line 78 where `insert` is asked: `partitions: uniform(1..50)` writes to
//!   several partitions at once. Its queries alone are taken; but its table is of `COMPACT STORAGE`, which Cassandra
//!   itself refuses to create since 4.0.

use experiment::{Distribution, Experiment, Mistakes, ParseContext, ReadFor, parse, plan};
use statements::{Batch, Effect, Population, Size};

const PRESS: &str = "\
# Articles of many sites.
keyspace: press
keyspace_definition: |
  CREATE KEYSPACE press WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3};

table: articles
table_definition: |
  CREATE TABLE press.articles (
    site text,
    published timeuuid,
    author text,
    headline text,
    body text,
    labels set<text>,
    PRIMARY KEY (site, published)
  ) WITH CLUSTERING ORDER BY (published DESC)
    AND compaction = {'class': 'LeveledCompactionStrategy'};

columnspec:
  - name: site
    size: gaussian(16..60)
    population: uniform(1..50K)     # sites
  - name: published
    cluster: uniform(20..60)        # articles of a site
  - name: author
    size: uniform(5..20)
    population: uniform(1..2K)
  - name: headline
    size: gaussian(20..120)
  - name: body
    size: gaussian(500..4000)
  - name: labels
    size: fixed(4)

insert:
  partitions: fixed(1)
  select: fixed(1)/60
  batchtype: UNLOGGED

queries:
  newestArticle:
    cql: SELECT * FROM press.articles WHERE site = ? LIMIT 1
    fields: samerow
  read:
    cql: SELECT headline, author FROM articles WHERE site = ? AND published = ?
    fields: samerow
    consistencyLevel: LOCAL_QUORUM
";

const PLANT: &str = "\
keyspace: plant
table: readings
table_definition: |
  CREATE TABLE readings (
    sensor uuid,
    day date,
    at timestamp,
    value double,
    quality tinyint,
    remark text,
    PRIMARY KEY ((sensor, day), at)
  ) WITH CLUSTERING ORDER BY (at DESC)
    AND compaction = {'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'DAYS',
                      'compaction_window_size': 1}

columnspec:
  - name: sensor
    population: uniform(1..2000)
  - name: at
    cluster: fixed(1440)            # one a minute
  - name: remark
    size: fixed(12)

insert:
  partitions: fixed(1)
  select: fixed(10)/1440
  batchtype: UNLOGGED

queries:
  last-hour:
    cql: SELECT at, value FROM readings WHERE sensor = ? AND day = ? LIMIT 60
    fields: samerow
  span:
    cql: SELECT at, value FROM readings WHERE sensor = ? AND day = ? AND at >= ? AND at < ?
    fields: multirow
";

const OF_PRESS: &str = r#"name = "x"

[[configuration]]
name = "a"
instance = "r4.4xlarge"
data_volume = { type = "gp2", size_gib = 320 }

[[workload]]
cql = "press.yaml"
weights = { insert = 1, newestArticle = 6, read = 3 }

[load]
concurrency = [10]
"#;

const OF_PLANT: &str = r#"name = "x"

[[configuration]]
name = "a"
instance = "r4.4xlarge"
data_volume = { type = "gp2", size_gib = 320 }

[[workload]]
cql = "plant.yml"
weights = { insert = 8, last-hour = 1, span = 1 }

[workload.tables.readings]
partitions = 5000
distribution = "latest"

[workload.statements.span]
range_rows = 60

[load]
concurrency = [10]
"#;

fn read(text: &str, profile: &str) -> Result<Experiment, Mistakes> {
    let file = |_: &str| Ok(profile.to_owned());
    parse(catalog::Catalog::built_in(), "x.toml", text, &ParseContext::files(&file), ReadFor::Anybody)
}

fn sound(text: &str, profile: &str) -> Experiment {
    read(text, profile).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

/// The line of a text, from 1, on which this is for the first time.
fn line_of(text: &str, what: &str) -> usize {
    text[..text.find(what).unwrap()].lines().count() + usize::from(text[..text.find(what).unwrap()].ends_with('\n'))
}

/// Names of the operations of a workload with their shares.
fn shares(experiment: &Experiment, workload: usize) -> Vec<(&'static str, f64)> {
    let workload = &experiment.workloads[workload];
    workload.kinds().map(|kind| (kind.name(), workload.share(kind))).collect()
}

fn notes(experiment: &Experiment) -> Vec<String> {
    let of_profiles = experiment.notes.iter().filter(|note| note.rule == "stress_profile");
    of_profiles.map(|note| note.message.to_string()).collect()
}

#[test]
fn articles_of_sites_are_loaded_and_asked_as_the_profile_says() {
    let experiment = sound(OF_PRESS, PRESS);
    assert_eq!(experiment.workloads[0].name, "press");
    assert_eq!(shares(&experiment, 0), [("stress_insert", 0.1), ("newestarticle", 0.6), ("stress_read", 0.3)]);
    // 20 to 60 articles of each site.
    assert_eq!(experiment.dataset.records, 50_000 * 40);
    let own = plan(&experiment).own.unwrap();
    assert_eq!((own.file.as_str(), own.tables()), ("press.yaml", vec!["articles".to_owned()]));
    assert_eq!(own.data.tables[0].rows, Size::Uniform { min: 20, max: 60 });
    let statements: Vec<(usize, Effect, usize)> =
        own.script.statements.iter().map(|of| (of.line, of.effect, of.markers())).collect();
    assert_eq!(
        statements,
        [
            (line_of(PRESS, "insert:"), Effect::Write, 6),
            (line_of(PRESS, "cql: SELECT *"), Effect::Read, 1),
            (line_of(PRESS, "cql: SELECT headline"), Effect::Read, 2),
        ]
    );
    assert_eq!(own.script.statements[2].consistency.as_deref(), Some("local_quorum"));
    assert_eq!(own.script.statements[1].cql("k"), "SELECT * FROM k.articles WHERE site = ? LIMIT 1");
    assert_eq!(
        notes(&experiment),
        [
            "press.yaml: requests choose partitions uniformly: cassandra-stress has that on its command line (-pop)",
            "press.yaml: keyspace_definition is not executed: the run has a keyspace of its own",
            "press.yaml: author: its population is not followed: its values hardly repeat",
            "press.yaml: an insert writes 1 of a partition's rows, the mean of what the profile says",
            "press.yaml: insert is reported as stress_insert",
            "press.yaml: newestArticle is reported as newestarticle",
            "press.yaml: read is reported as stress_read",
        ]
    );
}

#[test]
fn a_time_series_has_the_partitions_that_the_experiment_states() {
    let experiment = sound(OF_PLANT, PLANT);
    assert_eq!(shares(&experiment, 0), [("stress_insert", 0.8), ("last_hour", 0.1), ("span", 0.1)]);
    assert_eq!(experiment.dataset.records, 5_000 * 1_440);
    let own = experiment.own.as_ref().unwrap();
    assert_eq!(own.data.tables[0].population, Population::Of(Distribution::Latest));
    assert_eq!(own.data.statements["span"].range_rows, Some(60));
    let insert = &own.script.statements[0];
    assert_eq!((insert.batch, insert.markers()), (Some(Batch::Unlogged), 10 * 6));
    assert_eq!(
        notes(&experiment),
        [
            "plant.yml: span: what it asks for is of one row, not of several",
            "plant.yml: insert is reported as stress_insert",
            "plant.yml: last-hour is reported as last_hour",
        ]
    );
    // The profile has no population of `day`, so nobody knows how many partitions there are.
    let mistakes = read(&OF_PLANT.replace("partitions = 5000\n", ""), PLANT).unwrap_err();
    let all: Vec<_> = mistakes.list().iter().map(|mistake| (mistake.file.as_str(), mistake.line)).collect();
    assert_eq!(all, [("plant.yml", 3)], "{mistakes}");
    assert!(mistakes.to_string().contains("the population of the whole partition key is not stated"), "{mistakes}");
}

#[test]
fn further_workloads_of_a_profile_ask_for_other_operations_of_it() {
    let second = "[[workload]]\nname = \"reads\"\ncql = \"press.yaml\"\nweights = { read = 1 }\n\n[load]";
    let first = OF_PRESS.replace("weights = { insert = 1, newestArticle = 6, read = 3 }", "weights = { insert = 1 }");
    let experiment = sound(&first.replace("[load]", second), PRESS);
    assert_eq!(shares(&experiment, 0), [("stress_insert", 1.0)]);
    assert_eq!(shares(&experiment, 1), [("stress_read", 1.0)]);
    // What nobody asks for is no statement.
    assert_eq!(experiment.own.unwrap().script.statements.len(), 2);

    let unstated = first.replace("[load]", &second.replace("weights = { read = 1 }\n", ""));
    let mistakes = read(&unstated, PRESS).unwrap_err();
    assert_eq!(mistakes.list().len(), 1, "{mistakes}");
    assert!(mistakes.to_string().contains("does not state how often which operation is asked"), "{mistakes}");
}

#[test]
fn a_bound_names_a_statement_as_it_is_reported() {
    let bounded = OF_PRESS.replace("[load]", "[objective.statements]\nstress_read = { p99_ms = 5 }\n\n[load]");
    let bounds = sound(&bounded, PRESS).objective.unwrap().latency;
    assert_eq!(bounds[0].operation.unwrap().name(), "stress_read");
}

#[test]
fn what_a_profile_does_not_have_is_refused_with_what_it_has() {
    let weights = "weights = { insert = 1, newestArticle = 6, read = 3 }";
    let operations = "insert, newestArticle, read";
    for (instead, said) in [
        (String::new(), "press.yaml does not state how often which operation is asked".to_owned()),
        (String::new(), format!("its operations are {operations}")),
        (
            weights.replace("newestArticle", "newest"),
            format!("weights: press.yaml has no operation `newest`: it has {operations}"),
        ),
        ("weights = { read = 0 }".to_owned(), "all operations have weight 0".to_owned()),
        (
            format!("{weights}\n[workload.tables.posts]\npartitions = 5"),
            "press.yaml has no table `posts` (its table is articles)".to_owned(),
        ),
        (
            format!("{weights}\n[workload.statements.oldest]\nlimit = 5"),
            "press.yaml: no workload asks for an operation `oldest`".to_owned(),
        ),
        (
            format!("{weights}\n[workload.tables.articles]\nrows = 5"),
            "`rows` of a table of press.yaml: a profile of cassandra-stress states that itself".to_owned(),
        ),
        (
            format!("{weights}\n[workload.tables.articles]\ncolumns.body = {{ kind = \"bytes\", length = 5 }}"),
            "`columns` of a table of press.yaml: a profile of cassandra-stress states that itself".to_owned(),
        ),
        (
            format!("{weights}\n[workload.statements.newestArticle]\nrows = \"new\""),
            "rows = new is for writes".to_owned(),
        ),
    ] {
        let mistakes = read(&OF_PRESS.replace(weights, &instead), PRESS).unwrap_err();
        assert!(mistakes.to_string().contains(&said), "expected: {said}\n message: {mistakes}");
        assert_eq!(mistakes.list().len(), 1, "{mistakes}");
        assert_eq!(mistakes.list()[0].file, "x.toml", "{mistakes}");
    }
}

#[test]
fn a_mistake_of_the_profile_has_its_line_there() {
    let index = "columnspec:";
    for (replace, by, said) in [
        ("  partitions: fixed(1)", "  partitions: uniform(1..50)", "partitions other than fixed(1) is not supported"),
        ("    cluster: uniform(20..60)", "    cluster: qext(20..60,2)", "`qext(20..60,2)` is not supported"),
        ("  select: fixed(1)/60", "  select: fixed(1)/60\n  revisit: fixed(2)", "revisit of insert is not supported"),
        ("    consistencyLevel: LOCAL_QUORUM", "    consistencyLevel: MOST", "unknown consistency `MOST`"),
        ("    cql: SELECT headline", "    cql: TRUNCATE articles; SELECT headline", "TRUNCATE is neither"),
        (
            index,
            "extra_definitions:\n  - CREATE INDEX ON press.articles (author)\ncolumnspec:",
            "an index in a hidden table cannot be measured",
        ),
    ] {
        assert!(PRESS.contains(replace));
        let profile = PRESS.replacen(replace, by, 1);
        let mistakes = read(OF_PRESS, &profile).unwrap_err();
        let first = &mistakes.list()[0];
        assert!(first.message.contains(said), "expected: {said}\n message: {mistakes}");
        let line = line_of(&profile, by) + usize::from(by.contains("revisit"));
        assert_eq!((first.file.as_str(), first.line), ("press.yaml", line), "{mistakes}");
    }
}
