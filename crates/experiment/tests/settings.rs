//! Settings of a configuration: which can be stated, which are iopslab's own, and where they can be obeyed.

use crate::story::{GOOD, accepted, each_refused, read, refused, with};
use experiment::{Mistakes, Provider, ReadFor, setups};

const VOLUME: &str = "data_volume = { type = \"gp2\", size_gib = 320 }";

/// The sound file with these lines below `[configuration.settings]`.
pub fn settings(lines: &str) -> String {
    with(VOLUME, &format!("{VOLUME}\n[configuration.settings]\n{lines}"))
}

pub fn refused_for(text: &str, provider: Provider) -> Mistakes {
    read(text, ReadFor::PlanOf(provider)).expect_err("a file that is refused")
}

#[test]
fn options_of_the_jvm_go_to_the_configuration_as_they_stand_and_cost_nothing() {
    let plain = accepted(GOOD);
    assert!(plain.configurations[0].settings.is_empty());
    let stated =
        "jvm = [\"-XX:TieredStopAtLevel=1\", \"-Xss512k\", \"-Dio.netty.eventLoopThreads=4\", \"-ea:org.example\"]";
    let inline = with(VOLUME, &format!("{VOLUME}\nsettings = {{ {stated} }}"));
    for text in [settings(stated), inline] {
        let experiment = accepted(&text);
        let expected = ["-XX:TieredStopAtLevel=1", "-Xss512k", "-Dio.netty.eventLoopThreads=4", "-ea:org.example"];
        assert_eq!(experiment.configurations[0].settings.options("jvm"), expected);
        assert_eq!(setups(&experiment)[0].settings, experiment.configurations[0].settings);
        assert_eq!(experiment.money, plain.money);
    }
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
        ("-Xlog:gc*:file=/tmp/gc.log", "iopslab reads the log of the garbage collector"),
        ("-verbose:gc", "iopslab reads the log of the garbage collector"),
        ("-Xshare:off", ends),
        ("-Xrs", ends),
        ("-XX:-ExitOnOutOfMemoryError", ends),
        ("-Dcassandra.memtable.row_overhead_size=1", ends),
        ("-Dcassandra.replace_address=10.0.0.1", "to which cluster a node belongs"),
        ("-Dcassandra.initial_token=1", "to which cluster a node belongs"),
        ("-Djava.net.preferIPv4Stack=false", "to which cluster a node belongs"),
        ("-Dcassandra.settings.concurrent_reads=8", "keys of cassandra.yaml are no options"),
        ("-XX:+IgnoreUnrecognizedVMOptions", "or nobody knows what is in force"),
        ("-Xrunjdwp:transport=dt_socket,address=*:1", "none of those that an experiment may state"),
        ("-Dio.netty.allocator.type=/tmp/x", "more than a number or a word"),
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
        (settings("jvm = [\"-XX:+UseZGC -Xss1m\"]"), "is more than one word (each option is an entry of its own"),
        (settings("jvm = [\"-version\"]"), "`-version` sets nothing of a JVM"),
        (settings("jvm = [\"-cp\", \"a.jar\"]"), "`-cp` sets nothing of a JVM"),
        (settings("jvm = [\"-X\"]"), "`-X` sets nothing of a JVM"),
        (settings("jvm = [\"--add-opens=a/b=ALL-UNNAMED\"]"), "`--add-opens=a/b=ALL-UNNAMED` sets nothing of a JVM"),
        (settings("jvm = [\"-XX:+UseZGC\", \"-XX:-UseZGC\"]"), "x.toml:11:23: -XX:UseZGC is set twice"),
        (
            settings("jvm = \"-Xss1m\""),
            "jvm cannot be the text \"-Xss1m\" (a list in brackets, such as jvm = [\"-XX:TieredStopAtLevel=1\"]",
        ),
        (settings("jvm = [7]"), "jvm cannot be the number 7"),
        (
            settings("jvm = [\"-XX:MaxGCPauseMilis=100\"]"),
            "-XX:MaxGCPauseMilis=100: there is no such option among those that an experiment may state (did you mean \
             `-XX:MaxGCPauseMillis`? docs/settings.md lists them)",
        ),
        (settings("jmv = []"), "x.toml:11:1: unknown key `jmv` (did you mean `jvm`?"),
        (with(VOLUME, &format!("{VOLUME}\nsettings = 7")), "settings cannot be the number 7"),
    ]);
}

