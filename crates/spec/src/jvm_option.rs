//! Options of the JVM: what each is called, and which of them are not for an experiment to state.

/// Why an option cannot be stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptOption {
    /// What iopslab does with it, in words that follow the option.
    pub why: &'static str,
    /// What to do instead.
    pub help: &'static str,
}

/// Options of one purpose that iopslab keeps to itself. A name that ends in `*` stands for all that begin so.
struct Kept {
    names: &'static [&'static str],
    option: KeptOption,
}

const REMOVE: &str = "remove it";

const KEPT: &[Kept] = &[
    Kept {
        names: &[
            "-Xms*",
            "-Xmx*",
            "-Xmn*",
            "-XX:MaxHeapSize",
            "-XX:InitialHeapSize",
            "-XX:MinHeapSize",
            "-XX:NewSize",
            "-XX:MaxNewSize",
            "-XX:MaxRAM*",
            "-XX:MinRAM*",
            "-XX:InitialRAM*",
            "-XX:MaxDirectMemorySize",
            "-XX:AlwaysPreTouch",
            "-XX:AggressiveHeap",
        ],
        option: KeptOption {
            why: "iopslab sets the memory of a node",
            help: "memory follows memory_limit_gib of the configuration; heap_mib of [provider.local] sets the heap",
        },
    },
    Kept {
        names: &["-XX:ActiveProcessorCount", "-Dcassandra.available_processors"],
        option: KeptOption {
            why: "iopslab sets the CPUs of a node",
            help: "CPUs follow the instance of the configuration",
        },
    },
    Kept {
        names: &["-Dcom.sun.management.*", "-Dcassandra.jmx.*", "-Djava.rmi.*"],
        option: KeptOption {
            why: "iopslab sets the management port (JMX) of a node",
            help: REMOVE,
        },
    },
    Kept {
        names: &[
            "-XX:ErrorFile",
            "-XX:LogFile",
            "-XX:HeapDump*",
            "-XX:Flags",
            "-XX:VMOptionsFile",
            "-Xbootclasspath*",
            "-javaagent*",
            "-agentlib*",
            "-agentpath*",
            "-Djava.io.tmpdir",
            "-Djava.class.path",
            "-Djna.tmpdir",
            "-Duser.home",
            "-Duser.dir",
            "-Dcassandra.config*",
            "-Dcassandra.storagedir",
            "-Dcassandra.logdir",
            "-Dcassandra.triggers_dir",
            "-Dcassandra-rackdc.*",
            "-Dlogback.*",
        ],
        option: KeptOption {
            why: "iopslab decides which files a node reads and writes",
            help: REMOVE,
        },
    },
    Kept {
        names: &["-Xlog*", "-verbose*", "-XX:PrintGC*"],
        option: KeptOption {
            why: "iopslab reads the log of the garbage collector, and sets what is in it",
            help: REMOVE,
        },
    },
    Kept {
        names: &[
            "-Xshare*",
            "-Xrs",
            "-XX:SharedArchiveFile",
            "-XX:SharedClassListFile",
            "-XX:ArchiveClassesAtExit",
            "-XX:ExitOnOutOfMemoryError",
            "-XX:CrashOnOutOfMemoryError",
            "-XX:OnOutOfMemoryError",
            "-XX:OnError",
            "-XX:PerfDisableSharedMem",
            "-Djdk.attach.allowAttachSelf",
            "-Dcassandra.skip_wait_for_gossip_to_settle",
            "-Dcassandra.superuser_setup_delay_ms",
            "-Dcassandra.shutdown_announce_in_ms",
            "-Dcassandra.memtable.row_overhead_size",
        ],
        option: KeptOption {
            why: "iopslab decides how a node starts and ends",
            help: REMOVE,
        },
    },
    Kept {
        names: &[
            "-Djava.net.preferIPv4Stack",
            "-Dio.netty.tryReflectionSetAccessible",
            "-Dio.netty.allocator.useCacheForAllThreads",
            "-Dio.netty.allocator.maxOrder",
            "-Dcassandra.auto_bootstrap",
            "-Dcassandra.initial_token",
            "-Dcassandra.join_ring",
            "-Dcassandra.load_ring_state",
            "-Dcassandra.partitioner",
            "-Dcassandra.replace*",
            "-Dcassandra.native_transport_port",
            "-Dcassandra.ssl_storage_port",
            "-Dcassandra.start_native_transport",
            "-Dcassandra.storage_port",
            "-Dcassandra.write_survey",
        ],
        option: KeptOption {
            why: "iopslab decides to which cluster a node belongs, and how it is reached",
            help: REMOVE,
        },
    },
    Kept {
        names: &["-Dcassandra.settings.*", "-Dcassandra.config.allow_system_properties"],
        option: KeptOption {
            why: "keys of cassandra.yaml are no options of the JVM",
            help: REMOVE,
        },
    },
    Kept {
        names: &["-XX:IgnoreUnrecognizedVMOptions"],
        option: KeptOption {
            why: "an option that the JVM does not know must end its start, or nobody knows what is in force",
            help: REMOVE,
        },
    },
];

/// What an option sets, without its value: `-XX:UseG1GC` of `-XX:+UseG1GC`, `-Dname` of `-Dname=value`.
pub fn jvm_option_name(option: &str) -> String {
    let name = option.split('=').next().unwrap_or(option);
    match name.strip_prefix("-XX:") {
        Some(flag) => format!("-XX:{}", flag.trim_start_matches(['+', '-'])),
        None => name.to_owned(),
    }
}

/// Why iopslab keeps this option to itself; `None`: an experiment may state it.
pub fn kept_jvm_option(option: &str) -> Option<KeptOption> {
    let name = jvm_option_name(option);
    let is_it = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == **pattern,
    };
    KEPT.iter()
        .find(|kept| kept.names.iter().any(is_it))
        .map(|kept| kept.option)
}

/// Whether it is one word that sets something of a JVM, rather than a file to run, or a question to it.
pub(crate) fn is_jvm_setting(option: &str) -> bool {
    let has_more = |beginning: &str| option.len() > beginning.len() && option.starts_with(beginning);
    let assertions = ["-ea", "-da", "-esa", "-dsa"];
    let modules = ["--add-modules=", "--add-reads=", "--add-exports=", "--add-opens="];
    has_more("-X")
        || has_more("-D")
        || assertions
            .iter()
            .any(|word| option == *word || has_more(&format!("{word}:")))
        || modules.iter().any(|word| has_more(word))
        || option == "--enable-preview"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_known_by_what_it_sets() {
        for (option, name) in [
            ("-XX:+UseG1GC", "-XX:UseG1GC"),
            ("-XX:-UseG1GC", "-XX:UseG1GC"),
            ("-XX:MaxGCPauseMillis=100", "-XX:MaxGCPauseMillis"),
            ("-Dname=a=b", "-Dname"),
            ("-Xss512k", "-Xss512k"),
        ] {
            assert_eq!(jvm_option_name(option), name);
        }
    }
}
