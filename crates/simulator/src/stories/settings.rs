//! What settings do, as the truth states it of a variant.

use super::*;

/// Operations a second and device reads of each, of the plain configuration and of its variant with this effect.
fn with(effect: &str, volume: &str) -> [(f64, f64); 2] {
    let mut story = quiet("read_cpu_us = 1000").volume(volume);
    story
        .configurations
        .push_str("\n[[variant]]\nname = \"v\"\nsettings = { table = { compression = { chunk_length_in_kb = 4 } } }\n");
    story.truth.push_str(&format!("\n[provider.simulated.settings.v]\n{effect}\n"));
    let job = story.job();
    let of = |trial: &SimulatedTrial| {
        let throughput = trial.throughput();
        (throughput, trial.iops(0.0, 20.0).0 / throughput)
    };
    let both = all(&job);
    let one = |name: &str| both.iter().find(|t| t.record.configuration == name).map(of).unwrap();
    [one("a"), one("a_v")]
}

#[test]
fn settings_change_speed_misses_and_cpu() {
    const CAPPED: &str = "data_volume = { iops = 1000, mib_per_s = 500, size_gib = 100 }";
    // The CPU is the limit.
    let [plain, faster] = with("speed = 1.5", FAST);
    near(faster.0 / plain.0, 1.5, 0.02);
    let [plain, dearer] = with("cpu = 2.0", FAST);
    near(plain.0 / dearer.0, 2.0, 0.02);
    near(dearer.1, plain.1, 0.02);
    // The volume is: half the misses are twice the reads.
    let [plain, smaller] = with("misses = 0.5", CAPPED);
    near(smaller.0 / plain.0, 2.0, 0.02);
    near(plain.1 / smaller.1, 2.0, 0.02);
    // And CPU matters to it no more than before.
    let [plain, dearer] = with("cpu = 1.2", CAPPED);
    near(plain.0 / dearer.0, 1.0, 0.02);
    // No more than all reads can miss.
    let [_, all] = with("misses = 100.0", CAPPED);
    near(all.1, 1.0, 0.01);
}
