//! POMs of a Maven repository: an artifact's own, with what it inherits, imports and has managed, as far as the jars
//! that a program needs follow from it (<https://maven.apache.org/pom.html>).
//!
//! Profiles are passed over: none that is active by itself adds a jar to Cassandra's.

use std::collections::BTreeMap;

use roxmltree::{Document, Node};

/// An artifact of a repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Coordinates {
    pub group: String,
    pub artifact: String,
    pub version: String,
}

impl Coordinates {
    /// Where its directory is in the repository; the error is why it can have none.
    fn directory(&self) -> Result<String, String> {
        for part in [&self.group, &self.artifact, &self.version] {
            // A name becomes a path: nothing of it may lead elsewhere. A range of versions has brackets.
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
            if part.is_empty() || part.starts_with('.') || part.contains("..") || !part.chars().all(is_plain) {
                return Err(format!("`{part}` is no plain name or version (of {self})"));
            }
        }
        Ok(format!("{}/{}/{}", self.group.replace('.', "/"), self.artifact, self.version))
    }

    /// Where its POM is.
    fn pom_path(&self) -> Result<String, String> {
        Ok(format!("{}/{}-{}.pom", self.directory()?, self.artifact, self.version))
    }

    /// Where its jar is, or that of a classifier.
    pub fn jar_path(&self, classifier: Option<&str>) -> Result<String, String> {
        let more = match classifier {
            Some(word) if !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)) => {
                format!("-{word}")
            }
            Some(word) => return Err(format!("`{word}` is no plain classifier (of {self})")),
            None => String::new(),
        };
        Ok(format!("{}/{}-{}{more}.jar", self.directory()?, self.artifact, self.version))
    }
}

impl std::fmt::Display for Coordinates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.group, self.artifact, self.version)
    }
}

/// What an artifact asks for.
#[derive(Debug, Clone, Default)]
pub(super) struct Dependency {
    pub group: String,
    pub artifact: String,
    /// `None`: it is managed, or nobody says.
    pub version: Option<String>,
    pub scope: Option<String>,
    /// `jar` where nothing is said.
    pub kind: String,
    pub classifier: Option<String>,
    pub is_optional: Option<bool>,
    /// Group and artifact of what is not wanted of it; `*` is all.
    pub exclusions: Vec<(String, String)>,
}

impl Dependency {
    /// What it is, whatever its version.
    pub fn key(&self) -> Key {
        Key {
            group: self.group.clone(),
            artifact: self.artifact.clone(),
            kind: self.kind.clone(),
            classifier: self.classifier.clone(),
        }
    }
}

/// What an artifact is, whatever its version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    group: String,
    artifact: String,
    kind: String,
    classifier: Option<String>,
}

/// A POM as it is written.
#[derive(Debug, Default)]
struct Pom {
    parent: Option<Coordinates>,
    group: Option<String>,
    version: Option<String>,
    properties: BTreeMap<String, String>,
    managed: Vec<Dependency>,
    dependencies: Vec<Dependency>,
    /// Where it has moved: what is not said stays.
    relocation: Option<[Option<String>; 3]>,
}

/// A POM with all that belongs to it.
#[derive(Debug, Clone, Default)]
pub(super) struct Effective {
    /// Where the artifact is to be had instead.
    pub moved_to: Option<Coordinates>,
    /// What it asks for, with versions as far as they are known.
    pub dependencies: Vec<Dependency>,
    /// Versions, scopes and exclusions for whoever imports it.
    managed: Vec<Dependency>,
}

/// Generations of parents, and of imports, that are followed.
const MOST_GENERATIONS: usize = 20;

/// The POM of an artifact. `read` gives the text of a POM by its path. Errors: what `read` refuses, and what cannot be
/// understood, with the artifact.
pub(super) fn effective<E>(
    of: &Coordinates,
    read: &mut dyn FnMut(&str) -> Result<String, E>,
    unclear: &dyn Fn(String) -> E,
) -> Result<Effective, E> {
    imported(of, read, unclear, 0)
}

