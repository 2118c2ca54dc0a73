//! A PostgreSQL that somebody else owns: its users have passwords, and one of them comes in encrypted alone.

use std::cell::RefCell;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::time::{Duration, Instant};

use database::postgresql::{Admin, PostgresConnect, PostgresDriver, ServerViews};
use database::{Client as _, ExistingError, Found, NodePlan, Refusal, TableAt, with_client};
use engine::Driver as _;
use experiment::{Access, Dataset, KeyFormat, Login, PasswordSource, Pem, Settings, TableBefore, Tls};
use profile::{CountedBy, NodeReading, NotRead, Operations, TableName};

use crate::stage::{DATASET, Guarded, Load, PATIENCE, Stage, TABLE};
use crate::{POSTGRESQL, drive, key};

const DATABASE: &str = "postgres";
/// `sealed` comes in by TLS alone; `iopslab`, who asks where no user is stated, is asked for a password.
const RULES: &str = "local all postgres trust\n\
                     hostssl all sealed all scram-sha-256\n\
                     host all bench all scram-sha-256\n\
                     host all iopslab all scram-sha-256\n\
                     host all watcher all scram-sha-256\n";

/// A server with two users that may make schemas, and what its certificate is signed by.
struct Theirs {
    admin: Admin,
    _node: Guarded,
    stage: Stage,
    plan: NodePlan,
    authority: String,
}

impl Theirs {
    fn start() -> Self {
        let stage = Stage::of(&POSTGRESQL);
        let plan = stage.plan("theirs", Settings::default());
        let node = stage.start(&plan);
        let names = vec![plan.address.to_string()];
        let signs = rcgen::KeyPair::generate().unwrap();
        let certificate = rcgen::CertificateParams::new(names).unwrap().self_signed(&signs).unwrap().pem();
        let data = &plan.directories.data[0];
        let owner = data.metadata().unwrap();
        for (name, text) in [("server.crt", certificate.clone()), ("server.key", signs.serialize_pem())] {
            let path = data.join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
            chown(&path, Some(owner.uid()), Some(owner.gid())).unwrap();
        }
        std::fs::write(plan.directories.own.join("conf/pg_hba.conf"), RULES).unwrap();
        let theirs = Self { admin: socket(&plan), _node: node, stage, plan, authority: certificate };
        theirs.run(&[
            "CREATE ROLE bench LOGIN PASSWORD 'hunter2'",
            "CREATE ROLE sealed LOGIN PASSWORD 'hunter3' IN ROLE bench",
            "GRANT CREATE ON DATABASE postgres TO bench",
            "ALTER SYSTEM SET ssl = on",
        ]);
        theirs.reload("5MB");
        theirs
    }

    /// Has its configuration read again: whoever connects after that is let in by it.
    fn reload(&self, work_mem: &str) {
        let set = format!("ALTER SYSTEM SET work_mem = '{work_mem}'");
        self.run(&[set.as_str(), "SELECT pg_reload_conf()"]);
        let shown = || socket(&self.plan).rows("SHOW work_mem", &[], PATIENCE).unwrap()[0].get::<_, String>(0);
        eventually("its configuration is read again", || shown() == work_mem);
    }

    /// By its superuser.
    fn run(&self, statements: &[&str]) {
        let statements: Vec<String> = statements.iter().map(|text| (*text).to_owned()).collect();
        self.admin.run(&statements).unwrap_or_else(|error| panic!("{error}"));
    }

    fn number(&self, query: &str) -> i64 {
        self.admin.number(query, &[]).unwrap_or_else(|error| panic!("{error}"))
    }

    fn at(&self, (user, password): (&str, &str), schema: &str, tls: Option<Tls>) -> TableAt {
        let login = Login {
            user: user.to_owned(),
            password: password.to_owned(),
            source: PasswordSource::Environment("PGPASSWORD".to_owned()),
        };
        let access = Access { login: Some(login), tls, schema: Some(schema.to_owned()), ..Access::default() };
        TableAt { keyspace: DATABASE.to_owned(), access, ..self.stage.table(&self.plan) }
    }

    /// By the user who needs no TLS.
    fn bench(&self, schema: &str) -> TableAt {
        self.at(("bench", "hunter2"), schema, None)
    }
}

fn socket(plan: &NodePlan) -> Admin {
    Admin::connect(&plan.directories.own.join("socket"), plan.ports.clients, DATABASE, PATIENCE).unwrap()
}

fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "not within its time: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn take(at: &TableAt, dataset: &Dataset) -> Result<Found, ExistingError> {
    PostgresConnect::to(at.clone()).take(dataset, KeyFormat::default(), 1).map(|(found, _)| found)
}

fn load(at: &TableAt) {
    with_client(&postgresql_model::POSTGRESQL, Load(at.clone())).unwrap();
}

fn maintained(at: &TableAt) -> TableBefore {
    PostgresConnect::to(at.clone()).maintain().unwrap().unwrap()
}

/// Why nobody is let in.
fn refusal(at: &TableAt) -> Refusal {
    match take(at, &DATASET) {
        Err(ExistingError::Connect { refusal, .. }) => refusal,
        other => panic!("{other:?}"),
    }
}

