//! Where the database of a plan answers, and who asks.

use spec::{Access, ConsistencyLevels, Database, Plan};
use wire::Endpoint;

use crate::failure::Failure;

/// Has the password of an existing cluster's user.
pub const PASSWORD: &str = "IOPSLAB_PASSWORD";
/// Keyspace of a database that a run starts, as in YCSB.
const KEYSPACE: &str = "ycsb";
/// The table, as in YCSB.
const TABLE: &str = "usertable";

/// The database's keyspace and the way into it.
#[derive(Debug, Clone)]
pub(super) struct Target {
    keyspace: String,
    access: Access,
}

impl Target {
    /// That of a plan; the password comes from its file or from the environment.
    pub fn of(plan: &Plan) -> Result<Self, Failure> {
        let Database::Hosts {
            keyspace,
            data_centre,
            user,
            password_file,
            ..
        } = &plan.target.database
        else {
            return Ok(Self {
                keyspace: KEYSPACE.to_owned(),
                access: Access::default(),
            });
        };
        let password = match (user, password_file) {
            (None, _) => None,
            (Some(_), Some(file)) => {
                let text = std::fs::read_to_string(file)
                    .map_err(|error| Failure::input(format!("cannot read the password in {file}: {error}")))?;
                Some(text.trim_end_matches(['\r', '\n']).to_owned())
            }
            (Some(user), None) => Some(std::env::var(PASSWORD).map_err(|_| {
                Failure::input(format!("no password for user {user}"))
                    .help(format!("set {PASSWORD}, or state password_file in [target]"))
            })?),
        };
        Ok(Self {
            keyspace: keyspace.clone(),
            access: Access {
                user: user.clone(),
                password,
                data_centre: data_centre.clone(),
            },
        })
    }

    /// Its contact points with the levels and the patience of requests.
    pub fn endpoint(
        &self,
        contact_points: Vec<String>,
        consistency: ConsistencyLevels,
        request_timeout_s: f64,
    ) -> Endpoint {
        Endpoint {
            contact_points,
            keyspace: self.keyspace.clone(),
            table: TABLE.to_owned(),
            consistency,
            request_timeout_s,
            access: self.access.clone(),
        }
    }
}
