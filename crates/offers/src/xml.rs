//! Reading EC2's XML: every list is a sequence of `<item>`s.

use std::str::FromStr;

use roxmltree::Node;

pub(super) fn child<'a, 'd>(node: Node<'a, 'd>, name: &str) -> Option<Node<'a, 'd>> {
    // Not `has_tag_name(name)`, which takes a name without a namespace only: the answer is in EC2's.
    node.children().find(|child| child.tag_name().name() == name)
}

pub(super) fn text<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    child(node, name)?.text().map(str::trim)
}

pub(super) fn value<T: FromStr>(node: Node<'_, '_>, name: &str) -> Option<T> {
    text(node, name)?.parse().ok()
}

/// The `<item>`s of a list.
pub(super) fn items<'a, 'd: 'a>(node: Node<'a, 'd>, list: &str) -> impl Iterator<Item = Node<'a, 'd>> {
    child(node, list).into_iter().flat_map(|list| list.children().filter(|item| item.tag_name().name() == "item"))
}

/// What asks for the next page; `None` at the end.
pub(super) fn next_token(root: Node<'_, '_>) -> Option<String> {
    text(root, "nextToken").filter(|token| !token.is_empty()).map(str::to_owned)
}
