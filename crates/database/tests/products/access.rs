//! What can be done to a PostgreSQL over the network.

use database::Account;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Config, NoTls};

use crate::POSTGRESQL;
use crate::shared::has_no_rights;
use crate::stage::{KEYSPACE, Stage, TABLE};

/// Whoever reaches its port needs no password: no program of the machine runs for them, and no file of it is read.
#[test]
fn postgresql_over_the_network_nobody_is_superuser_or_has_what_one_can_do() {
    let stage = Stage::of(&POSTGRESQL);
    let (plan, node) = stage.loaded("node");
    match Account::of_this_machine().unwrap() {
        Some(account) => has_no_rights(node.0.pid(), account.uid()),
        None => println!("not looked at: only root has another user to start it as"),
    }
    let config = |user: &str| {
        let mut config = Config::new();
        config.host(plan.address.to_string()).port(plan.ports.clients).user(user).dbname(KEYSPACE);
        config
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let superuser = config("postgres").connect(NoTls).await.err().unwrap();
        assert_eq!(superuser.code(), Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION), "{superuser}");

        let (client, connection) = config("iopslab").connect(NoTls).await.unwrap();
        tokio::spawn(async move { drop(connection.await) });
        client.batch_execute(&format!("SELECT count(*) FROM {TABLE}")).await.unwrap();
        for refused in [
            format!("COPY {TABLE} TO PROGRAM 'true'"),
            format!("COPY {TABLE} FROM PROGRAM 'true'"),
            format!("COPY {TABLE} FROM '/etc/passwd'"),
            "SELECT pg_read_file('/etc/passwd')".to_owned(),
            "SELECT lo_import('/etc/passwd')".to_owned(),
            "CREATE TABLE other (a int)".to_owned(),
            "CREATE ROLE other SUPERUSER".to_owned(),
            format!("DROP TABLE {TABLE}"),
        ] {
            let error = client.batch_execute(&refused).await.err();
            let code = error.as_ref().and_then(tokio_postgres::Error::code);
            assert_eq!(code, Some(&SqlState::INSUFFICIENT_PRIVILEGE), "{refused}: {error:?}");
        }
    });
}