#[test]
fn settings_are_refused_where_no_database_is_started() {
    let text = settings("jvm = [\"-Xss512k\"]");
    let simulated = refused_for(&text, Provider::Simulated).to_string();
    assert!(simulated.contains("settings of a: a simulation has no database to set them in"), "{simulated}");
    let (start, end) = (text.find("[[configuration]]").unwrap(), text.find("[[workload]]").unwrap());
    let second = text[start..end].replace("\"a\"", "\"b\"");
    let both = refused_for(&text.replacen("[[workload]]", &format!("{second}[[workload]]"), 1), Provider::Simulated);
    assert_eq!(both.list().len(), 1, "{both}");
    assert!(both.to_string().contains("settings of a and b: a simulation has no database"), "{both}");
    read(&text, ReadFor::PlanOf(Provider::Local)).unwrap();

    let target = "[target]\nhosts = [\"10.0.0.1:9042\"]\nkeyspace = \"iopslab\"\n\n[dataset]";
    let existing = refused(&text.replace("[dataset]", target)).to_string();
    assert!(existing.contains("settings of a: iopslab changes none of a cluster that exists"), "{existing}");
}

#[test]
fn keys_of_cassandra_yaml_and_options_of_the_table_go_to_the_configuration_and_cost_nothing() {
    let stated = "\ncassandra = { concurrent_reads = 64, read_request_timeout = \"10s\", compaction_throughput = \
                  \"16MiB/s\", file_cache_enabled = true, disk_access_mode = \"standard\", \
                  sstable = { selected_format = \"bti\" } }\n\
                  table = { compaction = { class = \"LeveledCompactionStrategy\", sstable_size_in_mb = 10 }, \
                  compression = { chunk_length_in_kb = 4 }, bloom_filter_fp_chance = 0.1 }\n\
                  host = { read_ahead_kb = 8 }\n";
    let experiment = accepted(&settings(stated));
    let of = &experiment.configurations[0].settings;
    assert_eq!(
        of.labels(),
        [
            "cassandra compaction_throughput = 16MiB/s",
            "cassandra concurrent_reads = 64",
            "cassandra disk_access_mode = standard",
            "cassandra file_cache_enabled = true",
            "cassandra read_request_timeout = 10s",
            "cassandra sstable = {\"selected_format\":\"bti\"}",
            "table bloom_filter_fp_chance = 0.1",
            "table compaction = LeveledCompactionStrategy, sstable_size_in_mb 10",
            // A compressor that is not named is that of the table of which nothing is said.
            "table compression = LZ4Compressor, chunk_length_in_kb 4",
            "host read_ahead_kb = 8",
        ]
    );
    assert_eq!(setups(&experiment)[0].settings, *of);
    assert_eq!(experiment.money, accepted(GOOD).money);
    let kept = serde_json::to_value(setups(&experiment)).unwrap();
    let read: experiment::Setups = serde_json::from_value(kept).unwrap();
    assert_eq!(read[0].settings, *of, "what is written is read as it was");
}

/// What decides the bytes of files is loaded apart; all else is set when a node starts.
#[test]
fn settings_that_shape_files_are_told_from_those_that_do_not() {
    let of_files = |lines: &str| {
        let setups = setups(&accepted(&settings(lines)));
        experiment::DataSetFiles::of(&setups[0]).settings.labels()
    };
    assert_eq!(
        of_files("cassandra = { concurrent_reads = 64 }\njvm = [\"-Xss1m\"]\nhost = { read_ahead_kb = 8 }"),
        [""; 0]
    );
    assert_eq!(
        of_files(
            "cassandra = { concurrent_reads = 64, column_index_size = \"64KiB\" }\ntable = { gc_grace_seconds = 10 }"
        ),
        ["cassandra column_index_size = 64KiB", "table gc_grace_seconds = 10"]
    );
    let three = |table: &str| {
        let setups = setups(&accepted(&settings(table)));
        experiment::DataSetFiles::of(&setups[0])
    };
    let (small, large) = ("table = { compression = { chunk_length_in_kb = 4 } }", "");
    assert_ne!(three(small), three(large));
    assert_eq!(three(small).label(), "table compression = LZ4Compressor, chunk_length_in_kb 4");
}

