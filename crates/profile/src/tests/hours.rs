//! A long observation, by its hours.

use super::*;

#[test]
fn a_day_is_seen_by_its_hours() {
    let day = [vec![(100.0, 0.0); 60], vec![(300.0, 100.0); 60], vec![(50.0, 0.0); 29]].concat();
    let hours = |minutes: &[(f64, f64)]| {
        let nodes = vec![node("db1", minutes), node("db2", minutes)];
        let hours = judged(&seen(Vec::new(), nodes)).workload.hours;
        hours.iter().map(|hour| (hour.hour, hour.clients.total().round())).collect::<Vec<_>>()
    };
    assert_eq!(hours(&day), [(0, 200.0), (1, 800.0)], "29 minutes are no hour");
    let longer = [day.as_slice(), &[(50.0, 0.0)]].concat();
    assert_eq!(hours(&longer), [(0, 200.0), (1, 800.0), (2, 100.0)]);
    assert!(hours(&day[..80]).is_empty(), "one hour alone is the mean");

    let (text, _) = written(&judged(&seen(Vec::new(), vec![node("db1", &day)])));
    let said = "# Operations/s of clients on all nodes, by hour from the beginning: 0: 100, 1: 400";
    assert!(text.contains(said), "{text}");
}

#[test]
fn a_node_that_was_not_read_for_an_hour_leaves_that_hour_out() {
    let minutes = [vec![(100.0, 0.0); 60], vec![(300.0, 100.0); 60], vec![(50.0, 0.0); 60]].concat();
    let mut silent = node("db2", &minutes);
    for reading in &mut silent.readings[61..=119] {
        *reading = NodeReading { at_s: reading.at_s, ..NodeReading::default() };
    }
    let hours = judged(&seen(Vec::new(), vec![node("db1", &minutes), silent])).workload.hours;
    assert_eq!(hours.iter().map(|hour| hour.hour).collect::<Vec<_>>(), [0, 2], "{hours:?}");
}
