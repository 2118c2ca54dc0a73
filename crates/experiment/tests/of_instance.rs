//! What is stated of an instance beside its type: EBS cards and bandwidth weighting.

use catalog::{BandwidthWeighting, IoLimits};
use experiment::{Experiment, Provider, ReadFor, Setup, setups};

use crate::story::{accepted, each_refused, notes, read};

/// Two cards of 240,000 IOPS and 7,500 MB/s.
fn on(instance: &str, data: &str, more: &str) -> String {
    format!(
        "name = \"x\"\n[dataset]\nrecords = 1_000_000\n[[configuration]]\nname = \"a\"\ninstance = \"{instance}\"\n\
         data_volume = {data}\n{more}[[workload]]\nname = \"w\"\nread = 1.0\n[load]\nconcurrency = [8]\n\
         [provider.local]\nvolumes = \"served\"\nscale = 100\n"
    )
}

const FOUR: &str = "{ type = \"io2\", size_gib = 2000, iops = 120000, count = 4 }";
const LOG: &str = "commitlog_volume = { type = \"gp3\", size_gib = 50 }\n";

fn setup(text: &str) -> Setup {
    setups(&accepted(text))[0].clone()
}

fn cards(setup: &Setup) -> Vec<Option<u32>> {
    setup.volumes().map(|volume| volume.card).collect()
}

#[test]
fn volumes_are_spread_over_ebs_cards_and_share_what_one_lets_through() {
    let spread = setup(&on("r8gn.48xlarge", FOUR, LOG));
    assert_eq!(
        cards(&spread),
        [0, 1, 0, 1, 0].map(Some),
        "the commit log where least is so far, of equal ones the first"
    );
    let path = spread.instance_limits.unwrap();
    assert_eq!(path.read_iops, Some(2_400.0), "of one card, divided by the scale");
    let iops = |setup: &Setup| {
        let limits = |path: &IoLimits| path.read_iops;
        setup.together(setup.data_volumes(), |volume| limits(&volume.limits), limits)
    };
    assert_eq!(iops(&spread), Some(4_800.0));
    let first = setup(&on("r8gn.48xlarge", FOUR, "ebs_cards = \"first\"\n"));
    assert_eq!((cards(&first), iops(&first)), ([0; 4].map(Some).to_vec(), Some(2_400.0)), "half of the instance");
    // One volume alone stops at its card.
    let one = setup(&on("r8gn.48xlarge", "{ type = \"io2\", size_gib = 2000, iops = 256000 }", ""));
    assert_eq!((one.data.limits.read_iops, one.instance_limits), (Some(2_400.0), None));
    // A volume for each card: none shares.
    let two = setup(&on("r8gn.48xlarge", "{ type = \"io2\", size_gib = 2000, iops = 120000, count = 2 }", ""));
    assert_eq!((cards(&two), two.instance_limits), ([0, 1].map(Some).to_vec(), None));
    // Types with one card are as ever.
    assert_eq!(cards(&setup(&on("r8gn.24xlarge", FOUR, ""))), [None; 4]);
}

#[test]
fn the_kernels_throttle_divides_a_card_among_its_volumes() {
    let text = on("r8gn.48xlarge", FOUR, "").replace("volumes = \"served\"", "volumes = \"throttled\"");
    let each = |text: &str| setup(text).data.limits.read_iops;
    assert_eq!(each(&text), Some(1_200.0), "two on each of two cards");
    let first = text.replace("[[workload]]", "ebs_cards = \"first\"\n[[workload]]");
    assert_eq!(each(&first), Some(600.0), "four on one");
}

/// Terraform's provider cannot say which card.
#[test]
fn on_aws_all_volumes_are_on_card_0_and_the_plan_says_so() {
    let aws = "[provider.aws]\ncontroller_cidr = \"203.0.113.7/32\"\npublic_address = true\n";
    let text = format!("{}{aws}", on("r8gn.48xlarge", "{ type = \"io2\", size_gib = 2000, iops = 120000 }", LOG));
    let planned: Experiment = read(&text, ReadFor::PlanOf(Provider::Aws)).unwrap();
    assert_eq!(cards(&setups(&planned)[0]), [Some(0), Some(0)]);
    let said = notes(&planned, "ebs_card_not_set", Some(Provider::Aws));
    assert!(said.len() == 1 && said[0].contains("ebs_card_index is not set on AWS"), "{said:?}");
    assert!(notes(&planned, "ebs_card_not_set", Some(Provider::Local)).is_empty());
    // Whoever asks for two cards is refused; one volume is on card 0 in any case.
    let spread = text.replace("r8gn.48xlarge\"\n", "r8gn.48xlarge\"\nebs_cards = \"spread\"\n");
    let refused = read(&spread, ReadFor::PlanOf(Provider::Aws)).unwrap_err().to_string();
    assert!(refused.contains("x.toml:7:13: volumes cannot be spread over EBS cards on AWS"), "{refused}");
    assert!(read(&spread.replace(LOG, ""), ReadFor::PlanOf(Provider::Aws)).is_ok());
    assert!(read(&spread, ReadFor::PlanOf(Provider::Local)).is_ok());
    assert!(read(&spread.replace("spread", "first"), ReadFor::PlanOf(Provider::Aws)).is_ok());
}

