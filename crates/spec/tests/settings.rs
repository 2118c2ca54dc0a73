//! Settings of a configuration: which can be stated, which are iopslab's own, and where they can be obeyed.

mod story;

use spec::{Beside, Mistakes, Provider, parse_for, setups};
use story::{GOOD, accepted, each_refused, nothing, refused, with};

const VOLUME: &str = "data_volume = { type = \"gp2\", size_gib = 320 }";

/// The sound file with these lines below `[configuration.settings]`.
fn settings(lines: &str) -> String {
    with(VOLUME, &format!("{VOLUME}\n[configuration.settings]\n{lines}"))
}

fn refused_for(text: &str, provider: Provider) -> Mistakes {
    let beside = Beside::files(&nothing);
    parse_for(catalog::Catalog::built_in(), "x.toml", text, &beside, provider).expect_err("a file that is refused")
}

#[test]
fn options_of_the_jvm_go_to_the_configuration_as_they_stand_and_cost_nothing() {
    let plain = accepted(GOOD);
    assert!(plain.configurations[0].settings.is_empty());
    let stated = "jvm = [\"-XX:TieredStopAtLevel=1\", \"-Xss512k\", \"-Dname=value\", \"-ea:org.example\"]";
    let inline = with(VOLUME, &format!("{VOLUME}\nsettings = {{ {stated} }}"));
    for text in [settings(stated), inline] {
        let experiment = accepted(&text);
        let expected = ["-XX:TieredStopAtLevel=1", "-Xss512k", "-Dname=value", "-ea:org.example"];
        assert_eq!(experiment.configurations[0].settings.jvm, expected);
        assert_eq!(setups(&experiment)[0].settings, experiment.configurations[0].settings);
        assert_eq!(experiment.money, plain.money);
    }
}

/// What an earlier version has written says nothing of settings.
#[test]
fn setups_without_settings_are_those_that_have_none() {
    let kept = serde_json::to_value(setups(&accepted(GOOD))).unwrap();
    assert!(!kept.to_string().contains("settings"), "{kept}");
    let read: spec::Setups = serde_json::from_value(kept).unwrap();
    assert!(read[0].settings.is_empty());
}

#[test]
fn what_iopslab_sets_itself_is_refused_with_the_reason() {
    let memory = "iopslab sets the memory of a node (memory follows memory_limit_gib of the configuration";
    let files = "iopslab decides which files a node reads and writes";
    let ends = "iopslab decides how a node starts and ends";
    let cases = [
        ("-Xms1g", memory),
        ("-Xmx2g", memory),
        ("-Xmn100m", memory),
        ("-XX:MaxHeapSize=2g", memory),
        ("-XX:MaxRAMPercentage=50", memory),
        ("-XX:MaxDirectMemorySize=1g", memory),
        ("-XX:-AlwaysPreTouch", memory),
        ("-XX:ActiveProcessorCount=8", "iopslab sets the CPUs of a node"),
        ("-Dcom.sun.management.jmxremote.port=7199", "management port (JMX)"),
        ("-Dcassandra.jmx.local.port=7199", "management port (JMX)"),
        ("-Dcassandra.config=file:///etc/cassandra.yaml", files),
        ("-Dcassandra.storagedir=/data", files),
        ("-Djava.io.tmpdir=/tmp", files),
        ("-XX:HeapDumpPath=/tmp", files),
        ("-XX:+HeapDumpOnOutOfMemoryError", files),
        ("-javaagent:/opt/agent.jar", files),
        (
            "-Xlog:gc*:file=/tmp/gc.log",
            "iopslab reads the log of the garbage collector",
        ),
        ("-verbose:gc", "iopslab reads the log of the garbage collector"),
        ("-Xshare:off", ends),
        ("-Xrs", ends),
        ("-XX:-ExitOnOutOfMemoryError", ends),
        ("-Dcassandra.memtable.row_overhead_size=1", ends),
        (
            "-Dcassandra.replace_address=10.0.0.1",
            "to which cluster a node belongs",
        ),
        ("-Dcassandra.initial_token=1", "to which cluster a node belongs"),
        ("-Djava.net.preferIPv4Stack=false", "to which cluster a node belongs"),
        (
            "-Dcassandra.settings.concurrent_reads=8",
            "keys of cassandra.yaml are no options",
        ),
        ("-XX:+IgnoreUnrecognizedVMOptions", "or nobody knows what is in force"),
    ];
    for (option, why) in cases {
        let message = refused(&settings(&format!("jvm = [\"{option}\"]"))).to_string();
        let expected = format!("x.toml:11:8: {option}: ");
        assert!(message.starts_with(&expected) && message.contains(why), "{message}");
    }
}

#[test]
fn what_is_no_option_of_a_jvm_is_refused_at_its_place() {
    each_refused(&[
        (
            settings("jvm = [\"-Xss512k\", \"TieredStopAtLevel=1\"]"),
            "x.toml:11:20: `TieredStopAtLevel=1` is no option of the JVM: they begin with `-`",
        ),
        (settings("jvm = [\"\"]"), "`` is no option of the JVM"),
        (
            settings("jvm = [\"-XX:+UseZGC -Xss1m\"]"),
            "is more than one word (each option is an entry of its own",
        ),
        (settings("jvm = [\"-version\"]"), "`-version` sets nothing of a JVM"),
        (settings("jvm = [\"-cp\", \"a.jar\"]"), "`-cp` sets nothing of a JVM"),
        (settings("jvm = [\"-X\"]"), "`-X` sets nothing of a JVM"),
        (
            settings("jvm = [\"--add-opens\"]"),
            "`--add-opens` sets nothing of a JVM",
        ),
        (
            settings("jvm = [\"-XX:+UseZGC\", \"-XX:-UseZGC\"]"),
            "x.toml:11:23: -XX:UseZGC is set twice",
        ),
        (
            settings("jvm = \"-Xss1m\""),
            "jvm cannot be the text \"-Xss1m\" (a list in brackets, such as jvm = [\"-XX:TieredStopAtLevel=1\"]",
        ),
        (settings("jvm = [7]"), "jvm cannot be the number 7"),
        (
            settings("jmv = []"),
            "x.toml:11:1: unknown key `jmv` (did you mean `jvm`?",
        ),
        (
            with(VOLUME, &format!("{VOLUME}\nsettings = 7")),
            "settings cannot be the number 7",
        ),
    ]);
}

#[test]
fn settings_are_refused_where_no_database_is_started() {
    let text = settings("jvm = [\"-Xss512k\"]");
    let simulated = refused_for(&text, Provider::Simulated).to_string();
    assert!(
        simulated.contains("settings of a: a simulation has no database to set them in"),
        "{simulated}"
    );
    let beside = Beside::files(&nothing);
    parse_for(catalog::Catalog::built_in(), "x.toml", &text, &beside, Provider::Local).unwrap();

    let target = "[target]\nhosts = [\"10.0.0.1:9042\"]\nkeyspace = \"iopslab\"\n\n[dataset]";
    let existing = refused(&text.replace("[dataset]", target)).to_string();
    assert!(
        existing.contains("settings of a: iopslab changes none of a cluster that exists"),
        "{existing}"
    );
}
