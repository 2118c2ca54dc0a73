//! What the choice of an operation costs, per key distribution: `cargo bench -p workload`.
//!
//! The goal is below 50 ns, so that it stays under 1 % of what a request costs the client.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]
#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::{hint::black_box, sync::Arc, time::Instant};

use workload::{Definition, Distribution, Generator, InsertSequence, KeyFormat, Mix, ValuePool, write_key};

const RECORDS: u64 = 3_750_000;
const OPERATIONS: u32 = 5_000_000;

fn main() {
    let distributions = [
        ("uniform", Distribution::Uniform),
        ("zipfian", Distribution::Zipfian { constant: 0.99 }),
        ("latest", Distribution::Latest),
        ("hotspot", Distribution::Hotspot { data_fraction: 0.2, operation_fraction: 0.8 }),
        ("exponential", Distribution::Exponential { percentile: 95.0, fraction: 0.857_142_857_1 }),
        ("sequential", Distribution::Sequential),
    ];
    for (name, distribution) in distributions {
        let definition = Definition::new(name, Mix { read: 0.8, update: 0.2, ..Mix::default() }, distribution);
        let mut generator = Generator::new(&definition, 10, RECORDS, Arc::new(InsertSequence::starting_at(RECORDS)), 1);
        measure(&format!("next_operation, {name}"), || {
            black_box(generator.next_operation());
        });
    }
    let (mut key, mut record) = (String::with_capacity(32), 0);
    measure("write_key, hashed", || {
        record += 1;
        write_key(black_box(record), KeyFormat::default(), &mut key);
        black_box(&key);
    });
    let (pool, mut random) = (ValuePool::new(1, 0.0, 100), workload::Random::from_seed(1));
    measure("value, 100 bytes", || {
        black_box(pool.value(random.next_u64()));
    });
}

fn measure(name: &str, mut step: impl FnMut()) {
    for _ in 0..OPERATIONS / 10 {
        step();
    }
    let start = Instant::now();
    for _ in 0..OPERATIONS {
        step();
    }
    println!("{name:32} {:6.1} ns", start.elapsed().as_secs_f64() * 1e9 / f64::from(OPERATIONS));
}
