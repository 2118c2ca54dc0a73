//! How fast a CPU of this machine is: its clock at work, and a fixed kernel, on one thread; and beside which instance
//! types that is.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{BuildHasherDefault, Hasher as _};
use std::hint::black_box;
use std::time::{Duration, Instant};

use ::catalog::{CPU_REFERENCE, CpuSpeed, Processor, cpu_speeds_near};
use process::failure::Failure;
use process::output::{Format, pretty};
use serde::Serialize;

/// What Linux says of the processor.
const CPUINFO: &str = "/proc/cpuinfo";
/// Each is measured so many times; the best of them had least taken from it.
const TIMES: usize = 5;
/// For so long each time.
const EACH: Duration = Duration::from_millis(200);
/// Steps between two looks at the time.
const STEPS: u64 = 1 << 20;
/// Cycles of a step of [`chain`] on x86-64: 3 of a product of 64 bits and 1 of an exclusive or, on Intel's cores since
/// Nehalem and AMD's since Zen (Agner Fog, "Instruction tables").
const CYCLES: f64 = 4.0;
/// Keys of a round of [`kernel`]: half a MiB with its table, as a core's own cache holds.
const KEYS: usize = 8_192;
/// Families that are shown beside a speed.
const NEAR: usize = 5;

/// What was measured.
#[derive(Debug, Serialize)]
struct Measured {
    processor: String,
    architecture: Option<&'static str>,
    /// `None`: not on this kind of processor.
    ghz: Option<f64>,
    kernel_rounds_per_s: f64,
    /// Least of the times it was measured, over the most: 1 where nothing came between.
    kernel_least_share: f64,
    /// `None`: no clock, or an architecture that the catalog does not know.
    speed: Option<Speeds>,
}

#[derive(Debug, Serialize)]
struct Speeds {
    reference: &'static str,
    /// Of a vCPU that shares its core with another one.
    shared_core: CpuSpeed,
    /// Of one that is a core.
    whole_core: CpuSpeed,
    /// Families with a vCPU like the first.
    near: Vec<Near>,
}

#[derive(Debug, Serialize)]
struct Near {
    family: String,
    #[serde(flatten)]
    known: CpuSpeed,
}

pub fn run(format: Format) -> Result<(), Failure> {
    let processor = Processor::read(&std::fs::read_to_string(CPUINFO).unwrap_or_default());
    let ghz = clock_can_be_measured().then(|| best(|| per_second(|| chain(STEPS)) * STEPS as f64 * CYCLES / 1e9).1);
    let mut seed = 0;
    let (least, most) = best(|| {
        per_second(|| {
            seed += 1;
            kernel(seed)
        })
    });
    let speed = ghz.and_then(|ghz| processor.speeds(ghz)).map(|(shared_core, whole_core)| Speeds {
        reference: CPU_REFERENCE,
        shared_core,
        whole_core,
        near: cpu_speeds_near(shared_core.speed, NEAR)
            .into_iter()
            .map(|(family, known)| Near { family, known })
            .collect(),
    });
    let measured = Measured {
        processor: processor.name,
        architecture: processor.architecture,
        ghz,
        kernel_rounds_per_s: most,
        kernel_least_share: least / most,
        speed,
    };
    match format {
        Format::Json => println!("{}", pretty(&serde_json::json!(measured))),
        Format::Human => shown(&measured),
    }
    Ok(())
}

