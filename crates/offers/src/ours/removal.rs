//! Removing things in the order in which EC2 lets go of them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::kind::Kind;
use super::listing::{Ask, list, resources};
use super::resource::Resource;
use crate::signed::Refused;

/// A run whose Terraform outlived its controller may make more while it is cleaned: so often it is looked for.
const ROUNDS: usize = 3;

/// How long is waited.
#[derive(Debug, Clone)]
pub struct Patience {
    /// Between two looks.
    pub look: Duration,
    /// For instances to end.
    pub instances: Duration,
    /// For a thing that others hold on to, since the last one of them went.
    pub held: Duration,
}

/// What became of a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovalOutcome<'a> {
    /// It is removed.
    Removed(&'a Resource),
    /// It had gone when it was to be removed, as volumes do with their instance.
    Gone(&'a Resource),
    /// It is still there, with the reason.
    Failed(&'a Resource, &'a str),
    /// It is not known whether anything is left, with the reason.
    Unknown(&'a str),
    /// Nothing yet: what is waited for.
    Waiting(&'a str),
}

/// What one attempt came to.
enum Attempt {
    Done,
    Gone,
    /// Others hold on to it.
    Held(String),
    Failed(String),
}

/// Removes these things, and what their runs make meanwhile.
pub(super) fn remove(
    account: &dyn Ask,
    resources: Vec<Resource>,
    patience: &Patience,
    say: &mut dyn FnMut(RemovalOutcome<'_>),
) {
    let runs: BTreeSet<String> = resources.iter().map(|resource| resource.run.clone()).collect();
    let mut removal = Removal { account, patience, say, ours: BTreeSet::new(), is_stuck: false, silent: None };
    let mut left = resources;
    for _ in 0..ROUNDS {
        removal.round(left);
        if removal.silent.is_some() {
            return;
        }
        match list(account) {
            Ok(found) => {
                let is_new = |resource: &Resource| runs.contains(&resource.run) && !removal.ours.contains(&resource.id);
                left = found.resources.into_iter().filter(is_new).collect();
            }
            Err(refused) => {
                (removal.say)(RemovalOutcome::Unknown(&refused.reason));
                return;
            }
        }
        if left.is_empty() {
            return;
        }
    }
    for resource in &left {
        (removal.say)(RemovalOutcome::Failed(resource, "its run still makes things: end it, then repeat"));
    }
}

struct Removal<'a> {
    account: &'a dyn Ask,
    patience: &'a Patience,
    say: &'a mut dyn FnMut(RemovalOutcome<'_>),
    /// Ids of all things that were to be removed.
    ours: BTreeSet<String>,
    /// Something stays that holds on to others.
    is_stuck: bool,
    /// Why EC2 answers no more.
    silent: Option<String>,
}

impl Removal<'_> {
    fn round(&mut self, mut resources: Vec<Resource>) {
        self.ours.extend(resources.iter().map(|resource| resource.id.clone()));
        resources.sort_by_key(|resource| resource.kind);
        let (instances, others): (Vec<Resource>, Vec<Resource>) =
            resources.into_iter().partition(|resource| resource.kind == Kind::Instance);
        self.end(instances);
        self.let_go(others);
    }

    /// Ends instances and waits until they have ended: they hold on to almost everything else.
    fn end(&mut self, instances: Vec<Resource>) {
        let mut ending = Vec::new();
        for instance in instances {
            match self.attempt(&instance) {
                Attempt::Done => ending.push(instance),
                other => self.report(&instance, other),
            }
        }
        let began = Instant::now();
        let mut reported = 0;
        while !ending.is_empty() {
            // Whoever cannot be asked about has not been seen to end.
            let there = resources(self.account, Kind::Instance);
            let is_there = |instance: &Resource| match &there {
                Ok(there) => there.iter().any(|other| other.id == instance.id),
                Err(_) => true,
            };
            let (still, ended): (Vec<Resource>, Vec<Resource>) = ending.into_iter().partition(is_there);
            for instance in &ended {
                self.report(instance, Attempt::Done);
            }
            ending = still;
            if ending.is_empty() {
                return;
            }
            if began.elapsed() >= self.patience.instances {
                let why = match there {
                    Ok(_) => format!("it was asked to end and has not ended after {:.0?}", self.patience.instances),
                    Err(refused) => {
                        format!("it was asked to end; whether it has ended is not known: {}", refused.reason)
                    }
                };
                for instance in &ending {
                    self.report(instance, Attempt::Failed(why.clone()));
                }
                return;
            }
            if reported != ending.len() {
                reported = ending.len();
                (self.say)(RemovalOutcome::Waiting(&format!("waiting for {reported} instances to end")));
            }
            std::thread::sleep(self.patience.look);
        }
    }

    /// Removes things that others may hold on to for a while.
    fn let_go(&mut self, mut resources: Vec<Resource>) {
        let mut last_went = Instant::now();
        let mut reported = 0;
        loop {
            let mut held = Vec::new();
            let before = resources.len();
            for resource in resources {
                match self.attempt(&resource) {
                    Attempt::Held(why) => held.push((resource, why)),
                    other => self.report(&resource, other),
                }
            }
            if held.is_empty() {
                return;
            }
            if held.len() < before {
                last_went = Instant::now();
            } else if self.is_stuck || last_went.elapsed() >= self.patience.held {
                // What stays goes on holding: that is not waited for.
                for (resource, why) in held {
                    self.report(&resource, Attempt::Failed(why));
                }
                return;
            }
            if reported != held.len() {
                reported = held.len();
                let what: Vec<String> = held.iter().map(|(resource, _)| resource.reported()).collect();
                let what = what.join(", ");
                (self.say)(RemovalOutcome::Waiting(&format!("waiting for what others still hold: {what}")));
            }
            std::thread::sleep(self.patience.look);
            resources = held.into_iter().map(|(resource, _)| resource).collect();
        }
    }

    fn report(&mut self, resource: &Resource, attempt: Attempt) {
        match attempt {
            Attempt::Done => (self.say)(RemovalOutcome::Removed(resource)),
            Attempt::Gone => (self.say)(RemovalOutcome::Gone(resource)),
            Attempt::Held(why) | Attempt::Failed(why) => {
                self.is_stuck |= resource.kind.holds_others();
                (self.say)(RemovalOutcome::Failed(resource, &why));
            }
        }
    }

    fn attempt(&mut self, resource: &Resource) -> Attempt {
        if let Some(why) = &self.silent {
            return Attempt::Failed(format!("not tried: {why}"));
        }
        let words = resource.kind.words();
        let id = resource.name.as_deref().unwrap_or(&resource.id);
        let outcome = self.loosen(resource).unwrap_or_else(|| self.ask(words.remove, &[(words.parameter, id)]));
        if let Err((refused, _)) = &outcome
            && refused.code.is_none()
        {
            self.silent = Some(refused.reason.clone());
        }
        match outcome {
            Ok(()) => Attempt::Done,
            Err((_, RefusalKind::Gone)) => Attempt::Gone,
            Err((refused, RefusalKind::Held)) => Attempt::Held(refused.reason),
            Err((refused, RefusalKind::Other)) => Attempt::Failed(refused.reason),
        }
    }

    /// Loosens what a thing holds on to itself. `Some`: it cannot be removed.
    fn loosen(&self, resource: &Resource) -> Option<Result<(), (Refused, RefusalKind)>> {
        for (own, other) in &resource.holds {
            if !self.ours.contains(other) {
                let reason = format!("it is attached to {other}, which is not of this run; nothing was changed there");
                let code = Some("NotOurs".to_owned());
                return Some(Err((Refused { code, reason }, RefusalKind::Other)));
            }
            let loosened = match resource.kind {
                Kind::InternetGateway => {
                    self.ask("DetachInternetGateway", &[("InternetGatewayId", &resource.id), ("VpcId", own)])
                }
                _ => self.ask("DisassociateRouteTable", &[("AssociationId", own)]),
            };
            match loosened {
                Ok(()) | Err((_, RefusalKind::Gone)) => {}
                refused => return Some(refused),
            }
        }
        None
    }

    fn ask(&self, action: &str, parameters: &[(&str, &str)]) -> Result<(), (Refused, RefusalKind)> {
        let parameters: Vec<(String, String)> =
            parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        match self.account.ask(action, &parameters) {
            Ok(_) => Ok(()),
            Err(refused) => {
                let why = RefusalKind::of(&refused);
                Err((refused, why))
            }
        }
    }
}

/// Why EC2 does not remove a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RefusalKind {
    Gone,
    Held,
    Other,
}

