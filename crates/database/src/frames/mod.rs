//! The requests of a workload in frames of our own, beside the driver's.
//!
//! The driver connects, knows schema and topology, prepares the statements and picks the node of a request; what it
//! spends on a request is more than a small request costs otherwise. So requests whose statement is prepared go out on
//! connections of our own, one for each node and load thread: encoded into the outgoing bytes, decoded as far as kind,
//! number of rows and error, and nothing allocated on the way. No retries, no speculation, no compression.
//!
//! | file | idea |
//! |---|---|
//! | `protocol` | names of the protocol's numbers |
//! | `encode`, `decode` | bytes of requests; answers from bytes, however they are cut (pure) |
//! | `streams` | who waits for which answer, and how long (pure) |
//! | `setup` | from a socket to a connection that takes requests, or why not |
//! | `connection` | one connection: many requests with one system call, timeouts, connecting again |
//! | `routing` | which connection a request takes |

mod connection;
mod decode;
mod encode;
mod protocol;
mod routing;
mod setup;
mod streams;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use engine::ErrorKind;
use experiment::Access;
use scylla::client::session::Session;
use scylla::policies::load_balancing::{LoadBalancingPolicy, RoutingInfo};

use routing::Routes;
use setup::SetupError;

pub(crate) use decode::{APPLIED, Answer};
pub(crate) use encode::{Head, Values};

/// How often is asked whether the driver has another picture of the cluster: that costs nothing.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Connections of our own to the nodes of a cluster, for one load thread.
pub(crate) struct Frames {
    routes: Rc<Routes>,
}

impl Frames {
    /// Connects to the nodes that the session knows. The error says why the driver has to be used. Must be called in a
    /// `LocalRuntime`. `on_refused` is called when a node refuses later what another one took.
    pub(crate) async fn open(
        session: &Arc<Session>,
        policy: Arc<dyn LoadBalancingPolicy>,
        access: &Access,
        request_timeout: Duration,
        on_refused: impl Fn(String) + 'static,
    ) -> Result<Self, String> {
        if access.tls.is_some() {
            return Err("connections are encrypted".to_owned());
        }
        let state = session.get_cluster_state();
        let (routes, firsts) = Routes::begin(policy, access.clone(), request_timeout, Rc::new(on_refused), state);
        let frames = Self { routes: Rc::new(routes) };
        let mut away = None;
        for first in firsts {
            match first.await {
                Ok(Err(SetupError::Refused(reason))) => return Err(reason),
                Ok(Err(SetupError::Away(error))) => away = Some(error),
                Ok(Ok(())) | Err(_) => {}
            }
        }
        if !frames.routes.is_any_up() {
            return Err(match away {
                Some(error) => format!("a second connection fails: {error}"),
                None => "the driver knows no node of this data centre".to_owned(),
            });
        }
        tokio::task::spawn_local(follow(Rc::downgrade(&frames.routes), Arc::clone(session)));
        Ok(frames)
    }

    /// Sends a request and waits for its answer; `info` says where it belongs, and is asked only where there are
    /// several nodes.
    pub(crate) async fn execute<'a>(
        &self,
        head: &Head,
        values: &impl Values,
        info: impl FnOnce() -> RoutingInfo<'a>,
    ) -> Result<Answer, ErrorKind> {
        let connection = self.routes.choose(info).ok_or(ErrorKind::Connection)?;
        connection.send(head, values)?.await
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        self.routes.end();
    }
}

/// Keeps the routes at the driver's picture of the cluster.
async fn follow(routes: std::rc::Weak<Routes>, session: Arc<Session>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(routes) = routes.upgrade() else { return };
        let state = session.get_cluster_state();
        if routes.is_news(&state) {
            // These connect in the background, as nodes do that come back.
            let _ = routes.follow(state);
        }
    }
}