#[test]
fn on_aws_the_machines_of_a_weighted_configuration_state_it_and_clients_do_not() {
    let aws = "[provider.aws]\ncontroller_cidr = \"203.0.113.7/32\"\npublic_address = true\n";
    let variant = "[[variant]]\nname = \"weighted\"\nbandwidth_weighting = \"ebs-1\"\n";
    let text = on("m8g.8xlarge", "{ type = \"gp3\", size_gib = 4000, iops = 40000, mib_per_s = 2000 }", "");
    let planned = read(&format!("{text}{variant}{aws}"), ReadFor::PlanOf(Provider::Aws)).unwrap();
    let machines = &planned.place.aws().unwrap().batches[0].machines;
    let stated: Vec<_> = machines.iter().map(|machine| (machine.name.as_str(), machine.bandwidth_weighting)).collect();
    let ebs_1 = Some(BandwidthWeighting::Ebs1);
    assert_eq!(stated, [("a.database-1", None), ("a_weighted.database-1", ebs_1), ("client-1", None)]);
    let volume = &machines[0].volumes["data"];
    assert_eq!((volume.iops, volume.mib_per_s), (Some(40_000), Some(2_000)), "as gp3 is sold since 2025-09");
}

#[test]
fn bandwidth_weighting_is_of_a_configuration_or_of_a_variant_and_costs_nothing() {
    let data = "{ type = \"gp3\", size_gib = 4000, iops = 40000, mib_per_s = 2000 }";
    let bytes = |experiment: &Experiment| -> Vec<f64> {
        setups(experiment).iter().map(|setup| setup.data.limits.read_bytes_per_s.unwrap() * 100.0).collect()
    };
    let text = on("m8g.8xlarge", data, "bandwidth_weighting = \"ebs-1\"\n");
    assert_eq!(bytes(&accepted(&text)), [1_562.5e6]);
    let variant = "[[variant]]\nname = \"weighted\"\nbandwidth_weighting = \"ebs-1\"\n";
    let both = accepted(&format!("{}{variant}", on("m8g.8xlarge", data, "")));
    assert_eq!(bytes(&both), [1_250.0e6, 1_562.5e6]);
    let names: Vec<&str> = both.configurations.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["a", "a_weighted"]);
    let usd = |at: usize| both.money.configurations[at].usd_per_month;
    assert_eq!(usd(0), usd(1));
    let said = notes(&both, "bandwidth_weighting", None);
    assert!(said.len() == 1 && said[0].contains("a_weighted: bandwidth weighting ebs-1 gives"), "{said:?}");
}

/// n2-standard-16 lets 25,000 IOPS through to pd-ssd and 20,000 to pd-balanced.
#[test]
fn machines_of_other_clouds_are_emulated_with_the_path_of_their_volumes() {
    let of = |machine: &str, volume: &str| on(machine, volume, "").replace("scale = 100", "scale = 10");
    let n2 = |kind: &str| of("gcp:n2-standard-16", &format!("{{ type = \"{kind}\", size_gib = 4000 }}"));
    assert_eq!(setup(&n2("pd-ssd")).data.limits.read_iops, Some(2_500.0));
    assert_eq!(setup(&n2("pd-balanced")).data.limits.read_iops, Some(2_000.0));
    // Sixteen disks of local SSD: 1,600,000 reads and 800,000 writes a second.
    let local = setup(&of("gcp:c3-standard-88-lssd", "\"local\"")).data.limits;
    assert_eq!((local.read_iops, local.write_iops), (Some(160_000.0), Some(80_000.0)));
    let two = "{ type = \"pd-ssd\", size_gib = 500, count = 2 }";
    let premium = "{ type = \"premium-v2\", size_gib = 500 }";
    each_refused(&[
        (n2("hyperdisk-balanced"), "no limits of hyperdisk-balanced volumes on gcp:n2-standard-16 are known"),
        (
            of("gcp:c3-highmem-88", "{ type = \"hyperdisk-extreme\", size_gib = 2000, iops = 100000 }"),
            "no limits of hyperdisk-extreme volumes on gcp:c3-highmem-88 are known",
        ),
        (n2("gp3"), "gp3 is a volume of AWS, and gcp:n2-standard-16 a machine type of Google Cloud"),
        (of("gcp:n2-standard-16", two), "several pd-ssd volumes of one machine share"),
        (of("r7i.large", premium), "premium-v2 is a volume of Azure"),
    ]);
}