impl RefusalKind {
    /// Source: "Error codes for the Amazon EC2 API".
    fn of(refused: &Refused) -> Self {
        let code = refused.code.as_deref().unwrap_or_default();
        let is_gone =
            code.ends_with("NotFound") || ["InvalidPlacementGroup.Unknown", "Gateway.NotAttached"].contains(&code);
        let is_held = code.contains("InUse")
            || ["DependencyViolation", "IncorrectState"].contains(&code)
            // Of a network interface: "Network interface 'eni-...' is currently in use."
            || (code == "InvalidParameterValue" && refused.reason.contains("in use"));
        match (is_gone, is_held) {
            (true, _) => Self::Gone,
            (_, true) => Self::Held,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// A region in memory: it answers by what it has, two things a page, and refuses while others hold on.
    #[derive(Default)]
    struct Region {
        state: RefCell<State>,
    }

    #[derive(Default)]
    struct State {
        resources: Vec<Piece>,
        /// Removals in their order.
        calls: Vec<String>,
        /// Looks at instances until one that was asked to end has ended.
        ending: u32,
        /// Made when the first thing is removed: `(kind, id)`.
        late: Vec<Piece>,
    }

    #[derive(Clone)]
    struct Piece {
        kind: Kind,
        id: &'static str,
        run: Option<&'static str>,
        held_by: &'static [&'static str],
        more: &'static str,
        refusal: Option<(&'static str, &'static str)>,
        is_ending: bool,
    }

    fn piece(kind: Kind, id: &'static str, run: &'static str) -> Piece {
        Piece { kind, id, run: Some(run), held_by: &[], more: "", refusal: None, is_ending: false }
    }

    fn network(run: &'static str) -> Vec<Piece> {
        let held = |kind, id, held_by| Piece { held_by, ..piece(kind, id, run) };
        vec![
            held(Kind::Vpc, "vpc-1", &["subnet-1", "sg-1", "igw-1", "rtb-1"]),
            Piece {
                more: "<attachmentSet><item><vpcId>vpc-1</vpcId></item></attachmentSet>",
                ..piece(Kind::InternetGateway, "igw-1", run)
            },
            held(Kind::Subnet, "subnet-1", &["i-1", "eni-1"]),
            Piece {
                more: "<associationSet><item><routeTableAssociationId>rtbassoc-1</routeTableAssociationId>\
                       <subnetId>subnet-1</subnetId></item></associationSet>",
                ..piece(Kind::RouteTable, "rtb-1", run)
            },
            held(Kind::SecurityGroup, "sg-1", &["i-1", "eni-1"]),
            held(Kind::PlacementGroup, "pg-1", &["i-1"]),
            piece(Kind::KeyPair, "key-1", run),
            piece(Kind::NetworkInterface, "eni-1", run),
            held(Kind::Volume, "vol-1", &["i-1"]),
            piece(Kind::Instance, "i-1", run),
        ]
    }

    fn refuse(code: &str, message: &str) -> Refused {
        Refused { code: Some(code.to_owned()), reason: format!("{code}: {message}") }
    }

    impl Region {
        fn of(resources: Vec<Piece>) -> Self {
            let region = Self::default();
            region.state.borrow_mut().resources = resources;
            region
        }

        fn describe(&self, kind: Kind, parameters: &[(String, String)]) -> String {
            let mut state = self.state.borrow_mut();
            if kind == Kind::Instance {
                state.ending = state.ending.saturating_sub(1);
                if state.ending == 0 {
                    state.resources.retain(|piece| !piece.is_ending);
                }
            }
            let words = kind.words();
            let all: Vec<&Piece> = state.resources.iter().filter(|piece| piece.kind == kind).collect();
            let token = parameters.iter().find(|(name, _)| name == "NextToken");
            let from = token.map_or(0, |(_, from)| from.parse::<usize>().unwrap());
            let mut items = String::new();
            for piece in all.iter().skip(from).take(2) {
                let tags = piece.run.map_or(String::new(), |run| {
                    format!("<tagSet><item><key>iopslab:run</key><value>{run}</value></item></tagSet>")
                });
                let name = words.name.map_or(String::new(), |name| format!("<{name}>{}</{name}>", piece.id));
                items += &format!("<item><{id}>{}</{id}>{name}{}{tags}</item>", piece.id, piece.more, id = words.id);
            }
            let mut list = format!("<{list}>{items}</{list}>", list = words.list);
            if kind == Kind::Instance {
                list = format!("<reservationSet><item>{list}</item></reservationSet>");
            }
            if all.len() > from + 2 {
                list += &format!("<nextToken>{}</nextToken>", from + 2);
            }
            format!("<{0}Response>{list}</{0}Response>", words.describe)
        }

        fn remove(&self, action: &str, parameters: &[(String, String)]) -> Result<String, Refused> {
            let mut state = self.state.borrow_mut();
            let id = parameters[0].1.clone();
            state.calls.push(format!("{action} {id}"));
            let late = std::mem::take(&mut state.late);
            state.resources.extend(late);
            if ["DetachInternetGateway", "DisassociateRouteTable"].contains(&action) {
                return Ok(String::new());
            }
            let Some(at) = state.resources.iter().position(|piece| piece.id == id) else {
                return Err(refuse("InvalidThing.NotFound", "it is not there"));
            };
            let piece = state.resources[at].clone();
            if let Some((code, message)) = piece.refusal {
                return Err(refuse(code, message));
            }
            if let Some(other) = piece.held_by.iter().find(|id| state.resources.iter().any(|p| p.id == **id)) {
                return Err(refuse("DependencyViolation", &format!("{id} is held by {other}")));
            }
            if piece.kind == Kind::Instance && state.ending > 0 {
                state.resources[at].is_ending = true;
            } else {
                state.resources.remove(at);
            }
            Ok(String::new())
        }
    }

    impl Ask for Region {
        fn ask(&self, action: &str, parameters: &[(String, String)]) -> Result<String, Refused> {
            match Kind::ALL.into_iter().find(|kind| kind.words().describe == action) {
                Some(kind) => Ok(self.describe(kind, parameters)),
                None => self.remove(action, parameters),
            }
        }
    }

    const SOON: Patience = Patience {
        look: Duration::from_millis(1),
        instances: Duration::from_millis(200),
        held: Duration::from_millis(20),
    };

    /// Removes a run's things; what was said, in lines.
    fn clean(region: &Region, run: &str) -> Vec<String> {
        let found = list(region).unwrap();
        let meant = found.resources.into_iter().filter(|resource| resource.run == run).collect();
        let mut said = Vec::new();
        remove(region, meant, &SOON, &mut |outcome| {
            said.push(match outcome {
                RemovalOutcome::Removed(resource) => format!("removed {}", resource.id),
                RemovalOutcome::Gone(resource) => format!("gone {}", resource.id),
                RemovalOutcome::Failed(resource, why) => format!("failed {}: {why}", resource.id),
                RemovalOutcome::Unknown(why) => format!("unknown: {why}"),
                RemovalOutcome::Waiting(what) => what.to_owned(),
            });
        });
        said
    }

    #[test]
    fn things_go_in_the_order_in_which_ec2_lets_go_of_them() {
        let region = Region::of(network("r1"));
        let said = clean(&region, "r1");
        let calls = region.state.borrow().calls.clone();
        assert_eq!(
            calls,
            [
                "TerminateInstances i-1",
                "DeleteVolume vol-1",
                "DeleteNetworkInterface eni-1",
                "DeleteKeyPair key-1",
                "DeletePlacementGroup pg-1",
                "DeleteSecurityGroup sg-1",
                "DisassociateRouteTable rtbassoc-1",
                "DeleteRouteTable rtb-1",
                "DeleteSubnet subnet-1",
                "DetachInternetGateway igw-1",
                "DeleteInternetGateway igw-1",
                "DeleteVpc vpc-1",
            ]
        );
        assert_eq!(said.len(), 10, "{said:?}");
        assert!(said.iter().all(|line| line.starts_with("removed ")), "{said:?}");
        assert_eq!(clean(&region, "r1"), Vec::<String>::new(), "nothing is left");
    }

    #[test]
    fn all_pages_are_read_and_other_runs_keep_what_they_have() {
        let mut resources: Vec<Piece> =
            ["vol-1", "vol-2", "vol-3", "vol-4", "vol-5"].map(|id| piece(Kind::Volume, id, "r1")).into();
        resources[1].run = Some("r1-2");
        resources[3].run = None;
        let region = Region::of(resources);
        assert_eq!(clean(&region, "r1"), ["removed vol-1", "removed vol-3", "removed vol-5"]);
        let left: Vec<&str> = region.state.borrow().resources.iter().map(|piece| piece.id).collect();
        assert_eq!(left, ["vol-2", "vol-4"]);
    }

    #[test]
    fn instances_are_waited_for_until_they_have_ended() {
        let region = Region::of(network("r1"));
        region.state.borrow_mut().ending = 5;
        let said = clean(&region, "r1");
        assert_eq!(said[..2], ["waiting for 1 instances to end", "removed i-1"]);
        assert_eq!(said.len(), 11, "{said:?}");
    }

    #[test]
    fn an_instance_that_does_not_end_is_reported_and_the_rest_goes_on() {
        let region = Region::of(network("r1"));
        region.state.borrow_mut().ending = u32::MAX;
        let said = clean(&region, "r1");
        assert!(said.contains(&"failed i-1: it was asked to end and has not ended after 200ms".to_owned()), "{said:?}");
        assert!(said.contains(&"removed key-1".to_owned()), "{said:?}");
        assert!(said.contains(&"failed vpc-1: DependencyViolation: vpc-1 is held by subnet-1".to_owned()), "{said:?}");
    }

    #[test]
    fn one_thing_that_may_not_be_removed_does_not_keep_the_others() {
        let mut resources = network("r1");
        let key = resources.iter_mut().find(|piece| piece.id == "key-1").unwrap();
        key.refusal = Some(("UnauthorizedOperation", "You are not authorized."));
        let said = clean(&Region::of(resources), "r1");
        let failed: Vec<&String> = said.iter().filter(|line| line.starts_with("failed")).collect();
        assert_eq!(failed, ["failed key-1: UnauthorizedOperation: You are not authorized."]);
        assert_eq!(said.len(), 10, "{said:?}");
    }

    #[test]
    fn what_somebody_else_holds_is_waited_for_and_then_reported() {
        let mut resources = network("r1");
        resources.push(Piece { run: None, ..piece(Kind::NetworkInterface, "eni-other", "r1") });
        let subnet = resources.iter_mut().find(|piece| piece.id == "subnet-1").unwrap();
        subnet.held_by = &["eni-other"];
        let region = Region::of(resources);
        let said = clean(&region, "r1");
        assert!(
            said.contains(&"waiting for what others still hold: subnet subnet-1, network vpc-1".to_owned()),
            "{said:?}"
        );
        let failed: Vec<&String> = said.iter().filter(|line| line.starts_with("failed")).collect();
        assert_eq!(
            failed,
            [
                "failed subnet-1: DependencyViolation: subnet-1 is held by eni-other",
                "failed vpc-1: DependencyViolation: vpc-1 is held by subnet-1"
            ]
        );
        let tries = region.state.borrow().calls.iter().filter(|call| *call == "DeleteSubnet subnet-1").count();
        assert!(tries > 2, "{tries}");
    }

    #[test]
    fn what_is_attached_to_somebody_elses_is_left() {
        let attached = "<attachmentSet><item><vpcId>vpc-other</vpcId></item></attachmentSet>";
        let region = Region::of(vec![Piece { more: attached, ..piece(Kind::InternetGateway, "igw-1", "r1") }]);
        let said = clean(&region, "r1");
        assert_eq!(
            said,
            ["failed igw-1: it is attached to vpc-other, which is not of this run; nothing was changed there"]
        );
        assert_eq!(region.state.borrow().calls, Vec::<String>::new());
    }

    #[test]
    fn what_went_by_itself_is_no_failure() {
        let mut resources = network("r1");
        for id in ["vol-1", "eni-1"] {
            let gone = resources.iter_mut().find(|piece| piece.id == id).unwrap();
            gone.refusal = Some(("InvalidVolume.NotFound", "no"));
        }
        let region = Region::of(resources);
        let found = list(&region).unwrap().resources;
        region.state.borrow_mut().resources.retain(|piece| !["vol-1", "eni-1"].contains(&piece.id));
        let mut gone = Vec::new();
        let mut failed = 0;
        remove(&region, found, &SOON, &mut |outcome| match outcome {
            RemovalOutcome::Gone(resource) => gone.push(resource.id.clone()),
            RemovalOutcome::Failed(..) => failed += 1,
            _ => {}
        });
        assert_eq!((gone, failed), (vec!["vol-1".to_owned(), "eni-1".to_owned()], 0));
    }

    #[test]
    fn what_the_run_makes_meanwhile_is_removed_too() {
        let region = Region::of(vec![piece(Kind::Volume, "vol-1", "r1")]);
        region.state.borrow_mut().late = vec![piece(Kind::Instance, "i-9", "r1"), piece(Kind::Instance, "i-8", "r2")];
        assert_eq!(clean(&region, "r1"), ["removed vol-1", "removed i-9"]);
        assert_eq!(region.state.borrow().resources.len(), 1);
    }

    #[test]
    fn what_ec2_says_is_understood() {
        let why = |code: &str, message: &str| RefusalKind::of(&refuse(code, message));
        assert_eq!(why("InvalidInstanceID.NotFound", ""), RefusalKind::Gone);
        assert_eq!(why("InvalidPlacementGroup.InUse", ""), RefusalKind::Held);
        assert_eq!(why("VolumeInUse", ""), RefusalKind::Held);
        let interface = "Network interface 'eni-1' is currently in use.";
        assert_eq!(why("InvalidParameterValue", interface), RefusalKind::Held);
        assert_eq!(why("InvalidParameterValue", "no such thing"), RefusalKind::Other);
        assert_eq!(why("OperationNotPermitted", ""), RefusalKind::Other);
    }
}
