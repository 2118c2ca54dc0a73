//! Options of the JVM: what each is called, and which of them an experiment may state.
//!
//! Those are listed, and nothing else is taken: among the two thousand that a JVM knows some load a library, open a
//! port for everybody, or write a file that they name, and the next version has others. A list of what is refused
//! (below) only says why, of those that somebody may well have meant.

use product::{Kept, KeptOption, REMOVE, is_among, kept_among, slip};

const KEPT: &[Kept] = &[
    (
        "-Xms* -Xmx* -Xmn* -XX:MaxHeapSize -XX:InitialHeapSize -XX:MinHeapSize -XX:NewSize -XX:MaxNewSize \
         -XX:MaxRAM* -XX:MinRAM* -XX:InitialRAM* -XX:MaxDirectMemorySize -XX:AlwaysPreTouch -XX:AggressiveHeap",
        "iopslab sets the memory of a node",
        "memory follows memory_limit_gib of the configuration; heap_mib of [provider.local] sets the heap",
    ),
    (
        "-XX:ActiveProcessorCount -Dcassandra.available_processors",
        "iopslab sets the CPUs of a node",
        "CPUs follow the instance of the configuration",
    ),
    (
        "-Dcom.sun.management.* -Dcassandra.jmx.* -Djava.rmi.*",
        "iopslab sets the management port (JMX) of a node",
        REMOVE,
    ),
    (
        "-XX:ErrorFile -XX:LogFile -XX:HeapDump* -XX:Flags -XX:VMOptionsFile -Xbootclasspath* -javaagent* -agentlib* \
         -agentpath* -Djava.io.tmpdir -Djava.class.path -Djna.tmpdir -Duser.home -Duser.dir -Dcassandra.config* \
         -Dcassandra.storagedir -Dcassandra.logdir -Dcassandra.triggers_dir -Dcassandra-rackdc.* -Dlogback.*",
        "iopslab decides which files a node reads and writes",
        REMOVE,
    ),
    ("-Xlog* -verbose* -XX:PrintGC*", "iopslab reads the log of the garbage collector, and sets what is in it", REMOVE),
    (
        "-Xshare* -Xrs -XX:SharedArchiveFile -XX:SharedClassListFile -XX:ArchiveClassesAtExit \
         -XX:ExitOnOutOfMemoryError -XX:CrashOnOutOfMemoryError -XX:OnOutOfMemoryError -XX:OnError \
         -XX:PerfDisableSharedMem -Djdk.attach.allowAttachSelf -Dcassandra.skip_wait_for_gossip_to_settle \
         -Dcassandra.superuser_setup_delay_ms -Dcassandra.shutdown_announce_in_ms \
         -Dcassandra.memtable.row_overhead_size",
        "iopslab decides how a node starts and ends",
        REMOVE,
    ),
    (
        "-Djava.net.preferIPv4Stack -Dio.netty.tryReflectionSetAccessible -Dio.netty.allocator.useCacheForAllThreads \
         -Dio.netty.allocator.maxOrder -Dcassandra.auto_bootstrap -Dcassandra.initial_token -Dcassandra.join_ring \
         -Dcassandra.load_ring_state -Dcassandra.partitioner -Dcassandra.replace* -Dcassandra.native_transport_port \
         -Dcassandra.ssl_storage_port -Dcassandra.start_native_transport -Dcassandra.storage_port \
         -Dcassandra.write_survey",
        "iopslab decides to which cluster a node belongs, and how it is reached",
        REMOVE,
    ),
    (
        "-Dcassandra.settings.* -Dcassandra.config.allow_system_properties",
        "keys of cassandra.yaml are no options of the JVM",
        REMOVE,
    ),
    (
        "-XX:IgnoreUnrecognizedVMOptions",
        "an option that the JVM does not know must end its start, or nobody knows what is in force",
        REMOVE,
    ),
];

