//! `iopslab db` and `iopslab load`: what means something to another product alone is refused before anybody is asked.

use crate::support::{Laboratory, one_line};

/// Before anything is fetched or made.
#[test]
fn a_local_postgresql_takes_nothing_that_is_cassandras() {
    let lab = Laboratory::new();
    for (flag, why) in [
        (["--nodes", "2"], "--nodes: PostgreSQL is started as one node"),
        (["--heap-mib", "512"], "--heap-mib: PostgreSQL has no Java heap"),
    ] {
        let stderr = lab.exits(2, &[&["db", "start", "postgresql"][..], &flag[..]].concat()).stderr;
        assert!(one_line(&stderr).contains(why), "{stderr}");
        assert!(one_line(&stderr).contains("leave it out: iopslab db start postgresql"), "{stderr}");
    }
    let stderr = lab.exits(2, &["db", "start", "mongodb"]).stderr;
    assert!(stderr.contains("postgresql"), "the databases that there are: {stderr}");
}

/// What means something to another product alone is refused before anybody is asked.
#[test]
fn a_load_takes_the_flags_of_its_product_alone() {
    let lab = Laboratory::new();
    let asked = |code: i32, flags: &[&str]| {
        let usual = ["load", "--workload", "a", "--duration", "1s", "--warmup", "0s"];
        one_line(&lab.exits(code, &[&usual[..], flags].concat()).stderr)
    };
    let postgresql = ["--database", "postgresql", "--hosts", "127.0.0.1:9"];
    for (flags, said) in [
        (&["--keyspace", "lab"][..], "--keyspace: PostgreSQL has nothing for it help: name its database by --dbname"),
        (&["--consistency", "one"][..], "--consistency: PostgreSQL has nothing for it"),
        (&["--load-data", "--replication", "1"][..], "--replication: PostgreSQL has nothing for it"),
        (&["--hosts", "db2"][..], "a second of --hosts: PostgreSQL has nothing for it"),
        (
            &["--concurrency", "901"][..],
            "--concurrency 901: PostgreSQL takes 900 requests in flight at the most help: state 900",
        ),
    ] {
        let stderr = asked(2, &[&postgresql[..], flags].concat());
        assert!(stderr.contains(said), "{stderr}");
    }
    for flag in ["--dbname", "--schema"] {
        let stderr = asked(2, &["--hosts", "127.0.0.1:9", flag, "lab"]);
        assert!(stderr.contains("--database postgresql; here --keyspace"), "{stderr}");
    }
    for data in [&["--threads", "0"][..], &["--load-data"][..]] {
        let stderr = asked(1, &[&postgresql[..], data].concat());
        let help = "help: is a PostgreSQL listening there that has the database ycsb? try: iopslab db start postgresql";
        assert!(stderr.contains("127.0.0.1:9") && stderr.contains(help), "{stderr}");
    }
}
