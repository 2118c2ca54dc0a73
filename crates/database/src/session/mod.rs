//! The one way into a CQL database: who asks, whether it is encrypted, which nodes, and why nobody is let in.
//!
//! The load, the checks of a data set and the control connection all come through here. PostgreSQL has a way of its own
//! (`postgresql::way`), with the same certificates and the same reasons.

mod refusal;
#[cfg(feature = "tls")]
mod tls;

use std::sync::Arc;

use experiment::Access;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::policies::load_balancing::{DefaultPolicy, LoadBalancingPolicy};

pub use refusal::Refusal;
#[cfg(feature = "tls")]
pub(crate) use refusal::of_rustls;
#[cfg(feature = "tls")]
pub(crate) use tls::context as tls_context;

/// Whether this program can encrypt its connections.
pub const HAS_TLS: bool = cfg!(feature = "tls");

/// Nodes that requests may go to: those of the data centre, whichever holds the record.
pub(crate) fn policy(access: &Access) -> Arc<dyn LoadBalancingPolicy> {
    match &access.data_centre {
        Some(name) => DefaultPolicy::builder().prefer_datacenter(name.clone()).permit_dc_failover(false).build(),
        None => DefaultPolicy::builder().build(),
    }
}

/// Opens a session with a builder that knows its nodes. `contact_points` are the names by which the user calls them:
/// a server's certificate may be for one of these.
pub(crate) async fn open(
    builder: SessionBuilder,
    contact_points: &[String],
    access: &Access,
) -> Result<Session, Refusal> {
    let builder = match &access.login {
        Some(login) => builder.user(&login.user, &login.password),
        None => builder,
    };
    let builder = encrypt(builder, contact_points, access)?;
    builder.build().await.map_err(|error| Refusal::of(&error, access))
}

#[cfg(feature = "tls")]
fn encrypt(builder: SessionBuilder, contact_points: &[String], access: &Access) -> Result<SessionBuilder, Refusal> {
    match &access.tls {
        Some(tls) => Ok(builder.tls_context(Some(tls::context(tls, contact_points)?))),
        None => Ok(builder),
    }
}

#[cfg(not(feature = "tls"))]
fn encrypt(builder: SessionBuilder, _contact_points: &[String], access: &Access) -> Result<SessionBuilder, Refusal> {
    match &access.tls {
        Some(_) => Err(Refusal::WithoutTls),
        None => Ok(builder),
    }
}
