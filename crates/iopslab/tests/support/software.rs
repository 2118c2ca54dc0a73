//! The databases' software on this machine. The networks of stories lead nowhere, so that what is missing is fetched
//! before.

use std::path::PathBuf;
use std::sync::Once;

use database::{Account, Installed, Server, server};
use experiment::{PRODUCTS, Started};

static FETCHED: Once = Once::new();

/// What is installed of a product, in its default version.
pub struct Software {
    pub server: Box<dyn Server>,
    pub installed: Box<dyn Installed>,
    pub account: Option<Account>,
}

impl Software {
    /// Fetched where this machine has not got it, which takes a network.
    pub fn here(product: &str) -> Result<Self, String> {
        let product = PRODUCTS.into_iter().find(|known| known.name == product).unwrap();
        let account = Account::of_this_machine().unwrap();
        let started = Started { product, version: product.default_version.to_owned() };
        let server = server(&started, account.clone()).unwrap();
        let usual = || PathBuf::from("/var/cache/iopslab");
        let cache = std::env::var_os("IOPSLAB_CACHE").map_or_else(usual, PathBuf::from);
        std::fs::create_dir_all(&cache).unwrap();
        let installed = server.install(&cache, &[], &mut |_, _| {}, &|| false, &|_| Ok(()));
        let installed = installed.map_err(|error| error.to_string())?;
        if let Some(account) = &account {
            account.let_through(&cache).unwrap();
        }
        Ok(Self { server, installed, account })
    }
}

/// Fetches all of it, once in this process. A story that needs what cannot be had says so by itself.
pub fn fetch() {
    FETCHED.call_once(|| {
        for product in PRODUCTS {
            if let Err(error) = Software::here(product.name) {
                println!("no {}: {error}", product.title);
            }
        }
    });
}
