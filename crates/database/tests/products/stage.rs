//! A product that is installed, and nodes of it with a data set: what the stories of products begin with.

use std::net::Ipv4Addr;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use database::{
    Account, Client, ClientWork, Directories, Installed, NodePlan, Ports, Replication, RunningNode, Server, TableAt,
    server, with_client,
};
use engine::{LoadPlan, run_load};
use experiment::{Consistency, ConsistencyLevels, Dataset, KeyFormat, PRODUCTS, Product, Settings, Started};

use crate::shared;

pub const KEYSPACE: &str = "ycsb";
pub const TABLE: &str = "usertable";
pub const RECORDS: u64 = 2_000;
pub const DATASET: Dataset = Dataset { records: RECORDS, fields: 3, field_length: 40, compressibility: 0.0, seed: 1 };
pub const PATIENCE: Duration = Duration::from_secs(180);

static NEVER: AtomicBool = AtomicBool::new(false);
/// Stories of a product have one address: one has it after the other.
static ALONE: Mutex<()> = Mutex::new(());

/// A product as these stories need it.
pub struct Subject {
    pub name: &'static str,
    /// Where its nodes listen, and no others of this machine.
    pub address: Ipv4Addr,
    /// A setting that its node can be given, as it is stated, and a part of how it is shown then.
    pub setting: (&'static str, &'static str, &'static str, &'static str),
    /// One that iopslab keeps to itself.
    pub kept: (&'static str, &'static str, &'static str),
}

/// What is installed of a product, and a place for nodes.
pub struct Stage {
    pub product: &'static Product,
    pub server: Box<dyn Server>,
    pub installed: Box<dyn Installed>,
    pub address: Ipv4Addr,
    place: tempfile::TempDir,
    _alone: MutexGuard<'static, ()>,
}

/// A node that is killed when a story fails.
pub struct Guarded(pub Box<dyn RunningNode>);

impl Drop for Guarded {
    fn drop(&mut self) {
        self.0.kill();
    }
}

impl Stage {
    pub fn of(subject: &Subject) -> Self {
        // A story that failed has ended its node, too.
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let product = PRODUCTS.into_iter().find(|product| product.name == subject.name).unwrap();
        let started = Started { product, version: product.default_version.to_owned() };
        let account = Account::of_this_machine().unwrap();
        let server = server(&started, account.clone()).unwrap();
        let cache = shared::cache();
        std::fs::create_dir_all(&cache).unwrap();
        let installed = server.install(&cache, &[], &mut |_, _| {}, &|| false, &|_| Ok(()));
        let installed = installed.unwrap_or_else(|error| panic!("{error}"));
        shared::enter_own_network();
        let place = tempfile::Builder::new().prefix("iopslab-products-").tempdir().unwrap();
        if let Some(account) = &account {
            // As the program does: nobody else passes through these.
            account.let_through(place.path()).unwrap();
            account.let_through(&cache).unwrap();
        }
        Self { product, server, installed, address: subject.address, place, _alone: alone }
    }

    pub fn plan(&self, name: &str, settings: Settings) -> NodePlan {
        let usual = self.server.ports();
        let own = u16::from(self.address.octets()[3]);
        NodePlan {
            cluster: "iopslab-products".to_owned(),
            index: 0,
            nodes: 1,
            seeds: vec![self.address],
            place: None,
            address: self.address,
            ports: Ports { management: 17_600 + own, ..usual },
            directories: Directories::below(&self.place.path().join(name)),
            memory: self.server.memory(512 << 20),
            cpus: 1.0,
            commitlog_bytes: Some(1 << 30),
            maintains_itself: true,
            settings,
            launch_prefix: Vec::new(),
            oom_kills: None,
        }
    }

    pub fn start(&self, plan: &NodePlan) -> Guarded {
        let node = self.installed.start(plan).unwrap_or_else(|error| panic!("{error}"));
        let mut node = Guarded(node);
        let took = node.0.wait_ready(PATIENCE, &|| false).unwrap_or_else(|error| panic!("{error}"));
        println!("{} answers after {:.2} s", self.server.name(), took.as_secs_f64());
        node.0.settle(1, PATIENCE, &|| false).unwrap_or_else(|error| panic!("{error}"));
        node
    }

    /// A node with the data set, loaded by its client and brought to rest.
    pub fn loaded(&self, name: &str) -> (NodePlan, Guarded) {
        let plan = self.plan(name, Settings::default());
        let mut node = self.start(&plan);
        node.0.create_schema(KEYSPACE, TABLE, &DATASET, &Replication::Each(1)).unwrap();
        // A second time changes nothing.
        node.0.create_schema(KEYSPACE, TABLE, &DATASET, &Replication::Each(1)).unwrap();
        with_client(self.product, Load(self.table(&plan))).unwrap();
        node.0.maintain(KEYSPACE).unwrap();
        node.0.settle(1, PATIENCE, &|| false).unwrap();
        (plan, node)
    }

    pub fn table(&self, plan: &NodePlan) -> TableAt {
        TableAt {
            contact_points: vec![plan.client_address().to_string()],
            keyspace: KEYSPACE.to_owned(),
            table: TABLE.to_owned(),
            fields: DATASET.fields,
            consistency: ConsistencyLevels::all(Consistency::One),
            request_timeout: Duration::from_secs(20),
            access: experiment::Access::default(),
            driver_only: false,
        }
    }
}

/// Loads the data set as a run does.
pub struct Load(pub TableAt);

impl ClientWork for Load {
    type Output = ();

    fn with<C: Client>(self) {
        let plan = LoadPlan {
            first_record: 0,
            records: RECORDS,
            fields: DATASET.fields,
            field_length: DATASET.field_length,
            compressibility: DATASET.compressibility,
            keys: KeyFormat::default(),
            concurrency: 32,
            threads: 0,
            seed: DATASET.seed,
            overwrites_of: None,
            own_rows: false,
        };
        let loaded = run_load(&C::to(self.0).loading(), &plan, &mut |_| {}, &NEVER);
        assert_eq!(loaded.unwrap_or_else(|error| panic!("{error}")).records, RECORDS);
    }
}
