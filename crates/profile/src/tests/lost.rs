//! Nodes and hosts of which a part of the time is missing.

use super::*;

/// A look that was not answered.
fn silent(reading: &mut NodeReading) {
    *reading = NodeReading { at_s: reading.at_s, ..NodeReading::default() };
}

#[test]
fn a_node_that_does_not_answer_leaves_the_others_known() {
    let planted = [(300.0, 100.0); 6];
    let mut lost = node("db2", &planted);
    lost.readings[1..].iter_mut().for_each(silent);
    let clients = judged(&seen(Vec::new(), vec![node("db1", &planted), lost])).workload.clients;
    assert!((clients.unwrap().mean.total() - 400.0).abs() < 1e-6, "{clients:?}");
    // One that was away for a minute, and for the last one, has the rates of the others.
    let mut away = node("db2", &planted);
    [2, 6].into_iter().for_each(|minute| silent(&mut away.readings[minute]));
    let workload = judged(&seen(Vec::new(), vec![node("db1", &planted), away])).workload;
    assert!((workload.clients.unwrap().mean.total() - 800.0).abs() < 1e-6, "{:?}", workload.clients);
    assert_eq!(workload.nodes[1].left_out, 3);
    assert!((workload.nodes[1].data_bytes.unwrap() - 300_000.0 * catalog::MIB).abs() < 1.0);
}

#[test]
fn a_clock_that_is_set_back_makes_no_rate() {
    let mut back = host("db1", 660, |_| (500.0, 0.0));
    back.samples[300..].iter_mut().for_each(|sample| sample.unix_ms -= 60_000);
    let device = judged(&seen(vec![back], Vec::new())).devices.remove(0);
    assert_eq!((device.gaps, device.left_out), (0, 1));
    assert!((device.busiest_minute.both.iops - 500.0).abs() < 1.0, "{device:?}");
}

/// Clocks 2 s apart, a device whose counters began again, and a machine of which nothing may be read.
#[test]
fn of_three_machines_each_is_judged_by_its_own_clock_and_counters() {
    let mut restarted = host("db2", 660, |_| (900.0, 0.0));
    for (second, sample) in restarted.samples.iter_mut().enumerate() {
        sample.unix_ms += 2_000;
        if second >= 300 {
            let volume = sample.data.as_mut().unwrap();
            volume.reads = volume.reads.map(|reads| reads - 1_200_000.0);
        }
    }
    let mut blind = host("db3", 660, |_| (5_000.0, 0.0));
    blind.samples.iter_mut().for_each(|sample| sample.data = None);
    blind.missing.push("reads and writes of its data: permission denied".to_owned());
    let profile = judged(&seen(vec![host("db1", 660, |_| (500.0, 0.0)), restarted, blind], Vec::new()));
    let need = profile.verdict.need.as_ref().unwrap();
    assert_eq!(need.host, "db2");
    assert!((need.asked.both.iops - 900.0).abs() < 1.0, "{need:?}");
    let left_out: Vec<u32> = profile.devices.iter().map(|device| device.left_out).collect();
    assert_eq!((left_out, &profile.verdict.withheld), (vec![0, 1], &None));
    assert!(profile.unknown.contains(&Unknown::Hosts(2, 3)), "{:?}", profile.unknown);
    let why = "reads and writes of its data: permission denied".to_owned();
    assert!(profile.not_read.contains(&NotRead { what: "the device of db3".to_owned(), why }));
}

/// Of one of three machines EBS counts, and has held back 20 ms or 5 ms of each second.
#[test]
fn what_ebs_held_back_is_time_at_the_limit() {
    for (ms, is_withheld) in [(20.0, true), (5.0, false)] {
        let mut counted = host("db2", 660, |_| (500.0, 0.0));
        for (second, sample) in counted.samples.iter_mut().enumerate() {
            let of_ebs = EbsFigures {
                volume_iops_exceeded_s: Some(7.0),
                instance_bytes_exceeded_s: Some(30.0 + second as f64 * ms / 1e3),
                ..EbsFigures::default()
            };
            let ebs = BTreeMap::from([(VolumeRole::Data, of_ebs)]);
            sample.held_back_s = Moment::from(&HostSample { ebs, ..HostSample::default() }).held_back_s;
        }
        let hosts = vec![host("db1", 660, |_| (500.0, 0.0)), counted, host("db3", 660, |_| (500.0, 0.0))];
        let verdict = judged(&seen(hosts, Vec::new())).verdict;
        match verdict.withheld {
            Some(Withheld::AtLimit { host, share }) => {
                assert!(is_withheld && host == "db2" && (share - 0.02).abs() < 1e-6, "{host} {share}");
                assert!(verdict.cheaper.is_empty());
            }
            other => assert!(!is_withheld && other.is_none(), "{other:?}"),
        }
    }
}
