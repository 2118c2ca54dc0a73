//! Is a ratio between two volumes the same at every scale? With a real Cassandra; twenty minutes on a quiet machine, so
//! that `make test-scales` runs it and nothing else does.

use crate::support::{Laboratory, lane::Share};

/// The scales that are compared.
const SCALES: [u32; 3] = [64, 16, 4];
/// Ratios may differ by this much of each other.
const AGREES: f64 = 0.05;

/// Two volumes of 1,600 and 6,400 IOPS beside CPUs that have room, and a page cache of a quarter of the data: all of it
/// is divided.
fn experiment(scale: u32) -> String {
    format!(
        r#"
name = "scale-{scale}"
question = "What do four times the IOPS give at 1:{scale}?"
baseline = "iops-1600"

[dataset]
records = 8_000_000

[[configuration]]
name = "iops-1600"
instance = {{ vcpus = 4, memory_gib = 32 }}
data_volume = {{ iops = 1600, mib_per_s = 400, size_gib = 100 }}

[[configuration]]
name = "iops-6400"
instance = {{ vcpus = 4, memory_gib = 32 }}
data_volume = {{ iops = 6400, mib_per_s = 400, size_gib = 100 }}

[[workload]]
name = "reads"
read = 1.0
distribution = "uniform"

[load]
concurrency = [16]
warmup_s = 2
duration_s = 30
repetitions = 3
seed = 1

[provider.local]
scale = {scale}
volumes = "served"
page_cache_mib = {}
heap_mib = 512
"#,
        2_304 / scale
    )
}

/// The ratio of the faster to the slower, and how many operations a second each of them did.
fn ratio_at(lab: &Laboratory, scale: u32) -> f64 {
    let file = format!("scale-{scale}.toml");
    lab.write(&file, &experiment(scale));
    let analysis = lab.exits(0, &["run", &file, "--format", "json"]).json();
    let cells = analysis["cells"].as_array().unwrap();
    for cell in cells {
        assert_eq!(cell["valid_trials"], 3, "{cell:#}");
        assert_eq!(cell["limit"]["kind"], "volume_iops", "1:{scale}: {:#}", cell["limit"]);
        assert!(cell["limited_here"].is_null(), "1:{scale}: {cell:#}");
    }
    let ratio = &cells[1]["ratio_to_baseline"];
    println!(
        "1:{scale}: {} and {} operations/s, ratio {} ({} to {})",
        cells[0]["throughput_ops_per_s"]["median"],
        cells[1]["throughput_ops_per_s"]["median"],
        ratio["median"],
        ratio["low"],
        ratio["high"]
    );
    assert_eq!(lab.leftovers(), Vec::<String>::new());
    ratio["median"].as_f64().unwrap()
}

#[test]
#[ignore = "make test-scales: twenty minutes on a quiet machine"]
fn two_volumes_have_one_ratio_at_every_scale() {
    let lab = Laboratory::on_machine(Share::Whole);
    let ratios = SCALES.map(|scale| ratio_at(&lab, scale));
    for (scale, ratio) in SCALES.iter().zip(ratios) {
        let off = ratio / ratios[1] - 1.0;
        assert!(off.abs() <= AGREES, "1:{scale}: {ratio} beside {} at 1:{}", ratios[1], SCALES[1]);
    }
}
