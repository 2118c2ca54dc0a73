//! How fast a CPU of this machine is: its clock at work, a fixed kernel, and how long it waits for memory, on one
//! thread; a public kernel on one and on all; and beside which instance types that is.

use std::hint::black_box;
use std::time::{Duration, Instant};

use ::catalog::{CPU_REFERENCE, CpuSpeed, Processor, cpu_speeds_near};
use engine::cpu::{CYCLES, LINES, Walk, chain, kernel};
use process::failure::Failure;
use process::output::{Format, pretty};
use serde::Serialize;

use super::doctor_openssl::{Openssl, PROGRAM};

/// What Linux says of the processor.
const CPUINFO: &str = "/proc/cpuinfo";
/// Each is measured so many times; the best of them had least taken from it.
const TIMES: usize = 5;
/// For so long each time.
const EACH: Duration = Duration::from_millis(200);
/// Steps between two looks at the time.
const STEPS: u64 = 1 << 20;
/// Reads of memory between two looks at the time.
const READS: u64 = 1 << 16;
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
    /// Of a read that depends on the one before, in 256 MiB; nanoseconds.
    memory_read_ns: f64,
    /// `None`: no clock, or an architecture that the catalog does not know.
    speed: Option<Speeds>,
    /// The public kernel.
    openssl: Option<Openssl>,
    /// Why there is none.
    openssl_missing: Option<String>,
    /// By which factor the placements by the clock and by the public kernel differ; `None`: one of them is missing, or
    /// the catalog has no speed of the families nearest by openssl.
    placements_apart: Option<f64>,
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

impl Speeds {
    fn both(&self) -> [f64; 2] {
        [self.shared_core.speed, self.whole_core.speed]
    }
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
    let mut walk = Walk::over(LINES);
    let reads_per_s = best(|| per_second(|| walk.on(READS)) * READS as f64).1;
    let speed = ghz.and_then(|ghz| processor.speeds(ghz)).map(|(shared_core, whole_core)| Speeds {
        reference: CPU_REFERENCE,
        shared_core,
        whole_core,
        near: cpu_speeds_near(shared_core.speed, NEAR)
            .into_iter()
            .map(|(family, known)| Near { family, known })
            .collect(),
    });
    let (openssl, openssl_missing) = match Openssl::measure(PROGRAM, NEAR) {
        Ok(openssl) => (Some(openssl), None),
        Err(why) => (None, Some(why)),
    };
    let both = speed.as_ref().zip(openssl.as_ref());
    let placements_apart = both.and_then(|(speed, openssl)| openssl.apart(speed.both()));
    let measured = Measured {
        processor: processor.name,
        architecture: processor.architecture,
        ghz,
        kernel_rounds_per_s: most,
        kernel_least_share: least / most,
        memory_read_ns: 1e9 / reads_per_s,
        speed,
        openssl,
        openssl_missing,
        placements_apart,
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
    println!(
        "memory     {:.0} ns for a read that depends on the one before, in {} MiB: what a database waits for in a heap \
         larger than the caches",
        measured.memory_read_ns,
        (LINES * 64) >> 20
    );
    match (&measured.openssl, &measured.openssl_missing) {
        (Some(openssl), _) => openssl.shown(),
        (None, why) => println!("openssl    not measured: {}", why.as_deref().unwrap_or_default()),
    }
    let Some(speed) = &measured.speed else {
        println!("speed      not known: without a clock, or instructions for each clock of this architecture");
        return;
    };
    let (shared, whole) = (&speed.shared_core, &speed.whole_core);
    println!("speed      {shared}; 1 is {}", speed.reference);
    println!("           {:.3} if a CPU here is a whole core, not one of its two threads", whole.speed);
    let near: Vec<String> = speed.near.iter().map(|near| format!("{} {:.3}", near.family, near.known.speed)).collect();
    println!("near       {}", near.join(", "));
    if let Some(sentence) = measured.openssl.as_ref().and_then(|openssl| openssl.beside_clock(speed.both())) {
        println!("{sentence}");
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_the_most_and_the_least_is_told() {
        let mut values = [3.0, 5.0, 4.0, 2.0, 4.5].into_iter();
        assert_eq!(best(|| values.next().unwrap()), (2.0, 5.0));
    }
}
