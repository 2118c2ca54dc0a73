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

const SOON: Patience =
    Patience { look: Duration::from_millis(1), instances: Duration::from_millis(200), held: Duration::from_millis(20) };

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
