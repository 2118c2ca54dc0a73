//! Reading existing YCSB workload files, and refusing broken ones with the place of the fault.

use workload::{Distribution, Mix, ScanLength, YcsbError, YcsbFile, parse_ycsb};

const CLASS: &str = "workload=site.ycsb.workloads.CoreWorkload\n";

fn parse(properties: &str) -> YcsbFile {
    parse_ycsb("w", &format!("{CLASS}{properties}")).unwrap()
}

fn refuse(properties: &str) -> YcsbError {
    parse_ycsb("w", &format!("{CLASS}{properties}")).unwrap_err()
}

/// The text of YCSB's own `workloads/workloada`, without its licence.
const WORKLOAD_A: &str = "
# Yahoo! Cloud System Benchmark
# Workload A: Update heavy workload
#   Application example: Session store recording recent actions
recordcount=1000
operationcount=1000
workload=site.ycsb.workloads.CoreWorkload

readallfields=true

readproportion=0.5
updateproportion=0.5
scanproportion=0
insertproportion=0

requestdistribution=zipfian
";

#[test]
fn workload_a_of_ycsb() {
    let file = parse_ycsb("a", WORKLOAD_A).unwrap();
    assert_eq!(file.definition.name, "a");
    assert_eq!(file.definition.mix, Mix { read: 0.5, update: 0.5, ..Mix::default() });
    assert_eq!(file.definition.distribution, Distribution::Zipfian { constant: 0.99 });
    assert_eq!((file.records, file.operations), (Some(1000), Some(1000)));
    assert_eq!((file.threads, file.target_ops_per_s, file.fields, file.field_length), (None, None, None, None));
    assert!(file.ignored.is_empty() && file.notes.is_empty());
}

#[test]
fn defaults_are_those_of_core_workload() {
    let definition = parse("").definition;
    assert_eq!(definition.mix, Mix { read: 0.95, update: 0.05, ..Mix::default() });
    assert_eq!(definition.distribution, Distribution::Uniform);
    assert!(definition.read_all_fields && !definition.write_all_fields && definition.keys.hashed);
    assert_eq!(definition.keys.zero_padding, 1);
    assert_eq!(definition.scan_length, ScanLength { min: 1, max: 1000, zipfian: false });
}

#[test]
fn every_property_that_means_something() {
    let file = parse(
        "recordcount 60000000\noperationcount: 10000000\nfieldcount=5\nfieldlength=200\nreadallfields=FALSE\n\
         writeallfields=true\nreadproportion=0.1\nupdateproportion=0.2\ninsertproportion=0.3\n\
         scanproportion=0.25\nreadmodifywriteproportion=0.15\nrequestdistribution=hotspot\n\
         hotspotdatafraction=0.1\nhotspotopnfraction=0.9\nminscanlength=2\nmaxscanlength=20\n\
         scanlengthdistribution=zipfian\ninsertorder=ordered\nzeropadding=12\nthreadcount=250\ntarget=5000\n\
         cassandra.readconsistencylevel=ONE\nmaxexecutiontime=60\ntable=t\nmeasurementtype=hdrhistogram\n",
    );
    assert_eq!(file.records, Some(60_000_000));
    assert_eq!(file.operations, Some(10_000_000));
    assert_eq!((file.fields, file.field_length, file.threads), (Some(5), Some(200), Some(250)));
    assert_eq!(file.target_ops_per_s, Some(5000.0));
    let definition = file.definition;
    let mix = Mix { read: 0.1, update: 0.2, insert: 0.3, scan: 0.25, read_modify_write: 0.15 };
    assert_eq!(definition.mix, mix);
    assert_eq!(definition.distribution, Distribution::Hotspot { data_fraction: 0.1, operation_fraction: 0.9 });
    assert_eq!(definition.scan_length, ScanLength { min: 2, max: 20, zipfian: true });
    assert!(!definition.read_all_fields && definition.write_all_fields && !definition.keys.hashed);
    assert_eq!(definition.keys.zero_padding, 12);
    assert_eq!(file.ignored, ["cassandra.readconsistencylevel", "maxexecutiontime", "table", "measurementtype"]);
}