/// Wrong settings of forty kinds and more: each at its place, with what was expected.
#[test]
fn wrong_settings_are_refused_at_their_place() {
    let cassandra = |key: &str| settings(&format!("[configuration.settings.cassandra]\n{key}"));
    let table = |option: &str| settings(&format!("[configuration.settings.table]\n{option}"));
    let host = |key: &str| settings(&format!("[configuration.settings.host]\n{key}"));
    let cases: Vec<(String, &str)> = vec![
        // Names
        (
            cassandra("concurrent_read = 64"),
            "x.toml:12:1: cassandra.yaml has no key `concurrent_read` (did you mean `concurrent_reads`?)",
        ),
        (
            cassandra("zzz = 1"),
            "x.toml:12:1: cassandra.yaml has no key `zzz` (keys are those of this version's cassandra.yaml)",
        ),
        (
            cassandra("compaction_throughput_mb_per_sec = 64"),
            "`compaction_throughput_mb_per_sec` is the old name of `compaction_throughput` (write \
             compaction_throughput, with a unit: \"64MiB/s\")",
        ),
        (
            cassandra("read_request_timeout_in_ms = 5000"),
            "is the old name of `read_request_timeout` (write read_request_timeout, with a unit: \"10s\")",
        ),
        (
            cassandra("column_index_size_in_kb = 4"),
            "is the old name of `column_index_size` (write column_index_size, with a unit: \"16MiB\")",
        ),
        (cassandra("\"sstable.selected_format\" = \"bti\""), "cassandra.yaml has no key `sstable.selected_format`"),
        // Types
        (
            cassandra("concurrent_reads = \"64\""),
            "x.toml:12:20: concurrent_reads cannot be the text \"64\" (a whole number without quotes",
        ),
        (cassandra("concurrent_reads = 6.5"), "concurrent_reads cannot be the number 6.5"),
        (
            cassandra("memtable_cleanup_threshold = nan"),
            "memtable_cleanup_threshold cannot be the number NaN (finite numbers: not nan, not inf)",
        ),
        (
            cassandra(
                "memtable = { configurations = { own = { class_name = \"TrieMemtable\", \
                 parameters = { shards = inf } } } }",
            ),
            "finite numbers: not nan, not inf",
        ),
        (
            table("bloom_filter_fp_chance = nan"),
            "bloom_filter_fp_chance cannot be nan (finite numbers: not nan, not inf)",
        ),
        (
            cassandra("memtable_cleanup_threshold = \"0.3\""),
            "memtable_cleanup_threshold cannot be the text \"0.3\" (a number without quotes",
        ),
        (
            cassandra("file_cache_enabled = \"yes\""),
            "file_cache_enabled cannot be the text \"yes\" (file_cache_enabled = true or",
        ),
        (cassandra("file_cache_enabled = 1"), "file_cache_enabled cannot be the number 1"),
        (
            cassandra("read_request_timeout = 5000"),
            "read_request_timeout cannot be the number 5000 (a time in quotes, with its unit: \"500ms\")",
        ),
        (
            cassandra("read_request_timeout = \"5000\""),
            "read_request_timeout cannot be the text \"5000\" (a whole number with its unit, one of ms, s, m, h, d)",
        ),
        (cassandra("read_request_timeout = \"500us\""), "read_request_timeout cannot be the text \"500us\""),
        (cassandra("key_cache_save_period = \"500ms\""), "key_cache_save_period cannot be the text \"500ms\""),
        (cassandra("file_cache_size = \"512KiB\""), "file_cache_size cannot be the text \"512KiB\""),
        (cassandra("file_cache_size = \"16 MiB\""), "file_cache_size cannot be the text \"16 MiB\""),
        (cassandra("file_cache_size = \"1.5MiB\""), "file_cache_size cannot be the text \"1.5MiB\""),
        (cassandra("compaction_throughput = \"-1MiB/s\""), "compaction_throughput cannot be the text \"-1MiB/s\""),
        (
            cassandra("file_cache_size = 512"),
            "file_cache_size cannot be the number 512 (a size in quotes, with its unit: \"64MiB\")",
        ),
        (
            cassandra("file_cache_size = \"512MB\""),
            "file_cache_size cannot be the text \"512MB\" (a whole number with its unit, one of MiB, GiB)",
        ),
        (
            cassandra("compaction_throughput = \"64MiB\""),
            "compaction_throughput cannot be the text \"64MiB\" (a whole number with its unit, one of B/s, KiB/s, \
             MiB/s)",
        ),
        (cassandra("compaction_throughput = 64"), "compaction_throughput cannot be the number 64 (a rate in quotes"),
        (
            cassandra("disk_access_mode = \"mmaped\""),
            "disk_access_mode cannot be the text \"mmaped\" (did you mean \"mmap\"? valid: ",
        ),
        (cassandra("commitlog_sync = true"), "commitlog_sync cannot be true (valid: "),
        (cassandra("sstable = \"bti\""), "sstable cannot be the text \"bti\" (a table: sstable = { ... })"),
        (
            cassandra("sstable = { selectedformat = \"bti\" }"),
            "x.toml:12:13: sstable has no key `selectedformat` (did you mean `selected_format`?",
        ),
        (cassandra("commitlog_compression = { name = \"LZ4Compressor\" }"), "commitlog_compression"),
        // Keys of iopslab's own
        (
            cassandra("data_file_directories = [\"/data\"]"),
            "x.toml:12:1: data_file_directories: iopslab decides where the files of a node are (data_volume",
        ),
        (cassandra("commitlog_directory = \"/log\""), "commitlog_directory: iopslab decides where"),
        (
            cassandra("listen_address = \"10.0.0.1\""),
            "listen_address: iopslab decides at which addresses a node is reached",
        ),
        (cassandra("native_transport_port = 9043"), "native_transport_port: iopslab decides at which addresses"),
        (cassandra("num_tokens = 256"), "num_tokens: iopslab decides to which cluster a node belongs"),
        (cassandra("endpoint_snitch = \"SimpleSnitch\""), "endpoint_snitch: iopslab decides to which cluster"),
        (
            cassandra("authenticator = \"PasswordAuthenticator\""),
            "authenticator: iopslab reaches the nodes that it starts without passwords",
        ),
        (
            cassandra("disk_failure_policy = \"ignore\""),
            "disk_failure_policy: a node that has lost its files must be seen as lost",
        ),
        (cassandra("auto_snapshot = true"), "auto_snapshot: copies of files would fill a volume"),
        // What this Cassandra refuses, or what would do nothing
        (
            cassandra("disk_access_mode = \"direct\""),
            "disk_access_mode = \"direct\": this Cassandra has it for the commit log alone",
        ),
        (
            cassandra("sstable = { selected_format = \"bti\" }\nstorage_compatibility_mode = \"CASSANDRA_4\""),
            "selected_format = \"bti\" with storage_compatibility_mode = \"CASSANDRA_4\": Cassandra does not start",
        ),
        (
            cassandra("compressed_read_ahead_buffer_size = \"128KiB\""),
            "x.toml:12:37: compressed_read_ahead_buffer_size is at least 256KiB, or 0KiB",
        ),
        (
            cassandra("compressed_read_ahead_buffer_size = \"256KiB\"\nfile_cache_enabled = true"),
            "compressed_read_ahead_buffer_size does nothing beside file_cache_enabled = true",
        ),
        (
            cassandra("compressed_read_ahead_buffer_size = \"256KiB\"\ndisk_access_mode = \"mmap\""),
            "compressed_read_ahead_buffer_size does nothing beside a disk_access_mode that maps data files",
        ),
        (
            settings(
                "cassandra = { compressed_read_ahead_buffer_size = \"256KiB\" }\n\
                 table = { compression = { enabled = false } }",
            ),
            "x.toml:11:15: compressed_read_ahead_buffer_size does nothing for a table without compression",
        ),
        (
            cassandra("commitlog_sync = \"batch\"\ncommitlog_sync_period = \"1000ms\""),
            "commitlog_sync_period does nothing with commitlog_sync = \"batch\"",
        ),
        (
            cassandra("commitlog_sync_group_window = \"10ms\""),
            "commitlog_sync_group_window does nothing with commitlog_sync = \"periodic\"",
        ),
        // Options of the table
        (
            table("compresion = { chunk_length_in_kb = 4 }"),
            "x.toml:12:1: a table has no option `compresion` (did you mean `compression`?",
        ),
        (
            table("compression = { chunk_length_in_kb = 5 }"),
            "x.toml:12:17: chunks cannot have 5 KiB (a power of two without quotes",
        ),
        (table("compression = { chunk_length_in_kb = \"4\" }"), "chunks cannot have \"4\" KiB"),
        (
            table("compression = { chunk_length_kb = 4 }"),
            "LZ4Compressor has no option `chunk_length_kb` (did you mean `chunk_length_in_kb`?",
        ),
        (
            table("compression = { class = \"LZ5Compressor\" }"),
            "x.toml:12:26: compression has no class `LZ5Compressor` (did you mean `LZ4Compressor`?",
        ),
        (table("compression = { compression_level = 3 }"), "LZ4Compressor has no option `compression_level`"),
        (
            table("compression = { enabled = false, chunk_length_in_kb = 4 }"),
            "compression that is off has no other options",
        ),
        (table("compression = { enabled = \"no\" }"), "enabled of compression cannot be"),
        (table("compression = \"LZ4Compressor\""), "compression cannot be \"LZ4Compressor\" (a table: "),
        (table("compaction = {}"), "compaction says nothing"),
        (
            table("compaction = { class = \"LCS\" }"),
            "compaction has no class `LCS` (did you mean `LeveledCompactionStrategy`?)",
        ),
        (
            table("compaction = { class = \"LeveledCompactionStrategy\", sstable_size_in_mib = 10 }"),
            "LeveledCompactionStrategy has no option `sstable_size_in_mib` (did you mean `sstable_size_in_mb`?",
        ),
        (
            table("compaction = { sstable_size_in_mb = 10 }"),
            "SizeTieredCompactionStrategy has no option `sstable_size_in_mb`",
        ),
        (
            table("compaction = { min_threshold = \"4\" }"),
            "min_threshold of compaction cannot be \"4\" (a whole number without quotes)",
        ),
        (table("compaction = { enabled = false }"), "compaction cannot be off"),
        (table("bloom_filter_fp_chance = 0.0"), "bloom_filter_fp_chance cannot be 0.0 (0.0000671 to 1)"),
        (
            table("bloom_filter_fp_chance = \"0.1\""),
            "bloom_filter_fp_chance cannot be \"0.1\" (a number without quotes",
        ),
        (table("gc_grace_seconds = -1"), "gc_grace_seconds cannot be -1"),
        (table("memtable = \"trie\""), "no memtable is called `trie` (name it: cassandra = { memtable"),
        (table("caching = { keys = \"SOME\" }"), "keys of caching cannot be \"SOME\" (valid: \"ALL\", \"NONE\")"),
        (table("caching = { rows_per_partition = 10 }"), "rows_per_partition: the row cache is off"),
        (table("default_time_to_live = 60"), "default_time_to_live: records would go while they are measured"),
        (table("read_repair = \"SOMETIMES\""), "read_repair cannot be \"SOMETIMES\""),
        // The host
        (host("read_ahead_kb = 6"), "x.toml:12:17: read_ahead_kb cannot be 6 (whole pages of 4 KiB"),
        (host("read_ahead_kb = \"8\""), "read_ahead_kb cannot be \"8\""),
        (host("readahead_kb = 8"), "a host has no setting `readahead_kb` (did you mean `read_ahead_kb`?"),
        (
            host("transparent_huge_pages = \"never\""),
            "transparent_huge_pages belongs to the whole machine, which others may use",
        ),
        (host("scheduler = \"none\""), "scheduler: the devices of emulated volumes"),
        // Another version, of which nothing is known
        (
            format!("[target]\nversion = \"5.0.1\"\n{}", cassandra("concurrent_reads = 64"))
                .replace("name = \"x\"\n", "")
                .replacen("[target]", "name = \"x\"\n[target]", 1),
            "version `5.0.1` is not supported (known: 5.0.9",
        ),
    ];
    assert!(cases.len() >= 40, "{}", cases.len());
    each_refused(&cases);
    for (text, expected) in &cases {
        let mistakes = refused(text);
        assert_eq!(mistakes.list().len(), 1, "one mistake is reported once: {expected}\n{mistakes}");
    }
}

#[test]
fn all_wrong_settings_are_reported_together() {
    let text = settings(
        "cassandra = { concurrent_read = 1, listen_address = \"a\" }\n\
         table = { compression = { chunk_length_in_kb = 3 } }\nhost = { read_ahead_kb = 1 }\njvm = [\"-Xmx1g\"]",
    );
    assert_eq!(refused(&text).list().len(), 5);
}
