//! What a simulated trial costs: `cargo run -p provider --example simulated_cost`.
//!
//! Thousands of trials are simulated in tests, so that a trial of the closed loop must stay at a few milliseconds and
//! one of the open loop at about a microsecond for each request.

#![allow(clippy::print_stdout, reason = "its output is what it is for")]
#![allow(clippy::expect_used, reason = "an example that cannot run has nothing to say")]

use provider::simulated::Simulation;

fn job(load: &str, volume: &str) -> experiment::Job {
    let text = format!(
        "name = \"cost\"\n[dataset]\nrecords = 20_000_000\n[[configuration]]\nname = \"a\"\n\
         instance = {{ vcpus = 4, memory_gib = 16 }}\nmemory_limit_gib = 4\n{volume}\n\
         [[workload]]\nname = \"w\"\nread = 0.5\nupdate = 0.5\n[load]\n{load}\nrepetitions = 100\n[provider.simulated]\n"
    );
    let (catalog, alone) = (catalog::Catalog::built_in(), experiment::ParseContext::alone());
    let experiment = experiment::parse(catalog, "cost.toml", &text, &alone, experiment::ReadFor::Anybody);
    experiment::job(&experiment.expect("the example's experiment is sound"))
}

/// CPU time of this thread so far, milliseconds: wall time says little on a machine that others use.
fn cpu_ms() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let ns = text.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok());
    ns.expect("Linux counts the time of a thread") / 1e6
}

fn main() {
    let nvme = "data_volume = { iops = 100000, mib_per_s = 2000, size_gib = 100 }";
    let slow = "data_volume = { iops = 1000, mib_per_s = 500, size_gib = 100 }";
    let cases = [
        ("closed loop, CPU-bound, 5 + 60 s", "concurrency = [64]\nwarmup_s = 5\nduration_s = 60", nvme),
        ("closed loop, IOPS-bound, 5 + 60 s", "concurrency = [64]\nwarmup_s = 5\nduration_s = 60", slow),
        ("open loop, 2,000/s, 5 + 45 s: 100,000 requests", "rate = [2000]\nwarmup_s = 5\nduration_s = 45", nvme),
    ];
    for (name, load, volume) in cases {
        let job = job(load, volume);
        let plan = &job.plan;
        let truth = plan.simulated.as_ref().expect("the plan has a truth");
        let simulation = Simulation::new(&job, truth);
        let began = cpu_ms();
        for planned in &plan.trials {
            let trial = simulation.trial(planned).expect("the plan is whole");
            assert!(!trial.intervals.is_empty());
        }
        let each_ms = (cpu_ms() - began) / plan.trials.len() as f64;
        println!("{name}: {each_ms:.2} ms of CPU a trial");
    }
}
