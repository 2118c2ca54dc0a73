//! One thing of an account with its tags, out of EC2's answer.

use roxmltree::Node;

use super::kind::Kind;
use crate::xml::{child, items, next_token, text};

/// The tag that all things of a run carry; its value is the run's name.
pub(super) const RUN: &str = "iopslab:run";
/// The tag that says until when (RFC 3339).
const EXPIRES: &str = "iopslab:expires";
/// States of what is gone, or goes by itself.
const GONE: [&str; 3] = ["terminated", "deleting", "deleted"];

/// One thing that a run has made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// What it is.
    pub kind: Kind,
    /// EC2's id.
    pub id: String,
    /// Name by which EC2 removes it, where that is not the id.
    pub name: Option<String>,
    /// Name of its run: the tag `iopslab:run`.
    pub run: String,
    /// The tag `iopslab:expires` as it stands there.
    pub expires: Option<String>,
    /// Networks that an internet gateway is attached to; of a route table, `(association, subnet)`.
    pub(super) holds: Vec<(String, String)>,
}

impl Resource {
    /// `instance i-0123`; with its name where EC2 knows it by that.
    pub fn reported(&self) -> String {
        let name = self.name.as_deref().unwrap_or(&self.id);
        format!("{} {name}", self.kind.name())
    }
}

/// One page of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Page {
    /// Only things that carry the tag and are there.
    pub resources: Vec<Resource>,
    pub next_token: Option<String>,
}

/// Reads a page. What does not carry the tag is left out, whatever was asked for.
pub(super) fn page(kind: Kind, xml: &str) -> Result<Page, String> {
    let document = roxmltree::Document::parse(xml).map_err(|error| format!("no XML: {error}"))?;
    let root = document.root_element();
    let words = kind.words();
    if root.tag_name().name() != format!("{}Response", words.describe) {
        return Err(format!("<{}> does not answer {}", root.tag_name().name(), words.describe));
    }
    let resources = match kind {
        Kind::Instance => items(root, "reservationSet")
            .flat_map(|reservation| items(reservation, words.list).filter_map(|reported| resource(kind, reported)))
            .collect(),
        _ => items(root, words.list).filter_map(|reported| resource(kind, reported)).collect(),
    };
    Ok(Page { resources, next_token: next_token(root) })
}

/// `None`: not ours, or gone.
fn resource(kind: Kind, reported: Node<'_, '_>) -> Option<Resource> {
    let words = kind.words();
    let state = words.state.and_then(|element| {
        // That of an instance is a code and a name.
        let state = child(reported, element)?;
        text(state, "name").or_else(|| state.text().map(str::trim))
    });
    if state.is_some_and(|state| GONE.contains(&state)) {
        return None;
    }
    let name = match words.name {
        // Without it nothing of the kind can be removed.
        Some(element) => Some(text(reported, element)?.to_owned()),
        None => None,
    };
    Some(Resource {
        kind,
        id: text(reported, words.id)?.to_owned(),
        name,
        run: tag(reported, RUN).filter(|run| !run.is_empty())?,
        expires: tag(reported, EXPIRES),
        holds: holds(kind, reported),
    })
}

fn tag(reported: Node<'_, '_>, key: &str) -> Option<String> {
    // Network interfaces have a `tagSet` too, whatever the reference's `TagSet`.
    let tag = items(reported, "tagSet").find(|tag| text(*tag, "key") == Some(key))?;
    Some(text(tag, "value").unwrap_or_default().to_owned())
}