fn shown(measured: &Measured) {
    let name = if measured.processor.is_empty() { "not named" } else { measured.processor.as_str() };
    println!(
        "processor  {name} ({})",
        measured.architecture.unwrap_or("an architecture that the catalog does not have")
    );
    match measured.ghz {
        Some(ghz) => println!("clock      {ghz:.2} GHz at work, one thread"),
        None => println!("clock      not measured: only by a release build, on x86-64"),
    }
    println!(
        "kernel     {:.0} rounds/s, one thread; the least of {TIMES} times {:.0} % of that. Of two machines with the \
         same iopslab the ratio is that of their CPUs",
        measured.kernel_rounds_per_s,
        measured.kernel_least_share * 100.0
    );
    let Some(speed) = &measured.speed else {
        println!("speed      not known: without a clock, or instructions for each clock of this architecture");
        return;
    };
    let (shared, whole) = (&speed.shared_core, &speed.whole_core);
    let apart = shared.apart.map_or_else(String::new, |apart| format!(", within a factor of {:.2}", 1.0 + apart));
    println!("speed      {:.3} ({}{apart}); 1 is {}", shared.speed, shared.basis.words(), speed.reference);
    println!("           {:.3} if a CPU here is a whole core, not one of its two threads", whole.speed);
    let near: Vec<String> = speed.near.iter().map(|near| format!("{} {:.3}", near.family, near.known.speed)).collect();
    println!("near       {}", near.join(", "));
    println!("in an experiment: cpu_speed = {:.2}", shared.speed);
}

/// The steps of a chain take a known number of cycles only as x86-64 does them, and as an optimising compiler has them.
fn clock_can_be_measured() -> bool {
    cfg!(target_arch = "x86_64") && !cfg!(debug_assertions)
}

/// The least and the most of several measurements.
fn best(mut measure: impl FnMut() -> f64) -> (f64, f64) {
    let all: Vec<f64> = (0..TIMES).map(|_| measure()).collect();
    (all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().copied().fold(0.0, f64::max))
}

/// How often something is done in a second.
fn per_second(mut work: impl FnMut() -> u64) -> f64 {
    let start = Instant::now();
    let mut done = 0.0;
    loop {
        black_box(work());
        done += 1.0;
        let passed = start.elapsed();
        if passed >= EACH {
            return done / passed.as_secs_f64();
        }
    }
}

/// Steps that each wait for the one before: a product and an exclusive or, in which no compiler finds a shorter way.
fn chain(steps: u64) -> u64 {
    let key = black_box(0x9e37_79b9_7f4a_7c15_u64);
    let mut value = black_box(1_u64);
    for _ in 0..steps {
        value = value.wrapping_mul(value) ^ key;
    }
    value
}

/// A round of what databases do with keys: they are made, put into a table, sorted, written as text and hashed, and
/// looked up. The same seed gives the same sum.
fn kernel(seed: u64) -> u64 {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut keys: Vec<u64> = Vec::with_capacity(KEYS);
    let mut table: HashMap<u64, u64, BuildHasherDefault<DefaultHasher>> =
        HashMap::with_capacity_and_hasher(KEYS, BuildHasherDefault::default());
    for at in 0..KEYS {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        keys.push(state);
        table.insert(state, at as u64);
    }
    keys.sort_unstable();
    let mut hasher = DefaultHasher::new();
    let mut sum = 0_u64;
    for key in &keys {
        hasher.write(key.to_string().as_bytes());
        sum = sum.rotate_left(5) ^ table.get(key).copied().unwrap_or_default();
    }
    sum ^ hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_does_the_same_for_the_same_seed() {
        assert_eq!(kernel(7), kernel(7));
        assert_ne!(kernel(7), kernel(8));
    }

    #[test]
    fn a_chain_depends_on_each_of_its_steps() {
        let ends: Vec<u64> = (0..4).map(chain).collect();
        assert_eq!(ends[0], 1);
        assert_eq!(ends[1], 1 ^ 0x9e37_79b9_7f4a_7c15);
        assert_eq!(ends[2], ends[1].wrapping_mul(ends[1]) ^ 0x9e37_79b9_7f4a_7c15);
        assert_ne!(ends[3], ends[2]);
    }

    #[test]
    fn the_best_is_the_most_and_the_least_is_told() {
        let mut values = [3.0, 5.0, 4.0, 2.0, 4.5].into_iter();
        assert_eq!(best(|| values.next().unwrap()), (2.0, 5.0));
    }
}
