//! `[load] clients = "auto"`: who will send decides how many there are, and a plan says the arithmetic.

use crate::story;
use crate::story::{GOOD, each_refused, notes, with};
use experiment::{ClientCost, Experiment, ParseContext, Provider, ReadFor, parse};

/// The sound file with these lines instead of its load level, and more sections at its end.
fn load(lines: &str, sections: &str) -> String {
    format!("{}\n{sections}\n", with("concurrency = [10]", lines))
}

fn auto(rates: &str, sections: &str) -> String {
    load(&format!("clients = \"auto\"\nrate = [{rates}]"), sections)
}

fn read(text: &str, provider: Provider) -> Result<Experiment, String> {
    story::read(text, ReadFor::PlanOf(provider)).map_err(|mistakes| mistakes.to_string())
}

fn of(text: &str, provider: Provider) -> (u32, String) {
    let experiment = read(text, provider).unwrap();
    let reported = notes(&experiment, "clients_counted", Some(provider));
    let [reported] = reported.as_slice() else { panic!("{reported:?}\n{text}") };
    (experiment.load.clients, reported.clone())
}

#[test]
fn on_aws_the_number_follows_from_the_highest_rate_and_the_type_of_the_clients() {
    // A c7i.2xlarge has 8 vCPUs: 4 load threads at 80 % and 40 us carry 80,000 operations/s.
    for (rates, sections, expected) in [
        ("500", "", 1),
        ("5_000, 80_000", "", 1),
        ("80_001, 5_000", "", 2),
        ("500_000", "", 7),
        ("500_000", "[provider.local]\nscale = 10", 7),
        ("80_001", "[provider.aws]\nclient = \"c7i.4xlarge\"", 1),
        ("80_001", "[provider.aws]\nclient = \"c7g.xlarge\"", 3),
    ] {
        let (clients, reported) = of(&auto(rates, sections), Provider::Aws);
        assert_eq!(clients, expected, "{rates} {sections}: {reported}");
    }
    let text = auto("200_000", "");
    assert_eq!(
        of(&text, Provider::Aws).1,
        "note: clients = \"auto\" is 3: 200000 operations/s x 40 us of CPU = 8.0 CPUs; a client of c7i.2xlarge (8 \
         vCPUs) has 4 load threads, of which 80 % may be busy: 3.2 CPUs. State a number to have another one"
    );
    // So many machines are made, and what was counted is not doubted.
    let experiment = read(&text, Provider::Aws).unwrap();
    let machines = &experiment.place.aws().unwrap().batches[0].machines;
    let made = machines.iter().filter(|machine| machine.configuration.is_none());
    assert_eq!(made.count(), 3);
    assert!(notes(&experiment, "clients_too_few", Some(Provider::Aws)).is_empty());
    // Stating fewer gives a note.
    let fewer = read(&text.replace("\"auto\"", "2"), Provider::Aws).unwrap();
    let reported = notes(&fewer, "clients_too_few", Some(Provider::Aws));
    assert!(reported[0].contains("Set [load] clients = 3"), "{reported:?}");
}

#[test]
fn machines_that_are_named_send_all_and_processes_of_one_machine_do_not_become_more() {
    let hosts = "[provider.hosts]\nclient = [\"load1\", \"load2\"]\ndatabase = [\"db1\"]";
    let (clients, reported) = of(&auto("30_000", hosts), Provider::Hosts);
    assert_eq!(clients, 2);
    assert!(
        reported.contains(
            "is 2, all machines that [provider.hosts] client names: 30000 operations/s x 40 us of CPU = 1.2 CPUs, \
             and 15000 operations/s from each"
        ),
        "{reported}"
    );
    let (clients, reported) = of(&auto("30_000", hosts), Provider::Local);
    assert_eq!(clients, 1);
    assert!(reported.contains("is 1 on this machine"), "{reported}");
    let simulated = of(&auto("30_000", "[provider.simulated]"), Provider::Simulated);
    assert_eq!(simulated.0, 1);

    let target = "[target]\nhosts = [\"h:9042\"]\nkeyspace = \"lab\"\nclient = [\"a\", \"b\", \"c\"]\n[dataset]";
    let existing = auto("30_000", "").replacen("[dataset]", target, 1);
    assert_eq!(of(&existing, Provider::Local).0, 3);
}

