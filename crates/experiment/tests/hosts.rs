//! `[provider.hosts]`: machines of one's own, checked at their places, and what a run on them takes from a file.

use crate::story::{self, GOOD};
use experiment::{MachineStorage, Machines, Place, Provider, ReadFor};

fn with(hosts: &str) -> String {
    format!("{GOOD}\n[provider.hosts]\n{hosts}\n")
}

fn read(text: &str, provider: Provider) -> Result<experiment::Experiment, String> {
    story::read(text, ReadFor::Run(provider)).map_err(|mistakes| mistakes.to_string())
}

fn refused(hosts: &str) -> String {
    read(&with(hosts), Provider::Hosts).unwrap_err()
}

#[test]
fn names_and_tables_are_machines_and_only_a_run_on_hosts_has_them() {
    let text = with(
        "client = [\"load1\"]\ndatabase = [\"db1\", { ssh = \"me@db2\", address = \"10.0.0.5\", data = \"/mnt/nvme\", \
         commitlog_device = \"/dev/sdb\" }]",
    );
    let Place::AsIs(hosts) = read(&text, Provider::Hosts).unwrap().place else { panic!("nobody asked for limits") };
    assert_eq!(hosts.client, ["load1"]);
    let second = &hosts.database[1];
    assert_eq!((second.ssh.as_str(), second.address), ("me@db2", Some([10, 0, 0, 5].into())));
    assert_eq!(second.data, Some(MachineStorage::Directory("/mnt/nvme".to_owned())));
    assert_eq!(second.commitlog, Some(MachineStorage::Device("/dev/sdb".to_owned())));
    assert_eq!(read(&text, Provider::Local).unwrap().place.provider(), Provider::Local);
}

#[test]
fn machines_of_caches_have_nothing_else_of_the_run() {
    let machines = "client = [\"load1\"]\ndatabase = [\"db1\"]";
    let caches = "cache = [\"cache1\", { ssh = \"cache2\", address = \"10.0.0.9\", work_directory = \"/w\" }]";
    let Place::AsIs(hosts) = read(&with(&format!("{machines}\n{caches}")), Provider::Hosts).unwrap().place else {
        panic!("nobody asked for limits");
    };
    let second = &hosts.cache[1];
    assert_eq!((hosts.cache[0].ssh.as_str(), hosts.cache[0].address), ("cache1", None));
    assert_eq!((second.ssh.as_str(), second.address), ("cache2", Some([10, 0, 0, 9].into())));
    assert_eq!(second.work_directory.as_deref(), Some("/w"));
    let said = refused(&format!(
        "{machines}\ncache = [\"db1\", \"load1\", \"c\", \"c\", {{ ssh = \"d\", address = \"d.example\" }}, \
         {{ ssh = \"e\", work_directory = \"w\" }}, {{ ssh = \"f\", data = \"/mnt\" }}, 7]"
    ));
    for part in [
        "`db1` has a database or a client already",
        "`load1` has a database or a client already",
        "`c` is named twice",
        "address cannot be `d.example`",
        "work_directory cannot be `w`",
        "unknown key `data`",
        "a machine is a name or a table",
    ] {
        assert!(said.contains(part), "{part:?} is missing in:\n{said}");
    }
    let none = refused(&format!("{machines}\ncache = []"));
    assert!(none.contains("[provider.hosts] cache names no machine"), "{none}");
}

#[test]
fn all_mistakes_are_reported_at_once_each_at_its_place() {
    let said = refused(
        "database = [{ ssh = \"-oProxyCommand=x\" }, { ssh = \"db1\", address = \"db1.example\" }, { ssh = \"db2\", \
         data = \"nvme\" }, \"db3\", \"db3\", 7]\nclient = []",
    );
    for part in [
        "a machine cannot be called `-oProxyCommand=x`",
        "address cannot be `db1.example`",
        "data cannot be `nvme`",
        "`db3` is named twice",
        "a machine is a name or a table",
        "[provider.hosts] client names no machine",
    ] {
        assert!(said.contains(part), "{part:?} is missing in:\n{said}");
    }
    let said = refused("database = [{ ssh = \"db1\", disk = \"/dev/sdb\" }]\nclient = [\"load1\"]");
    assert!(said.contains("unknown key `disk`"), "{said}");
}

#[test]
fn what_would_not_be_measured_is_refused() {
    let machines = "database = [\"db1\"]\nclient = [\"load1\"]";
    let three = with(machines).replacen("[[configuration]]\n", "[[configuration]]\nnodes = 3\n", 1);
    let said = read(&three, Provider::Hosts).unwrap_err();
    assert!(said.contains("[provider.hosts] names 1 for databases"), "{said}");
    let none = read(GOOD, Provider::Hosts).unwrap_err();
    assert!(none.contains("[provider.hosts] is missing"), "{none}");
    let scaled = with(machines) + "[provider.local]\nscale = 4\n";
    let said = read(&scaled, Provider::Hosts).unwrap_err();
    assert!(said.contains("scale = 4: machines without limits are measured as they are"), "{said}");
    let limited = scaled.replace("client =", "limits = true\nclient =");
    let held = read(&limited, Provider::Hosts).unwrap().place;
    assert_eq!((held.provider(), held.scale()), (Provider::Hosts, 4.0));
    assert!(matches!(held, Place::Emulated { machines: Machines::Hosts(_), .. }), "{held:?}");
    read(&scaled, Provider::Local).unwrap();
    let said = refused("limits = true\ndatabase = [{ ssh = \"db1\", data = \"/mnt\" }]\nclient = [\"load1\"]");
    assert!(said.contains("limits = true cannot hold one to its IOPS"), "{said}");
}

#[test]
fn machines_without_limits_claim_none_and_take_what_the_machines_have() {
    let text = with("database = [\"db1\"]\nclient = [\"load1\"]");
    let experiment = read(&text, Provider::Hosts).unwrap();
    let mut setups = experiment::setups(&experiment);
    for setup in setups.iter() {
        assert_eq!((setup.data.limits, setup.data.burst), (experiment::IoLimits::default(), None));
    }
    let gib = 1_u64 << 30;
    experiment::use_whole_machines(&mut setups, 16.0, 64 * gib).unwrap();
    let setup = &setups[0];
    assert_eq!((setup.cpus, setup.memory_limit_bytes), (16.0, 64 * gib));
    let own = setup.heap_bytes + setup.direct_memory_bytes;
    assert!(setup.page_cache_budget_bytes < 64 * gib - own && setup.page_cache_budget_bytes > 54 * gib);
    let (configuration, needed) = experiment::use_whole_machines(&mut setups, 16.0, gib / 2).unwrap_err();
    assert!(!configuration.is_empty() && needed > gib / 2);
    let local = experiment::setups(&read(&text, Provider::Local).unwrap());
    assert_ne!(local[0].data.limits, experiment::IoLimits::default());
}

#[test]
fn a_cluster_that_exists_already_has_its_machines() {
    for text in [with("database = [\"db1\"]\nclient = [\"load1\"]"), GOOD.to_owned()] {
        let said = read(&(text + "[target]\nhosts = [\"10.0.0.5:9042\"]\n"), Provider::Hosts).unwrap_err();
        assert!(
            said.contains("[target] hosts: an existing cluster has its machines, and --provider hosts is for others"),
            "{said}"
        );
        assert!(!said.contains("[provider.hosts] is missing"), "{said}");
    }
}