/// 2,000 MB/s at 1:100.
#[test]
fn a_volume_states_mb_per_s_or_mib_per_s_and_never_both() {
    let of = |rate: &str| {
        let volume = format!("{{ type = \"premium-v2\", size_gib = 1000, iops = 80000, {rate} }}");
        on("azure:Standard_E96bds_v5", &volume, "")
    };
    let bytes = |text: &str| setup(text).data.limits.read_bytes_per_s.unwrap();
    assert!((bytes(&of("mb_per_s = 2000")) - 20e6).abs() < 1.0);
    assert!((bytes(&of("mib_per_s = 1000")) - 10.0 * 1_048_576.0).abs() < 1.0);
    each_refused(&[
        (of("mb_per_s = 2001"), "`mib_per_s` is 1908.3 (2001 MB/s): premium-v2 takes 125 to 2000 MB/s"),
        (of("mb_per_s = 500, mib_per_s = 500"), "`mib_per_s` and `mb_per_s` state the same throughput"),
    ]);
}

/// Of RDS 399 GiB do 3,000 IOPS and 400 do 12,000; its machines have no price of EC2's, and it runs no Cassandra.
#[test]
fn storage_of_rds_is_emulated_for_postgresql_alone() {
    let of = |gib: u32, more: &str| on("r6i.4xlarge", &format!("{{ type = \"rds-gp3\", size_gib = {gib} }}"), more);
    let postgresql = |gib: u32, more: &str| of(gib, more) + "[target]\ndatabase = \"postgresql\"\n";
    let iops = |gib: u32| setup(&postgresql(gib, "")).data.limits.read_iops;
    assert_eq!((iops(399), iops(400)), (Some(30.0), Some(120.0)));
    let money = |more: &str| accepted(&postgresql(400, more)).money.configurations[0].clone();
    let missing = money("").missing.unwrap_or_default();
    assert!(missing.contains("price of db.r6i.4xlarge in us-east-1"), "{missing}");
    assert_eq!(money("price_usd_per_month = 1500.0\n").usd_per_month, Some(1500.0));
    let of_a_size = postgresql(400, LOG).replace("\"r6i.4xlarge\"", "{ vcpus = 16, memory_gib = 128 }");
    each_refused(&[
        (of_a_size, "x.toml:6:12: rds-gp3 stands alone"),
        (of(400, ""), "x.toml:7:15: data_volume of a: rds-gp3 is storage of RDS, which does not run Apache Cassandra"),
        (postgresql(400, LOG), "rds-gp3 stands alone: RDS for PostgreSQL keeps data and WAL on one storage volume"),
    ]);
}

#[test]
fn what_an_instance_has_not_is_refused_at_its_place() {
    let gp3 = "{ type = \"gp3\", size_gib = 500 }";
    let sized = on("m8g.8xlarge", "{ iops = 500 }", "bandwidth_weighting = \"ebs-1\"\nebs_cards = \"first\"\n")
        .replace("\"m8g.8xlarge\"", "{ vcpus = 8, memory_gib = 32 }");
    each_refused(&[
        (
            on("r7i.large", gp3, "bandwidth_weighting = \"ebs-1\"\n"),
            "x.toml:8:23: r7i.large has no bandwidth weighting (source: EC2 DescribeInstanceTypes, \
             BandwidthWeightings)",
        ),
        (
            on("m8g.large", gp3, "bandwidth_weighting = \"vpc-1\"\n"),
            "x.toml:8:23: bandwidth_weighting cannot be `vpc-1`",
        ),
        (on("r7i.large", gp3, "ebs_cards = \"first\"\n"), "x.toml:8:13: r7i.large has one EBS card"),
        (on("r8gn.48xlarge", gp3, "ebs_cards = \"last\"\n"), "x.toml:8:13: ebs_cards cannot be `last`"),
        (sized.clone(), "x.toml:8:23: bandwidth_weighting is of an instance type of AWS"),
        (sized, "x.toml:9:13: ebs_cards is of an instance type of AWS"),
    ]);
}
