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
