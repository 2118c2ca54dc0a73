//! Which connection a request takes: to the only node, or to the one that the driver's own policy picks from the
//! driver's own picture of the cluster.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use experiment::Access;
use scylla::cluster::{ClusterState, Node};
use scylla::policies::load_balancing::{LoadBalancingPolicy, RoutingInfo};
use tokio::sync::oneshot;

use super::connection::{Connection, Target};
use super::setup::SetupError;

/// What a first attempt to connect comes to.
pub(super) type First = oneshot::Receiver<Result<(), SetupError>>;

/// Connections to the nodes of a cluster.
pub(super) struct Routes {
    policy: Arc<dyn LoadBalancingPolicy>,
    access: Access,
    request_timeout: Duration,
    on_refused: Rc<dyn Fn(String)>,
    state: RefCell<Arc<ClusterState>>,
    nodes: RefCell<Vec<Reached>>,
    /// Where there is only one node.
    only: RefCell<Option<Rc<Connection>>>,
}

struct Reached {
    host_id: u128,
    connection: Rc<Connection>,
}

impl Routes {
    /// Begins to connect to all nodes that the policy may pick.
    pub(super) fn begin(
        policy: Arc<dyn LoadBalancingPolicy>,
        access: Access,
        request_timeout: Duration,
        on_refused: Rc<dyn Fn(String)>,
        state: Arc<ClusterState>,
    ) -> (Self, Vec<First>) {
        let routes = Self {
            policy,
            access,
            request_timeout,
            on_refused,
            state: RefCell::new(Arc::clone(&state)),
            nodes: RefCell::default(),
            only: RefCell::default(),
        };
        let firsts = routes.follow(state);
        (routes, firsts)
    }

    /// Whether this is another picture than the last one.
    pub(super) fn is_news(&self, state: &Arc<ClusterState>) -> bool {
        !Arc::ptr_eq(&self.state.borrow(), state)
    }

    /// Takes up a picture of the cluster: connects to nodes that are new, and leaves those that are gone.
    pub(super) fn follow(&self, state: Arc<ClusterState>) -> Vec<First> {
        let wanted: Vec<(u128, SocketAddr)> =
            state.get_nodes_info().iter().filter_map(|node| self.place(node)).collect();
        let mut nodes = self.nodes.borrow_mut();
        nodes.retain(|node| {
            let stays = wanted.contains(&(node.host_id, node.connection.address()));
            if !stays {
                node.connection.end();
            }
            stays
        });
        let mut firsts = Vec::new();
        for (host_id, address) in wanted {
            if nodes.iter().any(|node| node.host_id == host_id) {
                continue;
            }
            let on_refused = Rc::clone(&self.on_refused);
            let (connection, first) = Connection::begin(Target {
                address,
                access: self.access.clone(),
                request_timeout: self.request_timeout,
                on_refused: Box::new(move |reason| on_refused(reason)),
            });
            firsts.push(first);
            nodes.push(Reached { host_id, connection });
        }
        *self.only.borrow_mut() = match (state.get_nodes_info(), nodes.as_slice()) {
            ([_], [only]) => Some(Rc::clone(&only.connection)),
            _ => None,
        };
        drop(nodes);
        *self.state.borrow_mut() = state;
        firsts
    }

    /// Name and address of a node that the policy may pick.
    fn place(&self, node: &Node) -> Option<(u128, SocketAddr)> {
        let is_ours = match &self.access.data_centre {
            Some(ours) => node.datacenter.as_ref() == Some(ours),
            None => true,
        };
        let address = SocketAddr::new(node.address.ip(), node.address.port());
        is_ours.then(|| (node.host_id.as_u128(), address))
    }

    /// The connection for a request, which says where it belongs where there are several nodes. `None`: no node that it
    /// may go to can be reached.
    pub(super) fn choose<'a>(&self, info: impl FnOnce() -> RoutingInfo<'a>) -> Option<Rc<Connection>> {
        if let Some(only) = self.only.borrow().as_ref() {
            return Some(Rc::clone(only));
        }
        let (info, state, nodes) = (info(), self.state.borrow(), self.nodes.borrow());
        let up = |node: &Node| {
            let host_id = node.host_id.as_u128();
            let reached = nodes.iter().find(|reached| reached.host_id == host_id)?;
            reached.connection.is_up().then(|| Rc::clone(&reached.connection))
        };
        // As the driver does: the pick, and what it would try next if there is no connection to that one.
        let picked = self.policy.pick(&info, &state).and_then(|(node, _)| up(node));
        picked.or_else(|| {
            let mut fallback = self.policy.fallback(&info, &state);
            fallback.find_map(|(node, _)| up(node))
        })
    }

    /// Whether a request could be sent to some node.
    pub(super) fn is_any_up(&self) -> bool {
        self.nodes.borrow().iter().any(|node| node.connection.is_up())
    }

    /// Ends all connections.
    pub(super) fn end(&self) {
        self.nodes.borrow().iter().for_each(|node| node.connection.end());
    }
}