fn imported<E>(
    of: &Coordinates,
    read: &mut dyn FnMut(&str) -> Result<String, E>,
    unclear: &dyn Fn(String) -> E,
    generation: usize,
) -> Result<Effective, E> {
    let too_deep = || unclear(format!("{of}: more than {MOST_GENERATIONS} POMs above each other"));
    if generation > MOST_GENERATIONS {
        return Err(too_deep());
    }
    let mut lineage: Vec<Pom> = Vec::new();
    let mut next = Some(of.clone());
    while let Some(coordinates) = next {
        if lineage.len() > MOST_GENERATIONS {
            return Err(too_deep());
        }
        let text = read(&coordinates.pom_path().map_err(unclear)?)?;
        let pom = parse(&text).map_err(|why| unclear(format!("the POM of {coordinates}: {why}")))?;
        next = pom.parent.clone();
        lineage.push(pom);
    }
    let words = words(of, &lineage);
    let plain = |dependency: &Dependency| interpolated(dependency, &words);
    let mut managed: Vec<Dependency> = Vec::new();
    let mut imports = Vec::new();
    for dependency in lineage.iter().flat_map(|pom| &pom.managed).map(plain) {
        match dependency.scope.as_deref() {
            Some("import") => imports.push(dependency),
            _ => manage(&mut managed, dependency),
        }
    }
    for Dependency { group, artifact, version, .. } in imports {
        let version = version.ok_or_else(|| unclear(format!("{of} imports {group}:{artifact} without a version")))?;
        let from = imported(&Coordinates { group, artifact, version }, read, unclear, generation + 1)?;
        from.managed.into_iter().for_each(|dependency| manage(&mut managed, dependency));
    }
    let mut dependencies: Vec<Dependency> = Vec::new();
    for dependency in lineage.iter().flat_map(|pom| &pom.dependencies).map(plain) {
        // A child's comes before its parent's.
        if !dependencies.iter().any(|known| known.key() == dependency.key()) {
            dependencies.push(with_managed(dependency, &managed));
        }
    }
    let moved_to = lineage[0].relocation.as_ref().map(|[group, artifact, version]| Coordinates {
        group: group.as_ref().unwrap_or(&of.group).clone(),
        artifact: artifact.as_ref().unwrap_or(&of.artifact).clone(),
        version: version.as_ref().unwrap_or(&of.version).clone(),
    });
    Ok(Effective { moved_to, dependencies, managed })
}

/// The first that says something of an artifact wins.
fn manage(managed: &mut Vec<Dependency>, dependency: Dependency) {
    if !managed.iter().any(|known| known.key() == dependency.key()) {
        managed.push(dependency);
    }
}

/// A dependency with what is managed of it, where it does not say so itself.
fn with_managed(dependency: Dependency, managed: &[Dependency]) -> Dependency {
    let Some(of) = managed.iter().find(|known| known.key() == dependency.key()) else { return dependency };
    Dependency {
        version: dependency.version.or_else(|| of.version.clone()),
        scope: dependency.scope.or_else(|| of.scope.clone()),
        is_optional: dependency.is_optional.or(of.is_optional),
        exclusions: if dependency.exclusions.is_empty() { of.exclusions.clone() } else { dependency.exclusions },
        ..dependency
    }
}

