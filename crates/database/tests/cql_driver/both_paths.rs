//! The same operations in frames of iopslab's own and through the driver, one after the other: the answers are equal,
//! and at the end every record is what the operations made of it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use database::CqlDriver;
use engine::Stamp;

use super::*;

/// In flight; each slot has records of its own.
const SLOTS: u64 = 32;
/// All of them with IOPSLAB_TRUTH set.
const OPERATIONS: u64 = 10_000;
const ALL_OPERATIONS: u64 = 100_000;
/// Records of a slot, most of which exist after a while.
const KEYS: u64 = 40;

/// A generator of which a failed run can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % end
    }

    fn text(&mut self) -> String {
        let length = if self.below(200) == 0 { 20_000 } else { self.below(60) };
        (0..length).map(|_| char::from(b'a' + self.below(26) as u8)).collect()
    }
}

/// What both paths are asked.
enum RandomRequest {
    Read(Option<u32>),
    Update(Vec<(u32, String)>),
    Insert(Vec<String>),
    UpdateStamped(Vec<(u32, String)>),
    InsertStamped(Vec<String>),
    Scan(u32),
}

type Fields = Vec<Option<String>>;

impl RandomRequest {
    fn any(random: &mut Random) -> Self {
        let field = random.below(FIELDS.into()) as u32;
        let whole = |random: &mut Random| -> Vec<String> { (0..FIELDS).map(|_| random.text()).collect() };
        let some = |random: &mut Random| match random.below(3) {
            0 => (0..FIELDS).map(|field| (field, random.text())).collect(),
            1 => vec![(field, random.text()), ((field + 1) % FIELDS, random.text())],
            _ => vec![(field, random.text())],
        };
        match random.below(100) {
            0..30 => Self::Read(None),
            30..50 => Self::Read(Some(field)),
            50..70 => Self::Update(some(random)),
            70..85 => Self::Insert(whole(random)),
            85..90 => Self::UpdateStamped(some(random)),
            90..95 => Self::InsertStamped(whole(random)),
            _ => Self::Scan(1 + random.below(20) as u32),
        }
    }

    fn is_stamped(&self) -> bool {
        matches!(self, Self::UpdateStamped(_) | Self::InsertStamped(_))
    }

    /// The same with a stamp, where it writes.
    fn stamped(self) -> Self {
        match self {
            Self::Update(fields) => Self::UpdateStamped(fields),
            Self::Insert(values) => Self::InsertStamped(values),
            other => other,
        }
    }

    async fn send(&self, driver: &CqlDriver, key: &str, stamp: &Stamp) -> Result<(), ErrorKind> {
        match self {
            Self::Read(field) => driver.read(key, *field).await,
            Self::Update(written) => driver.update(key, &borrowed(written)).await,
            Self::Insert(values) => driver.insert(key, &values.iter().map(String::as_str).collect::<Vec<_>>()).await,
            Self::UpdateStamped(written) => driver.update_stamped(key, &borrowed(written), stamp).await,
            Self::InsertStamped(values) => {
                let values: Vec<&str> = values.iter().map(String::as_str).collect();
                driver.insert_stamped(key, &values, stamp).await
            }
            Self::Scan(records) => driver.scan(key, *records).await,
        }
    }

    /// What a record has afterwards.
    fn apply(&self, record: &mut Option<Fields>, stamp: &Stamp) {
        let tag = stamp.tag();
        let (written, prefix): (Vec<(u32, String)>, &str) = match self {
            Self::Read(_) | Self::Scan(_) => return,
            Self::Update(fields) => (fields.clone(), ""),
            Self::UpdateStamped(fields) => (fields.clone(), tag),
            Self::Insert(values) => ((0..).zip(values.iter().cloned()).collect(), ""),
            Self::InsertStamped(values) => ((0..).zip(values.iter().cloned()).collect(), tag),
        };
        let record = record.get_or_insert_with(|| vec![None; FIELDS as usize]);
        for (field, value) in written {
            record[field as usize] = Some(format!("{prefix}{value}"));
        }
    }
}

fn borrowed(fields: &[(u32, String)]) -> Vec<(u32, &str)> {
    fields.iter().map(|(field, value)| (*field, value.as_str())).collect()
}

async fn both(connect: &CqlConnect) -> [CqlDriver; 2] {
    let own = CqlConnect::new(connect.at.clone());
    let driver = CqlConnect { at: TableAt { driver_only: true, ..own.at.clone() }, ..own.clone() };
    let mut own_driver = own.connect().await.unwrap();
    assert_eq!(own.notes(), Vec::<String>::new(), "this server takes frames of our own");
    let mut driver = driver.connect().await.unwrap();
    own_driver.prepare_stamped().await.unwrap();
    driver.prepare_stamped().await.unwrap();
    [own_driver, driver]
}