/// Options that an experiment may state. What ends in `*` stands for all that begin so. None of them names a file, a
/// class or an address; [`is_plain_value`] sees to it.
const ALLOWED: &[&str] = &[
    // How code is compiled: what it costs and how soon it is at rest.
    "-Xint -Xcomp -Xmixed -Xbatch -XX:TieredStopAtLevel -XX:TieredCompilation -XX:Tier0* -XX:Tier2* -XX:Tier3* \
     -XX:Tier4* -XX:CompileThreshold* -XX:OnStackReplacePercentage -XX:BackgroundCompilation -XX:CICompilerCount \
     -XX:ReservedCodeCacheSize -XX:InitialCodeCacheSize -XX:SegmentedCodeCache -XX:UseCodeCacheFlushing -XX:Inline \
     -XX:InlineSmallCode -XX:MaxInline* -XX:FreqInlineSize -XX:LoopUnrollLimit -XX:DoEscapeAnalysis \
     -XX:EliminateAllocations -XX:EliminateLocks -XX:OptimizeStringConcat -XX:OmitStackTraceInFastThrow",
    // Which instructions of the CPU it may use: two machines are made alike by them.
    "-XX:UseAVX -XX:UseSSE -XX:UseAES -XX:UseAESIntrinsics -XX:UseSHA -XX:UseFMA -XX:UseSuperWord \
     -XX:UseCRC32Intrinsics",
    // Which collector, and its pace.
    // Some of these are experimental in a version; by itself it does nothing.
    "-XX:UseG1GC -XX:UseParallelGC -XX:UseSerialGC -XX:UseZGC -XX:UseShenandoahGC -XX:UseEpsilonGC -XX:G1* \
     -XX:Shenandoah* -XX:ZAllocationSpikeTolerance -XX:ZCollectionInterval -XX:ZFragmentationLimit -XX:ZProactive \
     -XX:ZUncommit -XX:ZUncommitDelay -XX:ZGenerational -XX:MaxGCPauseMillis -XX:GCPauseIntervalMillis \
     -XX:GCTimeRatio \
     -XX:ParallelGCThreads -XX:ConcGCThreads -XX:UseDynamicNumberOfGCThreads -XX:ParallelRefProcEnabled \
     -XX:InitiatingHeapOccupancyPercent -XX:MaxTenuringThreshold -XX:InitialTenuringThreshold \
     -XX:TargetSurvivorRatio -XX:SurvivorRatio -XX:NewRatio -XX:UseAdaptiveSizePolicy -XX:AdaptiveSizePolicyWeight \
     -XX:MinHeapFreeRatio -XX:MaxHeapFreeRatio -XX:PretenureSizeThreshold -XX:UseStringDeduplication \
     -XX:StringDeduplicationAgeThreshold -XX:SoftRefLRUPolicyMSPerMB -XX:ExplicitGCInvokesConcurrent \
     -XX:DisableExplicitGC -XX:UnlockExperimentalVMOptions",
    // How objects and threads lie in memory.
    "-Xss* -XX:ThreadStackSize -XX:UseCompressedOops -XX:UseCompressedClassPointers -XX:ObjectAlignmentInBytes \
     -XX:UseNUMA -XX:UseNUMAInterleaving -XX:MetaspaceSize -XX:MaxMetaspaceSize -XX:CompressedClassSpaceSize \
     -XX:UseTLAB -XX:ResizeTLAB -XX:TLABSize -XX:MinTLABSize -XX:StringTableSize",
    // How threads wait for each other and for safepoints.
    "-XX:UseBiasedLocking -XX:BiasedLockingStartupDelay -XX:UseCountedLoopSafepoints -XX:ThreadPriorityPolicy \
     -XX:UseThreadPriorities",
    // Assertions: they are a cost of their own.
    "-ea* -da* -esa -dsa",
    // Buffers of the network, and of threads that read files.
    "-Dio.netty.eventLoopThreads -Dio.netty.allocator.* -Dio.netty.recycler.* -Dio.netty.leakDetection.level \
     -Djdk.nio.maxCachedBufferSize",
    // Numbers and switches that Cassandra has nowhere else.
    "-Dcassandra.btree.* -Dcassandra.fd_* -Dcassandra.file_cache_* -Dcassandra.max_queued_native_transport_requests \
     -Dcassandra.memtable.* -Dcassandra.memtable_* -Dcassandra.netty_use_heap_allocator -Dcassandra.ring_delay_ms \
     -Dcassandra.sai.* -Dcassandra.trie*",
];

/// Why an option is refused of which nobody has said more.
const UNKNOWN: KeptOption = KeptOption {
    why: "it is none of those that an experiment may state: compilers, collectors, memory layout, threads, assertions, \
          and a few numbers of Netty and Cassandra",
    help: "docs/settings.md lists them; ask for another one that is worth measuring",
};
const NO_PLAIN_VALUE: KeptOption = KeptOption {
    why: "its value is more than a number or a word: no option names a file, a class or an address here",
    help: REMOVE,
};

/// What an option sets, without its value: `-XX:UseG1GC` of `-XX:+UseG1GC`, `-Dname` of `-Dname=value`.
pub fn jvm_option_name(option: &str) -> String {
    let name = option.split('=').next().unwrap_or(option);
    match name.strip_prefix("-XX:") {
        Some(flag) => format!("-XX:{}", flag.trim_start_matches(['+', '-'])),
        None => name.to_owned(),
    }
}

/// Why an experiment may not state this option; `None`: it may.
pub fn kept_jvm_option(option: &str) -> Option<KeptOption> {
    let name = jvm_option_name(option);
    kept_among(&name, KEPT).or_else(|| match ALLOWED.iter().any(|names| is_among(&name, names)) {
        false => Some(UNKNOWN),
        true => (!is_plain_value(option)).then_some(NO_PLAIN_VALUE),
    })
}

