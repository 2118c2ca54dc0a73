//! A host's network that drops what a database's TCP ports send and receive, by nftables.
//!
//! Only the ports of a database are cut, at the addresses of its cluster, not the host: whoever watches it over the
//! same network must still reach it, and a database of somebody else on the same machine, at another address, goes on.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use crate::command::{call, require};
use crate::error::Result;
use crate::ledger::{Ledger, LedgerId, LedgerItem};

/// nft answers at once.
const PATIENCE: Duration = Duration::from_secs(10);
const NFT: (&str, &str) = ("nft", "nftables");

/// A database that is cut off until [`Self::end`].
#[derive(Debug)]
pub struct NetworkCut {
    ledger: Arc<Ledger>,
    entry: LedgerId,
    table: String,
}

impl NetworkCut {
    /// Drops every TCP packet of this host from or to these ports of these addresses, in both directions, from now on:
    /// clients to its node, other nodes to it, and it to them. `table` is the name of the table of rules that is made
    /// for it. Errors: nft is missing or refuses, for lack of rights or of the kernel's support.
    pub fn begin(ledger: &Arc<Ledger>, table: &str, addresses: &[Ipv4Addr], ports: &[u16]) -> Result<Self> {
        let entry = ledger.intend(LedgerItem::NetworkCut { table: table.to_owned() })?;
        let cut = Self { ledger: Arc::clone(ledger), entry, table: table.to_owned() };
        // One transaction: all of it or nothing.
        nft(&rules(table, addresses, ports))?;
        Ok(cut)
    }

    /// Lets everything through again. Errors: as [`Self::begin`].
    pub fn end(self) -> Result<()> {
        remove(&self.table)?;
        self.ledger.done(self.entry)
    }
}

/// Where nft is, or what to install; changes nothing. Errors: it is not installed.
pub fn can_cut_network() -> Result<()> {
    require(NFT.0, NFT.1).map(|_| ())
}

fn rules(table: &str, addresses: &[Ipv4Addr], ports: &[u16]) -> String {
    let (addresses, ports) = (listed(addresses), listed(ports));
    let chain = |hook: &str| {
        format!(
            "chain {hook} {{ type filter hook {hook} priority -300; ip daddr {addresses} tcp dport {ports} drop; \
             ip saddr {addresses} tcp sport {ports} drop; }}"
        )
    };
    format!("table inet {table} {{\n{}\n{}\n}}", chain("input"), chain("output"))
}

/// A set of nft(8).
fn listed<T: ToString>(all: &[T]) -> String {
    let all: Vec<String> = all.iter().map(T::to_string).collect();
    format!("{{ {} }}", all.join(", "))
}

/// Removes the table; whether it was there.
pub(crate) fn remove(table: &str) -> Result<bool> {
    let there = nft("list tables")?.lines().any(|line| line.trim() == format!("table inet {table}"));
    if there {
        nft(&format!("delete table inet {table}"))?;
    }
    Ok(there)
}

fn nft(command: &str) -> Result<String> {
    call(NFT, [command], PATIENCE)
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd as _;
    use std::path::Path;

    use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

    use super::*;

    /// The same for all databases.
    const PORT: u16 = 9042;

    fn ip(words: &[&str]) {
        call(("ip", "iproute2"), words, PATIENCE).unwrap();
    }

    /// This thread, and what it starts, has a network of its own from here on.
    fn enter_network() {
        let name = format!("iopslab-cut-{}", std::process::id());
        ip(&["netns", "add", &name]);
        let network = std::fs::File::open(Path::new("/run/netns").join(&name)).unwrap();
        move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
        ip(&["netns", "del", &name]);
        ip(&["link", "set", "lo", "up"]);
    }

    #[test]
    fn a_database_is_cut_off_from_all_and_another_one_at_the_same_port_goes_on() {
        if !rustix::process::geteuid().is_root() || can_cut_network().is_err() {
            println!("skipped: needs root and nft");
            return;
        }
        // A thread of its own: what runs after this is where it was.
        std::thread::spawn(one_of_two).join().unwrap();
    }

    fn one_of_two() {
        enter_network();
        let directory = tempfile::tempdir().unwrap();
        let ledger = Arc::new(Ledger::open(&directory.path().join("ledger.jsonl")).unwrap());
        let (own, peer, other) = (Ipv4Addr::LOCALHOST, Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::new(127, 0, 1, 1));
        let _listening = [own, peer, other].map(|address| TcpListener::bind((address, PORT)).unwrap());
        let answer = || {
            let answers =
                |address: Ipv4Addr| TcpStream::connect_timeout(&(address, PORT).into(), PATIENCE / 20).is_ok();
            [own, peer, other].map(answers)
        };
        let cut = NetworkCut::begin(&ledger, "iopslab_cut", &[own, peer], &[PORT, 7000]).unwrap();
        assert_eq!(answer(), [false, false, true]);
        cut.end().unwrap();
        assert_eq!(answer(), [true; 3]);
        assert_eq!(nft("list tables").unwrap(), "");
    }
}
