//! The Java command line of a node.
//!
//! Flags follow `conf/jvm-server.options`, `jvm11-server.options` and `jvm17-server.options` of Cassandra 5.0: G1, the
//! same pause target and tenuring, the same opened modules. What differs, and why:
//!
//! * They are the same for all versions, so that these are what differs. On Java 21 the files of 6.0 have generational
//!   ZGC instead, without compressed pointers, which is a setting
//!   (`jvm = ["-XX:+UseZGC", "-XX:+ZGenerational", "-XX:-UseCompressedOops"]`).
//! * `-Xms` = `-Xmx` with `AlwaysPreTouch`: the heap's memory is charged to the node's cgroup at start, not during a
//!   trial.
//! * `G1HeapRegionSize=16m` only from 4 GiB of heap: G1 wants some hundred regions; 512 MiB would have 32.
//! * `ExitOnOutOfMemoryError` rather than a heap dump: a node that has lost must be seen as dead, and a dump would fill
//!   the volume.
//! * Logs are named from the node's own directory, in which it starts: in their names the JVM and logback take `%` and
//!   `$` for more than they are.
//! * Temporary files (native libraries) go to the node's own directory, so that a killed node leaves nothing in `/tmp`.
//! * `skip_wait_for_gossip_to_settle=0`: the 8 s wait for gossip before CQL opens is left out; iopslab itself waits
//!   until every node is NORMAL ([`super::Admin::wait_settled`]).
//! * `memtable.row_overhead_size`: what the server would measure at each start, once measured
//!   ([`super::start_archive`]).
//! * `superuser_setup_delay_ms=0`: the default role is written during the start, not ten seconds into a trial.

use std::path::Path;

use super::{
    distribution::Distribution,
    java::Java,
    management::{access_file, password_file},
    node_config::{GC_LOG, LOGS, NodeConfig},
};

const GIB: u64 = 1 << 30;
/// The JVM compresses object pointers in heaps below this (`UseCompressedOops`), and rows are smaller then.
const COMPRESSED_POINTERS_BELOW: u64 = 32 * GIB;

/// What a JVM takes of its own for 16 CPUs.
const MOST_COMPILERS: u32 = 12;

/// Options that choose another garbage collector than the usual one.
const COLLECTORS: [&str; 5] =
    ["-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseZGC", "-XX:+UseShenandoahGC", "-XX:+UseEpsilonGC"];

/// Modules that Cassandra opens on Java 17 (`jvm17-server.options`); the others take them too.
const EXPORTS: &[&str] = &[
    "java.base/jdk.internal.misc",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi",
    // The check of passwords, which Cassandra reaches into (`JMXServerUtils`).
    "java.management/com.sun.jmx.remote.security",
    "java.rmi/sun.rmi.registry",
    "java.rmi/sun.rmi.server",
    "java.sql/java.sql",
    "java.base/java.lang.ref",
    "jdk.unsupported/sun.misc",
    "jdk.compiler/com.sun.tools.javac.file",
    "jdk.attach/sun.tools.attach",
];
const OPENS: &[&str] = &[
    "java.base/java.lang.module",
    "java.base/jdk.internal.loader",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect",
    "java.base/jdk.internal.math",
    "java.base/jdk.internal.module",
    "java.base/jdk.internal.util.jar",
    "jdk.management/com.sun.management.internal",
    "java.base/sun.nio.ch",
    "java.base/java.io",
    "java.base/java.lang.reflect",
    "jdk.compiler/com.sun.tools.javac",
    "java.base/java.lang",
    "java.base/java.util",
];

/// What Java 11 needs besides (`jvm11-server.options` of 4.1).
const EXPORTS_OF_11: &[&str] = &["java.base/jdk.internal.ref", "java.base/jdk.internal.util", "java.base/sun.nio.ch"];
/// What Java 21 needs besides (`jvm21-server.options` of 6.0).
const OPENS_OF_21: &[&str] = &["java.base/java.nio"];
/// From this Java on a security manager has to be allowed (JEP 411); Cassandra sets one.
const ASKS_FOR_SECURITY_MANAGER: u32 = 18;

