//! The nodes of a cluster that is watched, as far as they let somebody in.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Instant;

use ::profile::{Cluster, NodeReading, NodeSeen, NotRead};
use controller::Screen;
use database::TableAt;
use database::cassandra::{AdminError, NodeViews};
use database::postgresql::{self, ServerViews};
use experiment::Access;
use process::failure::Failure;

use crate::cli::entry::resolve;

/// Nodes with what was seen of each.
pub(super) struct Nodes<'a> {
    all: Vec<Node>,
    screen: &'a Screen,
}

/// What a node is read by.
enum Views {
    Cql(Box<NodeViews>),
    Sql(Box<ServerViews>),
}

impl Views {
    fn cluster(&mut self) -> Result<Cluster, Failure> {
        match self {
            Self::Cql(views) => views.cluster().map_err(refused),
            Self::Sql(views) => views.cluster().map_err(refused_by_sql),
        }
    }

    /// The error is why it was not read.
    fn read(&mut self, at_s: f64, with_sizes: bool) -> Result<(NodeReading, Vec<NotRead>), String> {
        match self {
            Self::Cql(views) => views.read(at_s, with_sizes).map_err(|error| error.to_string()),
            Self::Sql(views) => views.read(at_s, with_sizes).map_err(|error| error.to_string()),
        }
    }
}

struct Node {
    views: Views,
    /// Whether it answered when it was asked last.
    answers: bool,
    seen: NodeSeen,
}

impl<'a> Nodes<'a> {
    /// Connects to each contact point, and to the other nodes that the first one knows. One of these that lets nobody
    /// in is named and left out.
    pub fn connect(points: &[String], access: &Access, screen: &'a Screen) -> Result<Self, Failure> {
        let mut known = BTreeSet::new();
        let mut nodes = Self { all: Vec::new(), screen };
        let mut others = None;
        for point in points {
            let address = resolve(std::slice::from_ref(point))?;
            let views = NodeViews::connect(address, std::slice::from_ref(point), access).map_err(refused)?;
            if others.is_none() {
                others = Some(views.others(address.port()).map_err(refused)?);
            }
            nodes.add(point.clone(), views, &mut known).map_err(refused)?;
        }
        let named: BTreeSet<SocketAddr> =
            points.iter().filter_map(|point| resolve(std::slice::from_ref(point)).ok()).collect();
        for address in others.unwrap_or_default().into_iter().filter(|address| !named.contains(address)) {
            let connected = NodeViews::connect(address, points, access);
            let added = connected.and_then(|views| nodes.add(address.to_string(), views, &mut known));
            if let Err(error) = added {
                screen.say(&format!("warning: not read: {error}"));
            }
        }
        Ok(nodes)
    }

    /// Connects to a database of a server of PostgreSQL.
    pub fn of_server(points: &[String], dbname: &str, access: Access, screen: &'a Screen) -> Result<Self, Failure> {
        let node = points.first().cloned().unwrap_or_default();
        let at = TableAt { access, keyspace: dbname.to_owned(), ..TableAt::ycsb(node.clone(), 1) };
        let views = Views::Sql(Box::new(ServerViews::connect(at).map_err(refused_by_sql)?));
        let seen = NodeSeen { node, ..NodeSeen::default() };
        Ok(Self { all: vec![Node { views, answers: true, seen }], screen })
    }

    /// A node is known by what it is, whatever address it was reached by.
    fn add(&mut self, name: String, views: NodeViews, known: &mut BTreeSet<String>) -> Result<(), AdminError> {
        let id = views.host_id()?;
        if id.is_none_or(|id| known.insert(id)) {
            let seen = NodeSeen { node: name, ..NodeSeen::default() };
            self.all.push(Node { views: Views::Cql(Box::new(views)), answers: true, seen });
        }
        Ok(())
    }

    /// What is true of the cluster, as the first node has it.
    pub fn cluster(&mut self) -> Result<Cluster, Failure> {
        let first = self.all.first_mut().ok_or_else(|| Failure::work("no node is connected"))?;
        first.views.cluster()
    }

    /// One look at each. One that does not answer is named, and asked again the next time: it may have been started
    /// again.
    pub fn read(&mut self, began: Instant, with_sizes: bool) {
        for node in &mut self.all {
            let at_s = began.elapsed().as_secs_f64();
            match node.views.read(at_s, with_sizes) {
                Ok((reading, not_read)) => {
                    node.answers = true;
                    node.seen.readings.push(reading);
                    for missing in not_read {
                        let known = node.seen.not_read.iter().any(|known| known.what == missing.what);
                        if !known {
                            node.seen.not_read.push(missing);
                        }
                    }
                }
                Err(error) => {
                    if node.answers {
                        self.screen.say(&format!("warning: not read now, and asked again: {error}"));
                        let what = format!("{} after {:.1} minutes", node.seen.node, at_s / 60.0);
                        node.seen.not_read.push(NotRead { what, why: error });
                    }
                    node.answers = false;
                    // Readings of all nodes are of the same times: this one says nothing.
                    node.seen.readings.push(NodeReading { at_s, ..NodeReading::default() });
                }
            }
        }
    }

    /// Whether none answers.
    pub fn are_lost(&self) -> bool {
        self.all.iter().all(|node| !node.answers)
    }

    /// From the first reading to the last.
    pub fn seconds(&self) -> f64 {
        let at = || self.all.iter().flat_map(|node| &node.seen.readings).map(|reading| reading.at_s);
        let first = at().reduce(f64::min).unwrap_or_default();
        at().reduce(f64::max).unwrap_or_default() - first
    }

    pub fn into_seen(self) -> Vec<NodeSeen> {
        self.all.into_iter().map(|node| node.seen).collect()
    }
}

fn refused(error: AdminError) -> Failure {
    let known = match &error {
        AdminError::Connect { refusal, .. } => refusal.help(),
        _ => None,
    };
    let help = known.unwrap_or_else(|| "is a CQL server listening there?".to_owned());
    Failure::work(error).help(help)
}

fn refused_by_sql(error: postgresql::AdminError) -> Failure {
    let known = match &error {
        postgresql::AdminError::Refused(refusal) => refusal.help(),
        _ => None,
    };
    let help = known.unwrap_or_else(|| "does PostgreSQL listen there, with the database of --dbname?".to_owned());
    Failure::work(error).help(help)
}
