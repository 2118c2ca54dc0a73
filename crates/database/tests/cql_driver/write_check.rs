//! Acknowledged writes read back from a real database, untouched and with losses planted behind the engine's back.

use engine::{ReadBack, read_back};
use experiment::Consistency;

use super::*;

/// Record 8 is the first that no data set has.
const LOADED: u64 = 8;

pub fn acknowledged_writes_are_found_and_planted_losses_are_reported(connect: &CqlConnect) {
    let mix = Mix { read: 0.2, update: 0.5, insert: 0.01, scan: 0.0, read_modify_write: 0.29 };
    let mut plan = TrialPlan {
        operations: Some(4000),
        records: LOADED,
        first_insert: LOADED,
        check_writes: true,
        threads: 2,
        ..plan(mix, Load::Closed { concurrency: 64 }, MINUTE)
    };
    // Keys of their own, which are their numbers: `user0`, `user1`, ...
    plan.definition.keys.hashed = false;
    on_a_runtime(load(connect));
    for write_all_fields in [false, true] {
        plan.definition.write_all_fields = write_all_fields;
        let outcome = run(connect, &plan);
        let writes = outcome.writes.unwrap();
        assert!(writes.acknowledged() > 3000, "{}", writes.acknowledged());
        // A busy machine may answer a request too late; that is no loss.
        assert!(writes.unacknowledged() < 30, "{}", writes.unacknowledged());

        let how = ReadBack::after(&plan, Consistency::One);
        let look = || read_back(connect, writes.clone(), &how, &mut |_, _| {}, &NEVER).unwrap();
        let whole = look();
        assert_eq!(whole.intact, whole.values, "{whole:?}");
        assert!(whole.values > LOADED * u64::from(FIELDS) + 20 * u64::from(FIELDS), "inserts too");

        on_a_runtime(plant(connect));
        let damaged = look();
        assert_eq!((damaged.values, damaged.unreadable), (whole.values, 0));
        assert_eq!(
            (damaged.missing, damaged.older, damaged.foreign, damaged.lost()),
            (u64::from(FIELDS), 2, 2, u64::from(FIELDS) + 4),
            "{damaged:?}"
        );
        let example = &damaged.examples[0];
        assert!(example.acknowledged.abs_diff(now_micros()) < MINUTE.as_micros() as u64, "a timestamp: {example:?}");
        on_a_runtime(load(connect));
    }
}

fn now_micros() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.unwrap().as_micros() as i64
}

/// The records of the data set, without a word of their own; nothing else under those keys.
async fn load(connect: &CqlConnect) {
    let driver = connect.connect().await.unwrap();
    let session = session(connect).await;
    for record in 0..LOADED + 500 {
        let delete = format!("DELETE FROM ycsb.usertable WHERE y_id = 'user{record}'");
        session.query_unpaged(delete, ()).await.unwrap();
    }
    for record in 0..LOADED {
        driver.insert(&format!("user{record}"), &["loaded"; FIELDS as usize]).await.unwrap();
    }
}

/// A record deleted, a value replaced by none and one by usual text, one by another record's, one cut.
async fn plant(connect: &CqlConnect) {
    let session = session(connect).await;
    let usual = "usual text of a value that no checked trial writes";
    let of_another = text(&session, "field2", "user3").await.unwrap();
    let cut = text(&session, "field1", "user5").await.unwrap()[..10].to_owned();
    let set = async |field: &str, key: &str, value: Option<&str>| {
        let statement = format!("UPDATE ycsb.usertable SET {field} = ? WHERE y_id = ?");
        session.query_unpaged(statement, (value, key)).await.unwrap();
    };
    session.query_unpaged("DELETE FROM ycsb.usertable WHERE y_id = 'user1'", ()).await.unwrap();
    set("field0", "user2", None).await;
    set("field3", "user2", Some(usual)).await;
    set("field2", "user4", Some(&of_another)).await;
    set("field1", "user5", Some(&cut)).await;
}

async fn session(connect: &CqlConnect) -> Session {
    let builder = SessionBuilder::new().known_nodes(&connect.at.contact_points);
    builder.build().await.unwrap()
}
