//! User profiles of cassandra-stress: what they become, and which lines are refused.

use statements::{
    Batch, Data, Effect, Generator, Mistake, Size, StressProfile, parse_stress, stress_operations, stress_statement,
};

const POSTS: &str = r"# A blog; it isn't one that exists.
keyspace: blog

keyspace_definition: |
  CREATE KEYSPACE blog WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};

table: posts
table_definition: |
  CREATE TABLE blog.posts (
    site text,
    at timeuuid,
    title text,   -- shown
    tags set<text>,
    votes map<text, int>,
    PRIMARY KEY (site, at)
  ) WITH comment = 'posts; all of them'

columnspec:
  - name: site
    size: uniform(20..30)         # a host name
    population: uniform(1..10K)
  - name: at
    cluster: fixed(200)
  - name: title
    size: gaussian(10..200)
  - name: tags
    size: fixed(3)

insert:
  partitions: fixed(1)
  select: fixed(1)/100
  batchtype: UNLOGGED

queries:
  onePost:
    cql: select * from blog.posts where site = ?
      and at = ? LIMIT 1
    fields: samerow
  timeline:
    cql: SELECT title FROM posts WHERE site = ? LIMIT 10;
    consistencyLevel: QUORUM
";

fn read(text: &str, asked: &[&str], partitions: Option<u64>) -> Result<StressProfile, Vec<Mistake>> {
    parse_stress(text, asked, partitions, &["one", "quorum"])
}

#[test]
fn a_profile_becomes_schema_data_and_statements() {
    assert_eq!(stress_operations(POSTS).unwrap(), ["insert", "onePost", "timeline"]);
    let StressProfile { script, table, notes } = read(POSTS, &["timeline", "insert", "onePost"], None).unwrap();
    assert_eq!(script.tables().collect::<Vec<_>>(), ["posts"]);
    let all: Vec<_> = script
        .statements
        .iter()
        .map(|statement| (statement.name.as_str(), statement.line, statement.effect, statement.markers()))
        .collect();
    // Lines are those of the profile: of `insert` itself, of a query that of its `cql`.
    let expected =
        [("stress_insert", 29, Effect::Write, 10), ("onepost", 36, Effect::Read, 2), ("timeline", 40, Effect::Read, 1)];
    assert_eq!(all, expected);
    assert_eq!((script.schema[0].line, &POSTS[script.schema[0].span.clone()]), (8, "table_definition: |"));
    // A hundredth of 200 rows: two of them in a batch.
    assert_eq!(script.statements[0].batch, Some(Batch::Unlogged));
    assert_eq!(script.statements[1].text, "select * from posts where site = ? and at = ? LIMIT 1");
    assert_eq!(script.statements[2].consistency.as_deref(), Some("quorum"));
    assert_eq!((table.partitions, &table.rows), (10_000, &Size::fixed(200)));
    let site = Generator::Bytes { length: Size::Uniform { min: 20, max: 30 }, compressibility: 0.0 };
    assert_eq!(table.columns["site"], site);
    assert_eq!(table.columns["tags"], Generator::Collection { size: Size::fixed(3), element: None, key: None });
    let Generator::Bytes { length, .. } = &table.columns["title"] else { panic!("{:?}", table.columns["title"]) };
    assert!((length.mean() - 105.0).abs() < 1.0 && length.max() == 200, "{length:?}");
    let data = Data { tables: vec![table], ..Data::default() };
    assert!(data.check(&script).is_empty());
    assert_eq!(
        notes,
        [
            "keyspace_definition is not executed: the run has a keyspace of its own",
            "insert is reported as stress_insert",
            "onePost is reported as onepost",
        ]
    );
}

#[test]
fn what_is_not_asked_is_no_statement_and_need_not_be_supported() {
    let profile = read(&POSTS.replace("select: fixed(1)/100", "select: fixed(1)/1"), &["timeline"], Some(50)).unwrap();
    assert_eq!(profile.script.statements.len(), 1);
    assert_eq!(profile.table.partitions, 50);
}

#[test]
fn a_statement_is_never_called_like_an_operation_of_ycsb() {
    let called = ["insert", "read", "Read-Latest", "5min", "timeline"].map(stress_statement);
    assert_eq!(called, ["stress_insert", "stress_read", "read_latest", "q5min", "timeline"]);
}