#[test]
fn the_last_of_two_values_counts_as_in_java() {
    assert_eq!(parse("threadcount=1\nthreadcount=9\n").threads, Some(9));
}

/// A well-known trap: without `updateproportion` YCSB still updates 5 parts in 105.
#[test]
fn proportions_are_divided_by_their_sum_and_that_is_said() {
    let file = parse("readproportion=1.0\n");
    assert!((file.definition.mix.read - 1.0 / 1.05).abs() < 1e-12);
    assert!((file.definition.mix.sum() - 1.0).abs() < 1e-12);
    assert_eq!(file.notes.len(), 1);
    assert!(file.notes[0].contains("1.05") && file.notes[0].contains("default of 0.05"), "{}", file.notes[0]);
}

#[test]
fn old_package_names_are_understood() {
    assert!(parse_ycsb("w", "workload=com.yahoo.ycsb.workloads.CoreWorkload").is_ok());
    assert!(
        parse_ycsb("w", "readproportion=0.5\nupdateproportion=0.5").is_ok(),
        "the class may come from a command line"
    );
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    // (line behind the class, column, property, part of what was expected, nearest)
    let cases: [(&str, u32, &str, &str, Option<&str>); 17] = [
        ("readpropotion=0.5", 1, "readpropotion", "readproportion", Some("readproportion")),
        ("readProportion=0.5", 1, "readProportion", "readproportion", Some("readproportion")),
        ("requestdistribution = zipfain", 23, "requestdistribution", "`zipfian`", Some("zipfian")),
        ("requestdistribution=histogram", 21, "requestdistribution", "`uniform`", None),
        ("recordcount=0", 13, "recordcount", "from 1", None),
        ("recordcount=-5", 13, "recordcount", "from 1", None),
        ("recordcount=1e6", 13, "recordcount", "a whole number", None),
        ("readproportion=-0.1", 16, "readproportion", "from 0", None),
        ("readproportion=NaN", 16, "readproportion", "from 0", None),
        ("readproportion=", 16, "readproportion", "a number", None),
        ("readallfields=yes", 15, "readallfields", "`true` or `false`", None),
        ("insertorder=hash", 13, "insertorder", "`hashed`", Some("hashed")),
        ("fieldlengthdistribution=zipfian", 25, "fieldlengthdistribution", "`constant`", None),
        ("insertstart=10", 13, "insertstart", "0", None),
        ("insertcount=10", 13, "insertcount", "`recordcount`", None),
        ("maxscanlength=5\nminscanlength=9", 15, "maxscanlength", "at most", None),
        ("exponential.percentile=100", 24, "exponential.percentile", "99.999", None),
    ];
    for (text, column, property, expected, near) in cases {
        let error = refuse(&format!("\n{text}\n"));
        assert_eq!((error.line, error.column), (3, column), "{text}: {error}");
        assert_eq!(error.property, property);
        assert!(error.expected.contains(expected), "{text}: {error}");
        assert_eq!(error.nearest.as_deref(), near, "{text}");
    }
    let zeros = refuse("readproportion=0\nupdateproportion=0\n");
    assert!(zeros.to_string().contains("all proportions are 0"), "{zeros}");
}

#[test]
fn other_workloads_and_other_files_are_refused() {
    let error = parse_ycsb("w", "workload=site.ycsb.workloads.TimeSeriesWorkload").unwrap_err();
    assert!(error.to_string().contains("CoreWorkload"), "{error}");
    let error = parse_ycsb("w", "name = \"quickstart\"\n[target]\n").unwrap_err();
    assert!(error.to_string().contains("no property of a YCSB workload"), "{error}");
    assert!(parse_ycsb("w", "").is_err());
}

#[test]
fn the_span_covers_the_fault() {
    let text = format!("{CLASS}# ümlaut\r\nthreadcount = none\r\n");
    let error = parse_ycsb("w", &text).unwrap_err();
    assert_eq!(&text[error.span.clone()], "none");
    assert_eq!((error.line, error.column), (3, 15));
    assert_eq!(
        error.to_string(),
        "line 3, column 15: `threadcount` is set to `none`; expected a whole number from 1 to 1000000"
    );
}
