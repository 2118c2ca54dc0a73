//! Who is narrower, at which request size.

use catalog::{Catalog, ClusterRequest, Side};
use proptest::prelude::*;

fn of(text: &str, era: Option<&str>) -> catalog::Caps {
    let facts = Catalog::built_in();
    facts.caps(&ClusterRequest::parse(facts, text).unwrap(), era).unwrap()
}

#[test]
fn iops_bought_beyond_the_instance_are_reported() {
    let caps = of("r4.4xlarge+io1:1000GiB:20000", None);
    assert!(caps.remarks[0].starts_with("20000 IOPS bought, 18750 reachable"), "{:?}", caps.remarks);
    let small = caps.ebs[0];
    assert_eq!((small.baseline.iops, small.baseline.capped_by), (18_750.0, Side::Instance));
    // 437.5 MB/s at 256 KiB.
    let large = caps.ebs[3].baseline;
    assert!((large.mib_per_s - 437.5e6 / 1_048_576.0).abs() < 1e-9 && large.capped_by == Side::Instance);
}

#[test]
fn a_burst_says_how_long_it_lasts() {
    let caps = of("r4.4xlarge+gp2:100GiB", None);
    assert_eq!((caps.ebs[0].baseline.iops, caps.ebs[0].burst.iops), (300.0, 3000.0));
    assert_eq!(caps.ebs[0].baseline.capped_by, Side::Volumes);
    // 5.4 million credits at 3,000 - 300 a second.
    assert!(caps.remarks.iter().any(|r| r.contains("3000 for 2000 s")), "{:?}", caps.remarks);
}

#[test]
fn volumes_add_up_and_eras_differ() {
    let two = of("r4.4xlarge+gp2:1000GiB+gp2:1000GiB", None);
    assert_eq!(two.ebs[0].baseline.iops, 6000.0);
    let mib = |era| of("r4.4xlarge+gp2:1000GiB", era).ebs[3].baseline.mib_per_s;
    assert_eq!((mib(Some("2017")), mib(None)), (160.0, 250.0));
}

#[test]
fn local_disks_have_caps_of_their_own() {
    let caps = of("i3.4xlarge", None);
    assert!(caps.ebs.is_empty());
    assert_eq!((caps.local[0].read_iops, caps.local[0].write_iops), (Some(825_000.0), Some(360_000.0)));
    assert!(
        caps.local[3].read_iops.is_some_and(|reads| reads < 20_000.0),
        "bytes bound large requests: {:?}",
        caps.local[3]
    );
}

/// 268,333 reads of 4 KiB from one disk would be 67,083 MiB/s at 256 KiB; nobody measured its MB/s.
#[test]
fn local_disks_of_unknown_bytes_have_figures_at_4_kib_alone() {
    for name in ["m8gd.4xlarge", "c6id.2xlarge", "m9gd.4xlarge"] {
        let caps = of(name, None);
        let [small, larger @ ..] = &caps.local[..] else { panic!("{name}: {caps:?}") };
        assert!(small.read_iops.is_some() && small.write_mib_per_s.is_some(), "{name}: {small:?}");
        for at in larger {
            let figures = [at.read_iops, at.write_iops, at.read_mib_per_s, at.write_mib_per_s];
            assert_eq!(figures, [None; 4], "{name}: {at:?}");
        }
        let said = "the MB/s of its local disks are not known: measure them";
        assert!(caps.remarks.iter().any(|remark| remark.starts_with(said)), "{name}: {:?}", caps.remarks);
    }
}

/// EC2 DescribeInstanceTypes: two cards of 720,000 IOPS and 18,750 MB/s.
#[test]
fn volumes_on_one_ebs_card_stop_at_half_of_the_instance() {
    let fact = Catalog::built_in().instance("r8gb.48xlarge").unwrap().ebs.unwrap();
    assert_eq!((fact.baseline_iops, fact.cards, fact.of_card().baseline_iops), (1_440_000.0, 2, 720_000.0));
    let volume = "+io2:4000:256000";
    let caps = of(&format!("r8gb.48xlarge{}", volume.repeat(6)), None);
    let on: Vec<&[usize]> = caps.cards.iter().map(|card| &card.volumes[..]).collect();
    assert_eq!(on, [[0, 2, 4], [1, 3, 5]], "spread, as AWS recommends");
    assert_eq!(caps.cards[0].ebs[0].baseline.iops, 720_000.0);
    assert_eq!((caps.ebs[0].baseline.iops, caps.ebs[0].baseline.capped_by), (1_440_000.0, Side::Instance));
    let said = "1536000 IOPS bought, 1440000 reachable: the instance's EBS cards are the limit";
    assert!(caps.remarks.iter().any(|remark| remark == said), "{:?}", caps.remarks);
    assert!(caps.remarks.iter().any(|remark| remark.contains("--ebs-card-index")), "{:?}", caps.remarks);
    // One volume is on one card, however much the other has left.
    let one = of("r8gn.48xlarge+io2:4000:256000", None);
    assert_eq!((one.ebs[0].baseline.iops, one.ebs[0].baseline.capped_by), (240_000.0, Side::Instance));
    let small = of("r8gn.48xlarge+gp3:1000+gp3:1000", None);
    assert_eq!((small.ebs[0].baseline.iops, small.ebs[0].baseline.capped_by), (6_000.0, Side::Volumes));
    // A type with one card has no list of cards.
    assert!(of("r8gb.24xlarge+gp3:1000", None).cards.is_empty());
    let several = Catalog::built_in().instances().iter().filter(|known| known.ebs_cards() > 1);
    assert_eq!(several.count(), 32, "33 of EC2's, of which g7.48xlarge is left out");
}

proptest! {
    #[test]
    fn caps_never_fall_with_more_iops_and_bytes_never_with_size(iops in 100_u32..20_000, more in 0_u32..5_000) {
        let at = |iops: u32| of(&format!("r4.4xlarge+io1:1000GiB:{iops}"), None).ebs;
        let (less, most) = (at(iops), at(iops + more));
        for (a, b) in less.iter().zip(&most) {
            prop_assert!(b.baseline.iops >= a.baseline.iops - 1e-9);
        }
        for pair in less.windows(2) {
            prop_assert!(pair[1].baseline.iops <= pair[0].baseline.iops + 1e-9);
            prop_assert!(pair[1].baseline.mib_per_s >= pair[0].baseline.mib_per_s - 1e-9);
        }
    }
}