#[test]
fn counters_and_conditions_are_updates() {
    let counters = "table: seen\ntable_definition: CREATE TABLE seen (page text PRIMARY KEY, hits counter)\n";
    let profile = read(counters, &["insert"], Some(10)).unwrap();
    assert_eq!(profile.script.statements[0].text, r#"UPDATE "seen" SET "hits" = "hits" + ? WHERE "page" = ?"#);
    assert_eq!(profile.notes[0], "page: keys of text have at least 16 bytes");
    let table = "table: t\ntable_definition: CREATE TABLE t (k int PRIMARY KEY, v int) -- a table\n";
    let profile = read(&format!("{table}insert:\n  condition: IF v = NULL\n"), &["insert"], Some(10)).unwrap();
    let insert = &profile.script.statements[0];
    assert_eq!((insert.text.as_str(), insert.line), (r#"UPDATE "t" SET "v" = ? WHERE "k" = ? IF v = NULL"#, 4));
}

#[test]
fn rows_are_the_product_of_clusters() {
    let table = "table: t\ntable_definition: CREATE TABLE t (k int, a int, b int, c int, PRIMARY KEY (k, a, b, c))\n";
    let spec = "columnspec:\n  - name: a\n    cluster: uniform(1..1K)\n  - name: b\n    cluster: gaussian(1..1K)\n";
    let profile = read(&format!("{table}{spec}queries:\n  q:\n    cql: SELECT * FROM t\n"), &["q"], Some(10)).unwrap();
    let Size::Histogram { sizes } = &profile.table.rows else { panic!("{:?}", profile.table.rows) };
    // 500.5 rows of each in the mean, and not a number for each pair of them.
    assert!(sizes.len() <= 200 && (profile.table.rows.mean() / 250_500.0 - 1.0).abs() < 0.02, "{}", sizes.len());
    let both = format!("{table}{spec}").replace("1..1K", "1..10").replace("gaussian", "uniform");
    let rows = read(&format!("{both}queries:\n  q:\n    cql: SELECT * FROM t\n"), &["q"], Some(10)).unwrap().table.rows;
    assert!((rows.mean() - 30.25).abs() < 1e-9, "{}", rows.mean());
}

#[test]
fn an_exponential_distribution_is_that_of_cassandra_stress() {
    let rows = |cluster: &str| {
        let table = "table: t\ntable_definition: CREATE TABLE t (k int, c int, PRIMARY KEY (k, c))\n";
        let spec = format!("columnspec:\n  - name: c\n    cluster: {cluster}\n");
        let text = format!("{table}{spec}queries:\n  q:\n    cql: SELECT * FROM t\n");
        read(&text, &["q"], Some(10)).unwrap().table.rows
    };
    let Size::Histogram { sizes } = rows("exp(1..10)") else { panic!("{:?}", rows("exp(1..10)")) };
    assert_eq!(sizes.iter().map(|(size, _)| *size).collect::<Vec<_>>(), (1..=10).collect::<Vec<u64>>());
    let all: f64 = sizes.iter().map(|(_, weight)| weight).sum();
    assert!((all - 1.0).abs() < 1e-9 && sizes[0].1 > sizes[1].1, "{sizes:?}");
    // The root of a ninth is above the range.
    assert!((sizes[9].1 - 1.0 / 3.0).abs() < 1e-9, "{sizes:?}");
    // 1 + m (1 - 1 / root of 999) - 1/2 of those below the end, where m = 999 / (ln(999) / 2).
    let many = rows("EXP(1..1000)");
    assert!((many.mean() / 280.7 - 1.0).abs() < 0.005 && (many.min(), many.max()) == (1, 1_000), "{}", many.mean());
    assert_eq!(rows("exp(7..7)"), Size::fixed(7));
    assert_eq!(rows("exp(1..2)").max(), 2);
}

#[test]
fn the_population_of_the_whole_key_says_how_many_partitions_there_are() {
    let profile = |columns: &str| {
        let table = "table: t\ntable_definition: CREATE TABLE t (a int, b int, PRIMARY KEY ((a, b)))\n";
        read(&format!("{table}columnspec:\n{columns}"), &["insert"], None)
    };
    let (a, b) = ("  - name: a\n    population: uniform(5..8)\n", "  - name: b\n    population: gaussian(1..10M)\n");
    let both = profile(&format!("{a}{b}")).unwrap();
    assert_eq!(both.table.partitions, 40_000_000);
    let note = "b: its population says how many partitions there are, not how often each is asked for";
    assert!(both.notes.iter().any(|said| said == note), "{:?}", both.notes);
    assert_eq!(profile(a).unwrap_err()[0].line, 2);
}

#[test]
fn lines_that_are_not_supported_are_refused() {
    let table = "table: t\ntable_definition: CREATE TABLE t (k int, c int, PRIMARY KEY (k, c))\n";
    for (lines, line, message) in [
        ("token_range_queries:\n  all:\n    columns: '*'\n", 3, "token_range_queries is not supported"),
        (
            "columnspec:\n  - name: c\n    cluster: extreme(1..10,2)\n",
            5,
            "`extreme(1..10,2)` is not supported: fixed(n), uniform(a..b), seq(a..b), gaussian(a..b) and exp(a..b) are",
        ),
        ("columnspec:\n  - name: d\n    size: fixed(1)\n", 4, "the table has no column d"),
        ("columnspec: none\n", 3, "columnspec is a list of columns: `- name: COLUMN`"),
        ("extra_definitions: CREATE TYPE x (y int)\n", 3, "extra_definitions is a list of statements: `- CREATE ...`"),
        ("insert:\n  partitions: uniform(1..5)\n", 4, "partitions other than fixed(1) is not supported"),
        ("insert:\n  select: fixed(1)\n", 4, "`fixed(1)` is no ratio like fixed(1)/10"),
        ("insert:\n  select: fixed(3)/2\n", 4, "`fixed(3)/2` is no share of a partition's rows: it is above 1"),
        ("insert:\n  batchtype: BIG\n", 4, "unknown batchtype BIG: LOGGED, UNLOGGED or COUNTER"),
        (
            "columnspec:\n  - name: c\n    cluster: fixed(500)\n",
            2,
            "an insert would write 500 rows at once, more than 100: state `select`",
        ),
        ("queries:\n  q:\n    fields: samerow\n", 4, "q has no cql"),
        ("queries:\n  q:\n    cql: SELECT * FROM t\n    fields: all\n", 6, "unknown fields all: samerow or multirow"),
        (
            "queries:\n  q:\n    cql: SELECT * FROM t\n    consistencyLevel: most\n",
            6,
            "unknown consistency `most`: valid are one, quorum",
        ),
        (
            "queries:\n  q:\n    cql: SELECT * FROM t\n    serialConsistencyLevel: SERIAL\n",
            6,
            "serial is for statements with IF, which q has not",
        ),
        (
            "queries:\n  q:\n    cql: TRUNCATE t\n",
            5,
            "TRUNCATE is neither of a schema (CREATE, ALTER) nor of a load \
             (SELECT, INSERT, UPDATE, DELETE, BEGIN BATCH)",
        ),
        ("queries: {a: b}\n", 3, "`{a: b}` is YAML that is not read here: write it as lines of `key: value`"),
        ("table: u\n", 3, "table is stated twice"),
        ("insert:\n\tselect: fixed(1)/1\n", 4, "a tab cannot indent"),
        ("insert\n", 3, "`key: value` is expected here"),
    ] {
        let text = format!("{table}{lines}");
        let names = stress_operations(&text).unwrap_or_default();
        let asked: Vec<&str> = names.iter().map(String::as_str).collect();
        let mistakes = read(&text, &asked, Some(10)).unwrap_err();
        let all: Vec<_> = mistakes.iter().map(|mistake| (mistake.line, mistake.message.as_str())).collect();
        assert_eq!(all, [(line, message)], "{lines}");
    }
    let mistakes = read(table, &["insert"], None).unwrap_err();
    let message = "the population of the whole partition key is not stated: state how many partitions the table has";
    assert_eq!((mistakes[0].line, mistakes[0].message.as_str()), (2, message));
    let mistakes = read(table, &["read"], Some(1)).unwrap_err();
    assert_eq!(mistakes[0].message, "read is asked, which the profile has not: it has insert");
    let mistakes = read(table, &[], Some(1)).unwrap_err();
    assert_eq!(mistakes[0].message, "no operation is asked: the profile has insert");
}
