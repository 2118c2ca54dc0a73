//! Where the database of a plan answers, and who asks.

use database::loader::{KEYSPACE, TABLE};
use experiment::{Access, ConsistencyLevels, ExistingCluster, Plan, Product};
use process::failure::Failure;
use wire::Endpoint;

use crate::secrets;

/// The database's keyspace (of PostgreSQL its database) and the way into it.
#[derive(Debug, Clone)]
pub(super) struct Target {
    product: &'static Product,
    keyspace: String,
    access: Access,
}

impl Target {
    /// That of a plan; password and certificates are read here.
    pub fn of(plan: &Plan) -> Result<Self, Failure> {
        let product = plan.target.database.product();
        let Some(cluster) = plan.place.existing() else {
            return Ok(Self { product, keyspace: KEYSPACE.to_owned(), access: Access::default() });
        };
        let ExistingCluster { keyspace, dbname, data_centre, user, password_file, password_env, tls, .. } = cluster;
        let source = secrets::password_source(password_file.as_deref(), password_env.as_deref());
        let login = |user: &String| secrets::login(user, source, "password_file in [target]");
        Ok(Self {
            product,
            keyspace: dbname.as_ref().unwrap_or(keyspace).clone(),
            access: Access {
                login: user.as_ref().map(login).transpose()?,
                tls: tls.as_ref().map(secrets::tls).transpose()?,
                data_centre: data_centre.clone(),
                schema: dbname.as_ref().map(|_| keyspace.clone()),
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
            product: self.product,
            contact_points,
            keyspace: self.keyspace.clone(),
            table: TABLE.to_owned(),
            consistency,
            request_timeout_s,
            access: self.access.clone(),
            driver_only: database::driver_only(),
            cache: None,
        }
    }
}
