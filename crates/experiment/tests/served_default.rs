//! Volumes of a file that does not say how they are emulated: served where this machine has what that takes.

use crate::story::{GOOD, read, with};
use catalog::Catalog;
use experiment::{Experiment, ParseContext, Provider, ReadFor, ThisMachine, parse, static_notes};

fn machine(cpus: f64) -> ThisMachine {
    ThisMachine { cpus, cannot_serve: None, cannot_stripe: None }
}

fn on(machine: Option<ThisMachine>, text: &str, provider: Option<Provider>) -> Result<Experiment, String> {
    let beside = ParseContext { machine, ..ParseContext::alone() };
    let purpose = provider.map_or(ReadFor::Anybody, ReadFor::PlanOf);
    parse(Catalog::built_in(), "x.toml", text, &beside, purpose).map_err(|mistakes| mistakes.to_string())
}

fn reported(experiment: &Experiment, provider: Option<Provider>) -> Vec<String> {
    let notes = static_notes(Catalog::built_in(), experiment, provider, None);
    notes.into_iter().filter(|note| note.rule == "volumes_throttled").map(|note| note.message.to_string()).collect()
}

/// r4.4xlarge at 1:8: two CPUs; 320 GiB of gp2 burst to 375 requests a second, 0.056 CPUs.
#[test]
fn they_are_served_where_the_cpus_are_there_and_else_throttled_with_the_reason() {
    let text = format!("{GOOD}[provider.local]\nscale = 8\n");
    for provider in [None, Some(Provider::Local)] {
        for (cpus, way) in [(2.06, true), (2.05, false)] {
            let read = on(Some(machine(cpus)), &text, provider).unwrap();
            assert_eq!(read.place.serves_volumes(), way, "{cpus}");
            let said = reported(&read, provider);
            assert_eq!(said.len(), usize::from(!way), "{cpus}: {said:?}");
            assert!(said.iter().all(|s| s.contains("0.06 CPUs") && s.contains("this machine's 2.05")), "{said:?}");
        }
    }
}

/// A local disk lets 51,600 + 22,500 requests a second through at 1:16; a database of one CPU makes 6,000 of them.
#[test]
fn a_database_asks_for_no_more_than_its_cpus_can_make() {
    let fast = |scale: u32| {
        with(
            "instance = \"r4.4xlarge\"\ndata_volume = { type = \"gp2\", size_gib = 320 }",
            "instance = \"i3.4xlarge\"\ndata_volume = \"local\"",
        ) + &format!("[provider.local]\nscale = {scale}\n")
    };
    for (cpus, way) in [(1.91, true), (1.89, false)] {
        assert_eq!(on(Some(machine(cpus)), &fast(16), None).unwrap().place.serves_volumes(), way, "{cpus}");
    }
}

/// Machines that are stated for another run say nothing of what this one's have to do.
#[test]
fn sections_of_other_providers_do_not_decide() {
    let text = format!("{GOOD}[provider.local]\nscale = 8\n");
    let hosts = "[provider.hosts]\ndatabase = [\"db1\"]\nclient = [\"load1\"]\n";
    for others in [hosts, "[provider.aws]\n"] {
        for (cpus, served) in [(2.06, true), (2.05, false)] {
            let read = on(Some(machine(cpus)), &format!("{text}{others}"), Some(Provider::Local)).unwrap();
            assert_eq!(read.place.serves_volumes(), served, "{cpus} {others}");
        }
    }
}

#[test]
fn a_machine_without_fuse_throttles_and_says_why() {
    let without =
        ThisMachine { cpus: 64.0, cannot_serve: Some("/dev/fuse: no such device".to_owned()), cannot_stripe: None };
    let read = on(Some(without.clone()), GOOD, None).unwrap();
    assert!(!read.place.serves_volumes());
    let said = reported(&read, None);
    assert!(said[0].contains("/dev/fuse: no such device"), "{said:?}");
    let stated = format!("{GOOD}[provider.local]\nvolumes = \"served\"\n");
    let read = on(Some(without), &stated, None).unwrap();
    assert!(read.place.serves_volumes(), "refused where it would be served");
}

#[test]
fn what_the_file_states_is_obeyed_and_nothing_is_served_elsewhere() {
    let stated = |way: &str| format!("{GOOD}[provider.local]\nvolumes = \"{way}\"\n");
    for (way, scale) in [("served", true), ("throttled", false)] {
        for cpus in [0.1, 64.0] {
            let read = on(Some(machine(cpus)), &stated(way), None).unwrap();
            assert_eq!((read.place.serves_volumes(), reported(&read, None)), (scale, Vec::new()));
        }
    }
    assert!(!on(None, GOOD, None).unwrap().place.serves_volumes());
    let truth = format!("{GOOD}[provider.simulated]\n");
    for provider in [None, Some(Provider::Simulated)] {
        let read = on(Some(machine(64.0)), &truth, provider).unwrap();
        assert!(!read.place.serves_volumes(), "a simulation serves nothing");
    }
}

/// The kernel holds a volume to one number. A plan says that a run would refuse it.
#[test]
fn burst_credits_are_for_served_volumes() {
    let full = with("size_gib = 320 }", "size_gib = 320, burst = \"full\" }");
    let throttled = "[provider.local]\nvolumes = \"throttled\"\n";
    let refused = "burst credits of a throttled volume: the kernel holds it to what lasts (set volumes = \"served\" in \
                   [provider.local], or remove it)";
    let local = Some(Provider::Local);
    let own = on(Some(machine(64.0)), &format!("{full}{throttled}"), local).unwrap_err();
    assert_eq!(own.trim_end(), format!("x.toml:9:47: {refused}"));
    let of_all = format!("{GOOD}{throttled}burst = \"full\"\n");
    let of_all = on(Some(machine(64.0)), &of_all, local).unwrap_err();
    assert_eq!(of_all.matches(refused).count(), 1, "{of_all}");
    let without = ThisMachine { cannot_serve: Some("/dev/fuse: no such device".to_owned()), ..machine(64.0) };
    assert!(on(Some(without), &full, local).is_err(), "nobody stated it, and nobody follows them");
    assert!(on(Some(machine(64.0)), &full, local).is_ok(), "they are served");
    let planned = on(Some(machine(64.0)), &format!("{full}{throttled}"), None).unwrap();
    assert!(planned.notes.iter().any(|note| note.message.to_string().contains("burst credits of a throttled volume")));
    assert!(on(Some(machine(64.0)), &full, Some(Provider::Simulated)).is_ok(), "a simulation has buckets");
    assert!(on(Some(machine(64.0)), &format!("{GOOD}{throttled}"), local).is_ok(), "what lasts needs none");
}

/// What only a served volume can do needs no second word where volumes are served.
#[test]
fn a_time_of_requests_makes_sense_only_where_the_volumes_are_served() {
    let text = with("{ type = \"gp2\", size_gib = 320 }", "{ iops = 300, latency_us = 500 }");
    assert!(on(Some(machine(64.0)), &text, None).is_ok());
    let short = on(Some(machine(16.01)), &text, None).unwrap_err();
    assert!(short.contains("`latency_us` has no effect on a throttled volume"), "{short}");
    assert!(read(&text, ReadFor::Run(Provider::Local)).is_err(), "nobody knows the machine");
}