fn holds(kind: Kind, reported: Node<'_, '_>) -> Vec<(String, String)> {
    let (list, own, other) = match kind {
        Kind::InternetGateway => ("attachmentSet", "vpcId", "vpcId"),
        Kind::RouteTable => ("associationSet", "routeTableAssociationId", "subnetId"),
        _ => return Vec::new(),
    };
    items(reported, list)
        .filter_map(|item| Some((text(item, own)?.to_owned(), text(item, other)?.to_owned())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAGS: &str = "<tagSet><item><key>Name</key><value>x</value></item>\
                        <item><key>iopslab:run</key><value>r1</value></item>\
                        <item><key>iopslab:expires</key><value>2026-11-23T18:00:00Z</value></item></tagSet>";

    fn read(kind: Kind, list: &str) -> Page {
        let describe = kind.words().describe;
        let xml = format!(
            "<?xml version=\"1.0\"?><{describe}Response xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\">\
             <requestId>x</requestId>{list}</{describe}Response>"
        );
        page(kind, &xml).unwrap()
    }

    /// The shape is that of the EC2 API reference's example of DescribeInstances.
    #[test]
    fn instances_lie_in_reservations_and_those_that_ended_do_not_count() {
        let instance = |id: &str, state: &str| {
            format!(
                "<item><instanceId>{id}</instanceId><instanceState><code>16</code><name>{state}</name></instanceState>\
                 {TAGS}</item>"
            )
        };
        let page = read(
            Kind::Instance,
            &format!(
                "<reservationSet><item><instancesSet>{}{}</instancesSet></item><item><instancesSet>{}</instancesSet>\
                 </item></reservationSet><nextToken>more</nextToken>",
                instance("i-1", "running"),
                instance("i-2", "terminated"),
                instance("i-3", "shutting-down"),
            ),
        );
        let ids: Vec<&str> = page.resources.iter().map(|resource| resource.id.as_str()).collect();
        assert_eq!(ids, ["i-1", "i-3"]);
        assert_eq!(page.resources[0].run, "r1");
        assert_eq!(page.resources[0].expires.as_deref(), Some("2026-11-23T18:00:00Z"));
        assert_eq!(page.resources[0].reported(), "instance i-1");
        assert_eq!(page.next_token.as_deref(), Some("more"));
    }

    #[test]
    fn what_does_not_carry_the_tag_is_not_ours_whatever_was_asked_for() {
        let page = read(
            Kind::Volume,
            &format!(
                "<volumeSet><item><volumeId>vol-1</volumeId><status>available</status></item>\
                 <item><volumeId>vol-2</volumeId><status>available</status><tagSet><item><key>iopslab:expires</key>\
                 <value>2020-01-01T00:00:00Z</value></item></tagSet></item>\
                 <item><volumeId>vol-3</volumeId><status>available</status><tagSet><item><key>iopslab:run</key><value/>\
                 </item></tagSet></item>\
                 <item><volumeId>vol-4</volumeId><status>deleting</status>{TAGS}</item>\
                 <item><volumeId>vol-5</volumeId><status>in-use</status>{TAGS}</item></volumeSet><nextToken/>"
            ),
        );
        let ids: Vec<&str> = page.resources.iter().map(|resource| resource.id.as_str()).collect();
        assert_eq!((ids, page.next_token), (vec!["vol-5"], None));
    }

    #[test]
    fn what_is_removed_by_name_has_one() {
        let page = read(
            Kind::KeyPair,
            &format!(
                "<keySet><item><keyPairId>key-1</keyPairId><keyName>iopslab-r1-2</keyName>{TAGS}</item>\
                 <item><keyPairId>key-2</keyPairId>{TAGS}</item></keySet>"
            ),
        );
        let reported: Vec<String> = page.resources.iter().map(Resource::reported).collect();
        assert_eq!(reported, ["key pair iopslab-r1-2"]);
    }

    #[test]
    fn gateways_and_route_tables_tell_what_they_hold_on_to() {
        let page = read(
            Kind::InternetGateway,
            &format!(
                "<internetGatewaySet><item><internetGatewayId>igw-1</internetGatewayId><attachmentSet><item>\
                 <vpcId>vpc-1</vpcId><state>available</state></item></attachmentSet>{TAGS}</item></internetGatewaySet>"
            ),
        );
        assert_eq!(page.resources[0].holds, [("vpc-1".to_owned(), "vpc-1".to_owned())]);
        let page = read(
            Kind::RouteTable,
            &format!(
                "<routeTableSet><item><routeTableId>rtb-1</routeTableId><associationSet><item>\
                 <routeTableAssociationId>rtbassoc-1</routeTableAssociationId><subnetId>subnet-1</subnetId></item>\
                 <item><routeTableAssociationId>rtbassoc-2</routeTableAssociationId><main>true</main></item>\
                 </associationSet>{TAGS}</item></routeTableSet>"
            ),
        );
        assert_eq!(
            page.resources[0].holds,
            [("rtbassoc-1".to_owned(), "subnet-1".to_owned())],
            "the main table of a network has no subnet to let go"
        );
    }

    #[test]
    fn something_else_is_no_page() {
        assert!(page(Kind::Vpc, "<html></html>").unwrap_err().contains("html"));
        assert!(page(Kind::Vpc, "{}").is_err());
    }
}