/// Whether this start uses the class-data archive or makes it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ArchiveUse<'a> {
    None,
    Use(&'a Path),
    Make(&'a Path),
}

/// The module switches that a JVM of this Java with Cassandra's classes needs.
fn module_access(java: u32) -> impl Iterator<Item = String> {
    let (exports, opens): (&[&str], &[&str]) = match java {
        11 => (EXPORTS_OF_11, &[]),
        21.. => (&[], OPENS_OF_21),
        _ => (&[], &[]),
    };
    let exports = EXPORTS.iter().chain(exports).map(|module| format!("--add-exports={module}=ALL-UNNAMED"));
    exports.chain(OPENS.iter().chain(opens).map(|module| format!("--add-opens={module}=ALL-UNNAMED")))
}

/// Compiler threads of a JVM that has the whole machine until its code is compiled, and `reported` CPUs after that: one
/// that compiles quickly, and one that compiles well for each CPU. By itself it would have one of these for up to two
/// CPUs. It starts more only where it sees free memory, of which a node that is held at its page-cache budget has none:
/// all are started at once. `None`: it is given all CPUs.
fn compilers(reported: u32, machine: u32) -> Option<u32> {
    (machine > reported).then(|| (machine + 1).min(MOST_COMPILERS))
}

fn machine_cpus() -> u32 {
    let cpus = std::thread::available_parallelism();
    cpus.map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX))
}

/// Everything after `java`.
pub(crate) fn arguments(
    distribution: &Distribution,
    java: &Java,
    config: &NodeConfig,
    archive: ArchiveUse<'_>,
) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut add = |argument: String| arguments.push(argument);

    // General (jvm-server.options)
    add("-ea".into());
    add("-da:net.openhft...".into());
    add("-Xss256k".into());
    add("-XX:+AlwaysPreTouch".into());
    add("-XX:+PerfDisableSharedMem".into());
    add("-XX:+ExitOnOutOfMemoryError".into());
    add(format!("-XX:ErrorFile={LOGS}/hs_err.log"));
    add("-Djava.net.preferIPv4Stack=true".into());
    add(format!("-XX:ActiveProcessorCount={}", config.cpu_count()));
    if let Some(compilers) = compilers(config.cpu_count(), machine_cpus()) {
        add(format!("-XX:CICompilerCount={compilers}"));
        add("-XX:-UseDynamicNumberOfCompilerThreads".into());
    }
    add(format!("-Xms{}", config.plan.memory.main_bytes));
    add(format!("-Xmx{}", config.plan.memory.main_bytes));
    add(format!("-XX:MaxDirectMemorySize={}", config.plan.memory.buffer_bytes));

    // Garbage collector (jvm11/17-server.options)
    if !cassandra_model::jvm(&config.plan.settings).iter().any(|option| COLLECTORS.contains(&option.as_str())) {
        // The JVM refuses two.
        add("-XX:+UseG1GC".into());
    }
    add("-XX:+ParallelRefProcEnabled".into());
    add("-XX:MaxTenuringThreshold=1".into());
    add("-XX:G1RSetUpdatingPauseTimePercent=5".into());
    add("-XX:MaxGCPauseMillis=300".into());
    add("-XX:InitiatingHeapOccupancyPercent=70".into());
    if config.plan.memory.main_bytes >= 4 * GIB {
        add("-XX:G1HeapRegionSize=16m".into());
    }
    if java.version == 11 {
        add("-XX:-UseBiasedLocking".into());
    }
    // One file, never rotated: the monitor follows it by offset.
    add(format!("-Xlog:gc*=info,safepoint=info:file={LOGS}/{GC_LOG}:time,uptime,level,tags:filecount=0"));

    // Modules
    module_access(java.version).for_each(&mut add);
    if java.version >= ASKS_FOR_SECURITY_MANAGER {
        add("-Djava.security.manager=allow".into());
    }
    add("-Djdk.attach.allowAttachSelf=true".into());

    // Netty (jvm17-server.options)
    add("-Dio.netty.tryReflectionSetAccessible=true".into());
    add("-Dio.netty.allocator.useCacheForAllThreads=true".into());
    add("-Dio.netty.allocator.maxOrder=11".into());

    // The node's own places
    let temporary = config.plan.directories.own.join("tmp");
    let conf = config.plan.directories.own.join("conf");
    add(format!("-Djava.io.tmpdir={}", temporary.display()));
    add(format!("-Djna.tmpdir={}", temporary.display()));
    add(format!("-Duser.home={}", config.plan.directories.own.display()));
    add(format!("-Dcassandra.config=file://{}", file_url_path(&conf.join("cassandra.yaml"))));
    add(format!("-Dlogback.configurationFile={}", conf.join("logback.xml").display()));
    add(format!("-Dcassandra.storagedir={}", config.plan.directories.own.display()));
    add(format!("-Dcassandra.logdir={}", config.logs().display()));
    add(format!("-Dcassandra.triggers_dir={}", conf.join("triggers").display()));
    // Whoever may call it runs code in the server: on 127.0.0.1 alone, and with a password.
    add(format!("-Dcassandra.jmx.local.port={}", config.plan.ports.management));
    add("-Dcom.sun.management.jmxremote.authenticate=true".into());
    for (what, file) in [("password", password_file(config)), ("access", access_file(config))] {
        add(format!("-Dcom.sun.management.jmxremote.{what}.file={}", file.display()));
    }

    if config.plan.place.is_some() {
        let url = file_url_path(&config.place_file());
        add(format!("-Dcassandra-rackdc.properties=file://{url}"));
    }

    // Starting and stopping
    add("-Dcassandra.skip_wait_for_gossip_to_settle=0".into());
    add("-Dcassandra.superuser_setup_delay_ms=0".into());
    // Options of the user's may lay objects out otherwise: then the server measures for itself.
    let is_as_measured = config.plan.memory.main_bytes < COMPRESSED_POINTERS_BELOW
        && cassandra_model::jvm(&config.plan.settings).is_empty();
    if let Some(bytes) = distribution.row_overhead_bytes.filter(|_| is_as_measured) {
        add(format!("-Dcassandra.memtable.row_overhead_size={bytes}"));
    }
    if !cassandra_model::yaml(&config.plan.settings).is_empty() {
        // What is in force of keys with keys of their own is read from there: as JSON.
        add("-Dcassandra.virtual_table_complex_settings_format_json=true".into());
    }
    if config.plan.seeds.len() <= 1 {
        // Nobody to tell: do not wait 2 s for the news to spread.
        add("-Dcassandra.shutdown_announce_in_ms=0".into());
    }

    // Object sizes for memtable accounting are exact with this agent and guessed without. It stays out of the start
    // that makes an archive: the JVM archives nothing while an agent is loaded.
    match archive {
        ArchiveUse::Make(path) => add(format!("-XX:ArchiveClassesAtExit={}", path.display())),
        ArchiveUse::Use(path) => {
            add(format!("-XX:SharedArchiveFile={}", path.display()));
            add("-Xshare:auto".into());
        }
        ArchiveUse::None => {}
    }
    if let (ArchiveUse::Use(_) | ArchiveUse::None, Some(jamm)) = (archive, distribution.jar("jamm-")) {
        add(format!("-javaagent:{}", jamm.display()));
    }
    arguments.extend(cassandra_model::jvm(&config.plan.settings).iter().cloned());
    arguments.extend(["-cp".into(), distribution.classpath(), "org.apache.cassandra.service.CassandraDaemon".into()]);
    arguments
}