/// What an experiment may state and was probably meant by an option of which nothing is known.
pub(crate) fn meant_jvm_option(option: &str) -> Option<String> {
    if kept_jvm_option(option) != Some(UNKNOWN) {
        return None;
    }
    let all = ALLOWED.iter().flat_map(|names| names.split_whitespace());
    let name = slip(&jvm_option_name(option), all.filter(|name| !name.ends_with('*')))?;
    // What is turned on or off has its sign before its name.
    let sign = ["-XX:+", "-XX:-"].into_iter().find(|sign| option.starts_with(*sign));
    Some(sign.map_or_else(|| name.to_owned(), |sign| name.replacen("-XX:", sign, 1)))
}

/// Whether what an option is set to is a number or a word: `512k`, `0.5`, `advanced`.
fn is_plain_value(option: &str) -> bool {
    let value = option.split_once('=').map_or("", |(_, value)| value);
    value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._+-%".contains(&byte))
}

/// Whether it is one word that sets something of a JVM, rather than a file to run, or a question to it.
pub(crate) fn is_jvm_setting(option: &str) -> bool {
    let has_more = |beginning: &str| option.len() > beginning.len() && option.starts_with(beginning);
    let assertions = ["-ea", "-da", "-esa", "-dsa"];
    let known = ["-X", "-D", "-javaagent:", "-agentlib:", "-agentpath:", "-verbose:"];
    known.iter().any(|word| has_more(word))
        || assertions.iter().any(|word| option == *word || has_more(&format!("{word}:")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of these loads code, opens a port, reads or writes a file that it names, or unlocks others that do.
    #[test]
    fn what_could_do_more_than_change_a_speed_is_refused() {
        for option in [
            "-Xrunjdwp:transport=dt_socket,server=y,address=*:5005",
            "-Xdebug",
            "-agentlib:jdwp=transport=dt_socket",
            "-XX:StartFlightRecording=filename=/root/x",
            "-XX:FlightRecorderOptions=repository=/root",
            "-Djava.library.path=/tmp",
            "-Djna.library.path=/tmp",
            "-Djna.boot.library.path=/tmp",
            "-Djava.security.properties=/tmp/x",
            "-Djava.security.manager",
            "-Djava.system.class.loader=x",
            "-XX:CompileCommandFile=/tmp/x",
            "-XX:CompileCommand=print",
            "-XX:CompilerDirectivesFile=/tmp/x",
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:+UnlockCommercialFeatures",
            "-XX:+LogVMOutput",
            "-XX:OnError=reboot",
            "-XX:ZPath=/tmp",
            "-XX:+UseTransparentHugePages",
            "-XX:NativeMemoryTracking=detail",
            "-Dcassandra.custom_query_handler_class=x",
            "-Dcassandra.metricsReporterConfigFile=/tmp/x",
            "-Dio.netty.native.workdir=/tmp",
            "-Dio.netty.allocator.type=/tmp/x",
            "-XX:G1HeapRegionSize=@/tmp/x",
            "-Dname=value",
            "-Xfuture",
            "-X",
        ] {
            assert!(kept_jvm_option(option).is_some(), "{option}");
        }
    }

    #[test]
    fn what_is_worth_measuring_is_taken() {
        for option in [
            "-Xss512k",
            "-Xint",
            "-XX:+UseZGC",
            "-XX:-UseBiasedLocking",
            "-XX:MaxGCPauseMillis=100",
            "-XX:G1NewSizePercent=5",
            "-XX:+UnlockExperimentalVMOptions",
            "-XX:TieredStopAtLevel=1",
            "-ea",
            "-ea:org.example...",
            "-Dio.netty.eventLoopThreads=4",
            "-Dcassandra.memtable.shard.count=4",
        ] {
            assert_eq!(kept_jvm_option(option), None, "{option}");
        }
    }

    #[test]
    fn a_slip_is_told_from_an_option_that_is_refused_on_purpose() {
        for (option, meant) in [
            ("-XX:MaxGCPauseMilis=100", Some("-XX:MaxGCPauseMillis")),
            ("-XX:+UseG1G", Some("-XX:+UseG1GC")),
            ("-XX:-UseG1G", Some("-XX:-UseG1GC")),
            ("-XX:+UseG1GC", None),
            ("-XX:MaxHeapSize=1g", None),
            ("-XX:+UnlockDiagnosticVMOptions", None),
            ("-XX:CompileCommand=print", None),
            ("-Djava.security.manager", None),
        ] {
            assert_eq!(meant_jvm_option(option).as_deref(), meant, "{option}");
        }
    }

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