#[test]
fn what_has_no_rate_or_takes_too_many_is_refused_at_its_place() {
    each_refused(&[
        (
            load("clients = \"auto\"\nconcurrency = [10]", ""),
            "x.toml:17:11: clients = \"auto\" takes the number from the rates, and a closed loop states none",
        ),
        (
            load("clients = \"auto\"\nconcurrency = [10]\nrate = [100]", ""),
            "state a number of clients, or rate = [N] instead of concurrency",
        ),
        (
            load("clients = \"many\"\nrate = [100]", ""),
            "x.toml:17:11: clients cannot be \"many\" (a whole number from 1 to 32, or \"auto\")",
        ),
        (load("clients = 33", "") + "rate = [100]", "clients cannot be 33 (a whole number from 1 to 32"),
        (load("clients = 1.5\nrate = [100]", ""), "clients cannot be 1.5"),
    ]);
    for (text, expected) in [
        (auto("3_000_000", ""), "x.toml:17:11: clients = \"auto\" is 38, and 32 are the most: 3000000 operations/s"),
        // What several clients cannot do, they cannot do either where their number was counted.
        (
            auto("100_000", "").replace("rate", "arrival = \"constant\"\nrate"),
            "arrival = \"constant\" from 2 clients is not constant",
        ),
        (auto("100_000", "").replace("rate", "warmup = \"auto\"\nrate"), "warmup = \"auto\" with 2 clients"),
    ] {
        let message = read(&text, Provider::Aws).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
    assert!(notes(&story::accepted(GOOD), "clients_counted", None).is_empty());
}

#[test]
fn what_a_client_was_measured_to_cost_bounds_the_rates_of_this_machine() {
    let cost = ClientCost { threads: 2, closed_us: 4.0, sparse_us: 44.0 };
    let read = |rate: &str, sections: &str, provider| {
        let beside = ParseContext { client: Some(cost), ..ParseContext::alone() };
        let text = load(&format!("rate = [{rate}]"), sections);
        let purpose = ReadFor::PlanOf(provider);
        parse(catalog::Catalog::built_in(), "x.toml", &text, &beside, purpose).map_err(|m| m.to_string())
    };
    // 2 threads of 4 us: 500,000/s, and 0.8 of both at 200,000: 0.8 CPUs, and 0.8 for 20,000 wake-ups a second.
    let reported = |rate: &str, sections: &str| {
        let experiment = read(rate, sections, Provider::Local).unwrap();
        notes(&experiment, "clients_too_few", Some(Provider::Local))
    };
    assert!(reported("199_000", "").is_empty());
    let [busy] = reported("201_000", "").try_into().unwrap();
    assert!(busy.contains("cost the client up to 1.6 CPUs of 2 load threads, as measured"), "{busy}");
    assert!(read("500_000", "", Provider::Local).is_ok());
    let refused = read("1_000, 500_001", "", Provider::Local).unwrap_err();
    assert!(
        refused.contains("500001 operations/s are more than this machine's client can send: 2 load threads of 4.0 us")
            && refused.contains("carry 500000 at the most"),
        "{refused}"
    );
    assert!(read("500_001", "[provider.local]\nscale = 2", Provider::Local).is_ok());
    let scaled = read("1_000_002", "[provider.local]\nscale = 2", Provider::Local).unwrap_err();
    assert!(scaled.contains("500001 operations/s (of the model of 1:2)"), "{scaled}");
    // Machines of AWS, and a simulation, are not this one.
    for elsewhere in [Provider::Aws, Provider::Simulated] {
        assert!(read("500_001", "", elsewhere).is_ok(), "{elsewhere:?}");
    }
}