/// A path as it stands in a `file:` URL.
fn file_url_path(path: &Path) -> String {
    use std::{fmt::Write, os::unix::ffi::OsStrExt};
    path.as_os_str().as_bytes().iter().fold(String::new(), |mut url, &byte| {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            let _ = write!(url, "%{byte:02X}");
        }
        url
    })
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::path::PathBuf;

    use super::*;

    /// Everything after `java` of a node with these options, on Java 17.
    fn started_with(options: &[&str]) -> Vec<String> {
        started_on(17, options)
    }

    fn started_on(java: u32, options: &[&str]) -> Vec<String> {
        arguments_below(java, options, Path::new("/node"))
    }

    fn arguments_below(java: u32, options: &[&str], own: &Path) -> Vec<String> {
        let jar = PathBuf::from("/cache/cassandra/jamm-0.4.0.jar");
        let distribution = Distribution {
            version: "5.0.9".to_owned(),
            jars: vec![jar],
            cache: PathBuf::from("/cache/cassandra"),
            start_archive: None,
            row_overhead_bytes: Some(180),
        };
        let path = PathBuf::from("/usr/bin/java");
        let java = Java { path, version: java, version_text: String::new(), own_options: Vec::new() };
        let mut config = NodeConfig::new("c", Ipv4Addr::LOCALHOST, own);
        config.plan.memory.main_bytes = 8 * GIB;
        config.plan.place = Some(crate::plan::NodeLocation { data_centre: "dc1".to_owned(), rack: "rack1".to_owned() });
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        config.plan.settings = config.plan.settings.with(cassandra_model::JVM, experiment::Section::Options(options));
        let archive = ArchiveUse::Use(Path::new("/cache/cassandra/archive.jsa"));
        arguments(&distribution, &java, &config, archive)
    }

    /// Each system property, each path and each size is iopslab's; what is left are choices of Cassandra's own files,
    /// which a later option replaces.
    #[test]
    fn what_iopslab_sets_for_a_node_is_refused_in_an_experiment() {
        let mut open = vec!["-ea", "-da", "-Xss256k"];
        open.extend(["-XX:UseG1GC", "-XX:ParallelRefProcEnabled", "-XX:MaxTenuringThreshold"]);
        open.extend(["-XX:G1RSetUpdatingPauseTimePercent", "-XX:MaxGCPauseMillis", "-XX:G1HeapRegionSize"]);
        open.extend(["-XX:InitiatingHeapOccupancyPercent"]);
        let all = started_with(&[]);
        let options = all.iter().take_while(|word| *word != "-cp");
        let mut kept = 0;
        for option in options {
            let name = cassandra_model::jvm_option_name(option);
            let is_open = open.contains(&name.split(':').next().unwrap()) || open.contains(&name.as_str());
            let is_kept = cassandra_model::kept_jvm_option(option).is_some();
            assert!(is_open != is_kept, "{option}: open {is_open}, kept {is_kept}");
            kept += usize::from(is_kept);
        }
        assert!(kept > 20, "{kept} of {all:?}");
    }

    #[test]
    fn options_come_after_iopslab_s_own_and_another_collector_takes_the_place_of_g1() {
        let usual = started_with(&[]);
        assert!(usual.contains(&"-XX:+UseG1GC".to_owned()));
        assert!(usual.iter().any(|a| a.contains("row_overhead_size")));
        let own = started_with(&["-XX:+UseSerialGC", "-XX:MaxGCPauseMillis=100"]);
        assert!(!own.contains(&"-XX:+UseG1GC".to_owned()));
        assert!(!own.iter().any(|a| a.contains("row_overhead_size")));
        let place = |option: &str| own.iter().position(|a| a == option).unwrap();
        assert!(place("-XX:MaxGCPauseMillis=300") < place("-XX:MaxGCPauseMillis=100"));
        assert!(place("-XX:MaxGCPauseMillis=100") < place("-cp"));
    }

    /// `%t` is the time of the start in one of them, `"` the end of a name, `:` that of a path, `$` a variable.
    #[test]
    fn logs_are_found_whatever_a_node_s_directory_is_called() {
        let own = "/node %t\" a:b ${x}";
        let all = arguments_below(17, &[], Path::new(own));
        for option in ["-XX:ErrorFile=", "-Xlog:"] {
            let given = all.iter().find(|word| word.starts_with(option)).unwrap();
            assert!(given.contains("logs/") && !given.contains("/node"), "{given}");
        }
        let log = crate::cassandra::yaml::logback_xml("5.0.9");
        assert!(log.contains("<file>logs/system.log</file>"), "{log}");
        let config = NodeConfig::new("c", Ipv4Addr::LOCALHOST, Path::new(own));
        let [gc, system] = ["gc.log", "system.log"].map(|name| Path::new(own).join("logs").join(name));
        assert_eq!((config.gc_log(), config.system_log()), (gc, system), "where they are looked for");
    }

    #[test]
    fn each_java_is_given_what_it_needs() {
        let has = |java: u32, option: &str| started_on(java, &[]).iter().any(|given| given == option);
        let of_11 = "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED";
        let of_21 = "--add-opens=java.base/java.nio=ALL-UNNAMED";
        let manager = "-Djava.security.manager=allow";
        for (java, expected) in [(11, [true, false, false]), (17, [false; 3]), (21, [false, true, true])] {
            assert_eq!([of_11, of_21, manager].map(|option| has(java, option)), expected, "{java}");
        }
        assert!(has(11, "-XX:-UseBiasedLocking") && !has(17, "-XX:-UseBiasedLocking"), "17 has none");
    }

    #[test]
    fn a_path_with_spaces_becomes_a_valid_url() {
        assert_eq!(file_url_path("/a b/ü".as_ref()), "/a%20b/%C3%BC");
    }
}
