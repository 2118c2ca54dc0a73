//! How fast CPUs are: what the catalog knows, what is stated, and what becomes of it on this machine.

use crate::story::{accepted, each_refused, with};
use catalog::{CpuSpeed, CpuSpeedBasis};
use experiment::{Provider, Setups, setups, static_notes};

/// Two machines of 16 vCPUs at 1:16, with a line more of the second.
fn two(first: &str, second: &str, more: &str) -> String {
    let volume = "data_volume = { iops = 1000, mib_per_s = 100, size_gib = 100 }";
    format!(
        "name = \"x\"\n[dataset]\nrecords = 100_000\n\n\
         [[configuration]]\nname = \"one\"\ninstance = {first}\n{volume}\n\n\
         [[configuration]]\nname = \"two\"\ninstance = {second}\n{volume}\n{more}\n\n\
         [[workload]]\nname = \"w\"\nread = 0.8\nupdate = 0.2\n\n[load]\nconcurrency = [10]\n\n\
         [provider.local]\nscale = 16\n"
    )
}

const SIZE: &str = "{ vcpus = 16, memory_gib = 64 }";

fn made(text: &str) -> Setups {
    setups(&accepted(text))
}

fn cpus(text: &str) -> Vec<f64> {
    made(text).iter().map(|setup| setup.cpus).collect()
}

/// Rules of the notes on CPUs.
fn notes(text: &str) -> Vec<&'static str> {
    let catalog = catalog::Catalog::built_in();
    let all = static_notes(catalog, &accepted(text), Some(Provider::Local), None);
    all.into_iter().map(|note| note.rule).filter(|rule| rule.starts_with("cpu")).collect()
}

/// Ivy Bridge, 27 ECU of 8 vCPUs, beside Broadwell, 31: it has less of a CPU here, too, and the fastest has its vCPUs /
/// 16.
#[test]
fn a_slower_generation_has_less_of_a_cpu() {
    let text = two("\"i2.4xlarge\"", "\"r4.4xlarge\"", "");
    assert_eq!(cpus(&text), [27.0 / 31.0, 1.0]);
    let share = made(&text)[0].stands_for.clone().unwrap();
    let speed: CpuSpeed = share.speed.unwrap();
    assert_eq!((speed.basis, share.vcpus), (CpuSpeedBasis::Ecu, 16.0));
    assert_eq!(share.unit, Some(31.0 / 37.0), "a CPU here stands for a vCPU of r4");
    assert_eq!(notes(&text), Vec::<&str>::new());
    // One generation alone is as it was.
    assert_eq!(cpus(&two("\"i2.4xlarge\"", "\"r3.4xlarge\"", "")), [1.0, 1.0], "within 4 %");
}

#[test]
fn what_is_stated_counts_before_what_is_known() {
    let stated = two("\"i2.4xlarge\"", "\"r4.4xlarge\"", "cpu_speed = 1.5");
    let cpus_of = cpus(&stated);
    assert!((cpus_of[0] - 27.0 / 37.0 / 1.5).abs() < 1e-12, "{cpus_of:?}");
    assert_eq!(made(&stated)[1].stands_for.as_ref().unwrap().speed, Some(CpuSpeed::stated(1.5)));
    let sized = two("\"m5.4xlarge\"", SIZE, "cpu_speed = 0.5");
    assert_eq!(cpus(&sized), [1.0, 0.5]);
}

/// Nobody has published the speed of a Graviton5 so far: then all CPUs are as many as their vCPUs say, and the plan
/// says so.
#[test]
fn an_unknown_speed_leaves_all_as_they_are_and_is_reported() {
    let arm = two("\"i2.4xlarge\"", "\"r9g.4xlarge\"", "");
    assert_eq!((cpus(&arm), notes(&arm)), (vec![1.0, 1.0], vec!["cpu_speed_unknown"]));
    assert_eq!(made(&arm)[0].stands_for.as_ref().unwrap().unit, None);
    let none = two(SIZE, "{ vcpus = 8, memory_gib = 64 }", "");
    assert_eq!((cpus(&none), notes(&none)), (vec![1.0, 0.5], vec![]), "nothing is known of any");
}

/// A quarter of a CPU is the least that a database is given: beneath it the part is no part.
#[test]
fn what_is_raised_to_the_least_is_reported() {
    let scaled = |scale: u32| {
        let text = two("\"i2.4xlarge\"", "\"r4.4xlarge\"", "").replace("scale = 16", &format!("scale = {scale}"));
        (cpus(&text), notes(&text))
    };
    let (parts, reported) = scaled(64);
    assert_eq!((parts[0], parts[1], reported), (0.25, 0.25, vec!["cpus_raised"]));
    let (parts, reported) = scaled(32);
    assert!((parts[0] - 27.0 / 62.0).abs() < 1e-12 && reported.is_empty(), "{parts:?}");
}

#[test]
fn a_speed_that_is_another_unit_is_refused_at_its_place() {
    let stated = |speed: &str| two(SIZE, SIZE, &format!("cpu_speed = {speed}"));
    for speed in ["0.1", "10"] {
        accepted(&stated(speed));
    }
    let range = "cpu_speed";
    each_refused(&[(stated("0.09"), range), (stated("3100"), range), (stated("nan"), range)]);
}

/// Machines that are what they are get no part of anything.
#[test]
fn bought_and_existing_machines_have_their_own_cpus() {
    let existing = with("[dataset]", "[target]\nhosts = [\"10.0.0.1:9042\"]\nkeyspace = \"lab\"\n\n[dataset]");
    let setup = &made(&existing)[0];
    assert_eq!((setup.stands_for.as_ref(), setup.cpus), (None, 16.0));
}