pub fn answers_are_equal_for_random_operations(connect: &CqlConnect) {
    on_a_runtime(async {
        let paths = Rc::new(both(connect).await);
        let operations = match std::env::var_os("IOPSLAB_TRUTH") {
            Some(_) => ALL_OPERATIONS,
            None => OPERATIONS,
        };
        let left = Rc::new(Cell::new(operations));
        let slots: Vec<_> = (0..SLOTS)
            .map(|slot| tokio::task::spawn_local(slot_of(slot, Rc::clone(&paths), Rc::clone(&left))))
            .collect();
        let mut seen = BTreeMap::new();
        for slot in slots {
            for (result, count) in slot.await.unwrap() {
                *seen.entry(result).or_insert(0u64) += count;
            }
        }
        println!("answers: {seen:?}");
        assert_eq!(seen.values().sum::<u64>(), operations, "{seen:?}");
        assert!(seen["done"] > operations / 2 && seen["not_found"] > operations / 100, "{seen:?}");
        assert!(seen["other"] > operations / 500, "{seen:?}");
        remove(connect).await;
    });
}

/// Sends operations until there are none left; gives how often each result came.
async fn slot_of(slot: u64, paths: Rc<[CqlDriver; 2]>, left: Rc<Cell<u64>>) -> BTreeMap<&'static str, u64> {
    let mut random = Random(0xC0F_F0EE ^ (slot << 32));
    let mut records: BTreeMap<String, Option<Fields>> = BTreeMap::new();
    let mut seen = BTreeMap::new();
    while left.get() > 0 {
        left.set(left.get() - 1);
        let asked = RandomRequest::any(&mut random);
        let key = match random.below(200) {
            // No record may have these.
            0 => String::new(),
            1 => "k".repeat(70_000),
            // The server's own timestamps have a millisecond's resolution: stamped writes have records to themselves.
            _ if asked.is_stamped() || random.below(5) == 0 => format!("stamped-{slot}-{}", random.below(KEYS)),
            _ => format!("both-{slot}-{}", random.below(KEYS)),
        };
        let asked = if key.starts_with("stamped") { asked.stamped() } else { asked };
        let stamp = Stamp::now(slot);
        let first = random.below(2) as usize;
        let one = asked.send(&paths[first], &key, &stamp).await;
        let other = asked.send(&paths[1 - first], &key, &stamp).await;
        assert_eq!(one, other, "slot {slot}, key of {} B, first path {first}", key.len());
        // A scan may begin at a key that no record may have.
        if one.is_ok() && key.contains('-') {
            asked.apply(records.entry(key).or_default(), &stamp);
        }
        *seen.entry(one.map_or_else(ErrorKind::name, |()| "done")).or_default() += 1;
    }
    for (key, expected) in records {
        let found = paths[0].fetch(&key).await;
        assert!(found == Ok(expected), "{key} is not what was written");
    }
    seen
}

/// No later story finds them.
async fn remove(connect: &CqlConnect) {
    let builder = SessionBuilder::new().known_nodes(&connect.at.contact_points);
    let session = builder.build().await.unwrap();
    for slot in 0..SLOTS {
        for record in 0..KEYS {
            for prefix in ["both", "stamped"] {
                let statement = format!("DELETE FROM ycsb.usertable WHERE y_id = '{prefix}-{slot}-{record}'");
                session.query_unpaged(statement, ()).await.unwrap();
            }
        }
    }
}

pub fn a_stopped_server_means_the_same_timeouts_on_both_paths(connect: &CqlConnect, server: &Server) {
    let patient = connect;
    let connect = CqlConnect {
        at: TableAt { request_timeout: Duration::from_millis(500), ..connect.at.clone() },
        ..connect.clone()
    };
    std::thread::scope(|scope| {
        let ((tell_connected, connected), (tell_stopped, stopped)) = (channel(), channel());
        let asking = scope.spawn(move || {
            on_a_runtime(async {
                let paths = both(&connect).await;
                tell_connected.send(()).unwrap();
                stopped.recv().unwrap();
                for driver in &paths {
                    let began = Instant::now();
                    let answers = tokio::join!(
                        driver.read("user1", None),
                        driver.update("user1", &[(0, "x")]),
                        driver.insert("user1", &["x"; FIELDS as usize]),
                        driver.scan("user1", 10)
                    );
                    assert_eq!(<[_; 4]>::from(answers), [Err(ErrorKind::ClientTimeout); 4]);
                    // Without a bound of ours the driver waits for 30 s.
                    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
                }
            });
        });
        connected.recv().unwrap();
        server.pause(|| {
            tell_stopped.send(()).unwrap();
            asking.join().unwrap();
        });
    });
    on_a_runtime(async {
        for driver in both(patient).await {
            assert_eq!(driver.read("user6284781860667377211", None).await, Ok(()));
        }
        remove_one(patient, "user1").await;
    });
}

async fn remove_one(connect: &CqlConnect, key: &str) {
    let builder = SessionBuilder::new().known_nodes(&connect.at.contact_points);
    let session = builder.build().await.unwrap();
    let statement = format!("DELETE FROM ycsb.usertable WHERE y_id = '{key}'");
    session.query_unpaged(statement, ()).await.unwrap();
}