/// What `${...}` stands for in a POM with these ancestors, the child first.
fn words(of: &Coordinates, lineage: &[Pom]) -> BTreeMap<String, String> {
    let mut words = BTreeMap::new();
    for pom in lineage.iter().rev() {
        words.extend(pom.properties.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
    let group = lineage.iter().find_map(|pom| pom.group.as_ref()).unwrap_or(&of.group);
    let version = lineage.iter().find_map(|pom| pom.version.as_ref()).unwrap_or(&of.version);
    for before in ["project.", "pom.", ""] {
        for (name, value) in [("groupId", group), ("artifactId", &of.artifact), ("version", version)] {
            words.insert(format!("{before}{name}"), value.clone());
        }
    }
    if let Some(parent) = lineage.first().and_then(|pom| pom.parent.as_ref()) {
        for before in ["project.parent.", "parent."] {
            words.insert(format!("{before}groupId"), parent.group.clone());
            words.insert(format!("{before}version"), parent.version.clone());
        }
    }
    words
}

fn interpolated(dependency: &Dependency, words: &BTreeMap<String, String>) -> Dependency {
    let plain = |text: &String| interpolate(text, words);
    Dependency {
        group: plain(&dependency.group),
        artifact: plain(&dependency.artifact),
        version: dependency.version.as_ref().map(plain),
        scope: dependency.scope.as_ref().map(plain),
        kind: plain(&dependency.kind),
        classifier: dependency.classifier.as_ref().map(plain),
        is_optional: dependency.is_optional,
        exclusions: dependency.exclusions.iter().map(|(group, artifact)| (plain(group), plain(artifact))).collect(),
    }
}

/// A text with what `${...}` stands for. What nobody knows stays: it is refused if a path is made of it.
fn interpolate(text: &str, words: &BTreeMap<String, String>) -> String {
    let mut text = text.to_owned();
    // A value may have others in it; one that has itself ends here.
    for _ in 0..MOST_GENERATIONS {
        let known = text.match_indices("${").find_map(|(begin, _)| {
            let end = begin + text[begin..].find('}')?;
            Some((begin..=end, words.get(&text[begin + 2..end])?))
        });
        let Some((place, value)) = known else { break };
        text = format!("{}{value}{}", &text[..*place.start()], &text[place.end() + 1..]);
    }
    text
}

fn parse(text: &str) -> Result<Pom, String> {
    let document = Document::parse(text).map_err(|error| error.to_string())?;
    let project = document.root_element();
    let dependencies = |of: Option<Node<'_, '_>>| -> Result<Vec<Dependency>, String> {
        let list = of.and_then(|node| child(node, "dependencies"));
        list.map_or_else(Vec::new, |list| children(list, "dependency")).into_iter().map(dependency).collect()
    };
    let parent = child(project, "parent").map(|parent| {
        let part = |name| value(parent, name).ok_or_else(|| format!("its parent has no {name}"));
        Ok::<_, String>(Coordinates {
            group: part("groupId")?,
            artifact: part("artifactId")?,
            version: part("version")?,
        })
    });
    let properties = child(project, "properties").map_or_else(BTreeMap::new, |list| {
        let elements = list.children().filter(Node::is_element);
        elements.map(|node| (node.tag_name().name().to_owned(), text_of(node))).collect()
    });
    let moved = child(project, "distributionManagement").and_then(|node| child(node, "relocation"));
    Ok(Pom {
        parent: parent.transpose()?,
        group: value(project, "groupId"),
        version: value(project, "version"),
        properties,
        managed: dependencies(child(project, "dependencyManagement"))?,
        dependencies: dependencies(Some(project))?,
        relocation: moved.map(|moved| ["groupId", "artifactId", "version"].map(|name| value(moved, name))),
    })
}

fn dependency(node: Node<'_, '_>) -> Result<Dependency, String> {
    let needed = |node, name: &str| value(node, name).ok_or_else(|| format!("a dependency has no {name}"));
    let exclusions = child(node, "exclusions").map_or_else(Vec::new, |list| children(list, "exclusion"));
    let pair = |node| Ok::<_, String>((needed(node, "groupId")?, needed(node, "artifactId")?));
    let (kind, classifier) = match value(node, "type").as_deref() {
        Some("test-jar") => ("jar".to_owned(), Some("tests".to_owned())),
        // How it was packed; it is a jar to whoever needs it.
        None | Some("bundle" | "maven-plugin" | "ejb") => ("jar".to_owned(), None),
        Some(other) => (other.to_owned(), None),
    };
    Ok(Dependency {
        group: needed(node, "groupId")?,
        artifact: needed(node, "artifactId")?,
        version: value(node, "version"),
        scope: value(node, "scope"),
        kind,
        classifier: value(node, "classifier").or(classifier),
        is_optional: value(node, "optional").map(|word| word == "true"),
        exclusions: exclusions.into_iter().map(pair).collect::<Result<_, String>>()?,
    })
}

fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|child| child.is_element() && child.tag_name().name() == name)
}

fn children<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Vec<Node<'a, 'i>> {
    node.children().filter(|child| child.is_element() && child.tag_name().name() == name).collect()
}

/// What stands in a child; `None`: nothing.
fn value(node: Node<'_, '_>, name: &str) -> Option<String> {
    Some(text_of(child(node, name)?)).filter(|text| !text.is_empty())
}

fn text_of(node: Node<'_, '_>) -> String {
    node.text().unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_may_have_others_in_it_and_what_nobody_knows_stays() {
        let words = [("a", "1${b}"), ("b", "2"), ("c", "${c}")];
        let words = words.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        assert_eq!(interpolate("x${a}y${unknown}${b}", &words), "x12y${unknown}2");
        assert_eq!(interpolate("${c}", &words), "${c}");
        assert_eq!(interpolate("${", &words), "${");
    }

    #[test]
    fn a_name_that_would_lead_elsewhere_and_a_range_of_versions_have_no_path() {
        let of = |group: &str, version: &str| Coordinates {
            group: group.to_owned(),
            artifact: "a".to_owned(),
            version: version.to_owned(),
        };
        assert_eq!(
            of("org.example", "1").jar_path(Some("linux-x86_64")).unwrap(),
            "org/example/a/1/a-1-linux-x86_64.jar"
        );
        for (group, version) in
            [("../etc", "1"), ("g", "[1,2)"), ("g", "${v}"), ("g", "1/../2"), ("", "1"), ("g", "..")]
        {
            of(group, version).pom_path().unwrap_err();
        }
        of("g", "1").jar_path(Some("../x")).unwrap_err();
    }
}