#[test]
fn postgresql_of_somebody_else_is_loaded_once_and_what_is_not_iopslabs_stays_as_it_is() {
    let theirs = Theirs::start();
    let lab = theirs.bench("lab");
    let Refusal::Login { user, said, .. } = refusal(&theirs.at(("bench", "guessed"), "lab", None)) else {
        panic!("it lets in whoever guesses")
    };
    assert!(user == "bench" && said.contains("password authentication failed") && !said.contains("guessed"), "{said}");

    let nobody = TableAt { access: Access::default(), ..lab.clone() };
    assert_eq!(refusal(&nobody), Refusal::NoLogin);

    // Loaded once, and found again.
    assert_eq!(take(&lab, &DATASET).unwrap(), Found::Missing);
    load(&lab);
    PostgresConnect::to(lab.clone()).loaded(&DATASET, KeyFormat::default()).unwrap();
    assert_eq!(take(&lab, &DATASET).unwrap(), Found::Whole);
    assert_eq!(theirs.number("SELECT count(*) FROM lab.usertable"), DATASET.records as i64);
    drive(&PostgresConnect::to(lab.clone()), async |driver: PostgresDriver| {
        assert_eq!(driver.read(&key(7), None).await, Ok(()));
        assert_eq!(driver.update(&key(7), &[(0, "new")]).await, Ok(()));
    });
    let other = Dataset { seed: 2, ..DATASET };
    let refused = take(&lab, &other).unwrap_err().to_string();
    assert!(refused.starts_with("lab.usertable holds another data set: 2000 records of 3 x 40 B"), "{refused}");

    // What an interrupted loading has left is loaded again, whole.
    let half = theirs.bench("half");
    assert_eq!(take(&half, &DATASET).unwrap(), Found::Missing);
    let refused = PostgresConnect::to(half.clone()).loaded(&DATASET, KeyFormat::default()).unwrap_err().to_string();
    assert!(refused.contains("0 of 2000 records are there"), "{refused}");
    load(&half);
    assert_eq!(take(&half, &DATASET).unwrap(), Found::Missing);
    assert_eq!(theirs.number("SELECT count(*) FROM half.usertable"), 0);

    // A table of the same name that iopslab has not made, empty or not, in a schema in which it may make some.
    theirs.run(&["CREATE SCHEMA shop", "CREATE TABLE shop.usertable (a int)", "GRANT ALL ON SCHEMA shop TO bench"]);
    let refused = take(&theirs.bench("shop"), &DATASET).unwrap_err();
    assert!(matches!(&refused, ExistingError::NotMade { table } if table == "shop.usertable"), "{refused}");
    let names = "SELECT count(*) FROM pg_tables WHERE schemaname = 'shop'";
    assert_eq!(theirs.number(names), 1, "nothing was made beside it");
    // A view has its name, too.
    let view = "CREATE VIEW views.usertable AS SELECT 1";
    theirs.run(&["CREATE SCHEMA views", view, "GRANT ALL ON SCHEMA views TO bench"]);
    let refused = take(&theirs.bench("views"), &DATASET).unwrap_err();
    assert!(matches!(refused, ExistingError::NotMade { .. }), "{refused}");
    // Whoever may read and write the table, and not vacuum it.
    theirs.run(&["ALTER TABLE lab.usertable OWNER TO postgres", "GRANT SELECT, UPDATE ON lab.usertable TO bench"]);
    let refused = take(&lab, &DATASET).unwrap_err().to_string();
    assert!(refused.contains("VACUUM (ANALYZE) \"lab\".\"usertable\": this user may not"), "{refused}");
    theirs.run(&["GRANT MAINTAIN ON lab.usertable TO bench"]);
    assert_eq!(take(&lab, &DATASET).unwrap(), Found::Whole);
    // What was noted for a table that is gone says nothing of another one in its place.
    theirs.run(&["DROP TABLE lab.usertable", "CREATE TABLE lab.usertable (a int)"]);
    let refused = take(&lab, &DATASET).unwrap_err();
    assert!(matches!(refused, ExistingError::NotMade { .. }), "{refused}");
}

#[test]
fn postgresql_of_somebody_else_is_brought_to_rest_as_far_as_its_user_may() {
    let theirs = Theirs::start();
    let lab = theirs.bench("lab");
    take(&lab, &DATASET).unwrap();
    load(&lab);
    let done = "SELECT num_requested FROM pg_stat_checkpointer";
    let before = theirs.number(done);
    let table = maintained(&lab);
    assert_eq!(table.bytes as i64, theirs.number(&format!("SELECT pg_total_relation_size('lab.{TABLE}')")));
    let why = table.no_checkpoint.unwrap();
    assert!(why.starts_with("permission denied"), "{why}");
    assert_eq!(theirs.number(done), before);
    theirs.run(&["GRANT pg_checkpoint TO bench"]);
    assert_eq!(maintained(&lab).no_checkpoint, None);
    eventually("a checkpoint is counted", || theirs.number(done) > before);
    let vacuums = "SELECT vacuum_count FROM pg_stat_user_tables WHERE schemaname = 'lab' AND relname = 'usertable'";
    eventually("both vacuums are counted", || theirs.number(vacuums) == 2);
}

#[test]
fn postgresql_of_somebody_else_is_asked_over_tls_where_it_wants_that() {
    let theirs = Theirs::start();
    let pem = |text: &str| Pem { file: "ca.pem".to_owned(), text: text.to_owned() };
    let tls = |text: &str| Some(Tls { authorities: Some(pem(text)), identity: None, verify_host_name: true });
    let sealed = |tls: Option<Tls>| theirs.at(("sealed", "hunter3"), "lab", tls);

    let plain = refusal(&sealed(None));
    assert!(matches!(plain, Refusal::Unencrypted { .. }), "{plain}");
    assert!(plain.help().unwrap().contains("state tls"));
    let stranger = rcgen::KeyPair::generate().unwrap();
    let stranger = rcgen::CertificateParams::new(Vec::new()).unwrap().self_signed(&stranger).unwrap().pem();
    assert_eq!(refusal(&sealed(tls(&stranger))), Refusal::Authority { trusted: "ca.pem".to_owned() });

    let at = sealed(tls(&theirs.authority));
    assert_eq!(take(&at, &DATASET).unwrap(), Found::Missing);
    load(&at);
    PostgresConnect::to(at.clone()).loaded(&DATASET, KeyFormat::default()).unwrap();
    assert_eq!(take(&at, &DATASET).unwrap(), Found::Whole);
    drive(&PostgresConnect::to(at), async |driver: PostgresDriver| {
        assert_eq!(driver.read(&key(7), None).await, Ok(()));
    });
    // A server without it says so.
    theirs.run(&["ALTER SYSTEM SET ssl = off"]);
    theirs.reload("6MB");
    assert_eq!(refusal(&sealed(tls(&theirs.authority))), Refusal::Plain);
}

/// By a user who owns nothing, and may do nothing with the tables.
#[test]
fn postgresql_of_somebody_else_shows_a_stranger_what_is_done_with_its_tables() {
    // What a connection has counted is seen at once.
    const COUNTED: &str = "SELECT pg_stat_force_next_flush()";
    let theirs = Theirs::start();
    theirs.run(&[
        "CREATE ROLE watcher LOGIN PASSWORD 'hunter4'",
        "CREATE TABLE public.orders (id int PRIMARY KEY, a text, b text)",
        "INSERT INTO public.orders SELECT i, repeat('x', 100), 'y' FROM generate_series(1, 1000) i",
        // Else those rows would count once more than the analysis finds them.
        COUNTED,
        "ANALYZE public.orders",
        COUNTED,
    ]);
    let mut views = ServerViews::connect(theirs.at(("watcher", "hunter4"), "public", None)).unwrap();
    let cluster = views.cluster().unwrap();
    assert_eq!((cluster.name.as_str(), cluster.nodes, cluster.counted_by), (DATABASE, 1, CountedBy::Postgresql));
    assert!(cluster.not_read.is_empty() && cluster.settings.contains_key("shared_buffers"), "{cluster:?}");
    let orders = TableName { keyspace: "public".to_owned(), table: "orders".to_owned() };
    let schema = cluster.tables.iter().find(|table| table.name == orders).unwrap();
    assert_eq!((schema.partition_key, schema.columns), (1, 2));

    let (before, not_read) = views.read(0.0, true).unwrap();
    // No extension is installed there.
    let not_read: Vec<&str> = not_read.iter().map(|missing| missing.what.as_str()).collect();
    assert_eq!(not_read, ["pg_stat_statements"]);
    let table = before.tables[&orders];
    assert_eq!(table.partitions, Some(1_000.0));
    let row_bytes = table.mean_partition_bytes.unwrap();
    assert!((100.0..400.0).contains(&row_bytes) && table.disk_mib.unwrap() > 0.1, "{table:?}");
    assert!(before.counted["postgresql_wal_bytes"] > 0.0 && before.caches["shared_buffers"].hits > 0.0, "{before:?}");

    let reads = ["SELECT a FROM public.orders WHERE id = 7"; 10];
    let writes = ["UPDATE public.orders SET b = 'z' WHERE id = 3"; 5];
    theirs.run(&[reads.as_slice(), &writes, &[COUNTED]].concat());
    let (after, _) = views.read(1.0, false).unwrap();
    let done = after.tables[&orders].clients.unwrap().since(table.clients.unwrap());
    assert_eq!(done, Operations { reads: 10.0, scans: 0.0, writes: 5.0 });
    assert_eq!((after.generation, after.tables[&orders].disk_mib), (before.generation, table.disk_mib));

    // A connection that was cut off is made anew by the next look.
    let views = RefCell::new(views);
    theirs.run(&["SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'watcher'"]);
    // Within a look, the rest of it is missing.
    let is_whole = |(_, not_read): (NodeReading, Vec<NotRead>)| not_read.len() == 1;
    eventually("the connection is cut off", || !views.borrow_mut().read(2.0, false).is_ok_and(is_whole));
    views.borrow_mut().read(3.0, false).unwrap();
}
