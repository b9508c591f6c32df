//! What a whole stack must obey before any cloud is asked, one message a rule. Must never judge what was refused already.

mod classes;
mod cluster;
mod fit;
mod network;
mod serving;
mod tags;
mod types;
mod weights;

use super::Spec;
use super::check::{Checked, readable};
use super::diagnostic::{Diagnostic, Diagnostics, Place};
use super::parse::Parsed;
use super::value::{Broken, Fields, Places};
use crate::catalog::Catalog;

struct Judge<'a> {
    spec: &'a Spec,
    /// As the file has them, for what a spec can't say.
    fields: &'a Fields,
    places: &'a Places,
    broken: &'a Broken,
    catalog: &'a Catalog,
    found: &'a mut Diagnostics,
}

pub(super) fn judge(spec: &Spec, checked: &Checked, catalog: &Catalog, found: &mut Diagnostics) {
    if checked.broken.0.contains("") {
        return;
    }
    let Checked { root, places, broken } = checked;
    let mut judge = Judge { spec, fields: root, places, broken, catalog, found };
    judge.tags();
    judge.network();
    judge.cluster();
    judge.placement_groups();
    judge.node_classes();
    judge.weights();
    judge.serving();
}

/// Documents of one file that are the same stack.
pub(super) fn twice(parsed: &[Parsed], found: &mut Diagnostics) {
    for (index, second) in parsed.iter().enumerate() {
        let same = |first: &&Parsed| (&first.spec.name, &first.spec.region) == (&second.spec.name, &second.spec.region);
        let Some(first) = parsed[..index].iter().find(same).filter(|first| !first.spec.name.is_empty()) else {
            continue;
        };
        let message = format!("two stacks `{}` in {}", second.spec.name, second.spec.region);
        let label = "account, region and name are a stack's identity: name this one differently";
        let diagnostic = Diagnostic::error("stack-twice", second.places.of("/name"), message, label);
        found.push(diagnostic.related(first.places.of("/name"), "the first is here"));
    }
}

impl Judge<'_> {
    /// True when none of the paths was refused.
    fn sound(&self, paths: &[&str]) -> bool {
        !paths.iter().any(|path| self.broken.touches(path))
    }

    fn at(&self, path: &str) -> Place {
        self.places.of(path)
    }

    fn error(&mut self, rule: &'static str, path: &str, message: impl Into<String>, label: impl Into<String>) {
        self.found.push(Diagnostic::error(rule, self.at(path), message, label));
    }

    fn warn(&mut self, rule: &'static str, path: &str, message: impl Into<String>, label: impl Into<String>) {
        self.found.push(Diagnostic::warning(rule, self.at(path), message, label));
    }

    /// The same name twice in a list of the file.
    fn unique<'n>(&mut self, rule: &'static str, what: &str, names: impl Iterator<Item = (String, &'n str)>) {
        let mut seen: Vec<(String, &str)> = Vec::new();
        for (path, name) in names.filter(|(_, name)| !name.is_empty()) {
            match seen.iter().find(|(_, other)| *other == name) {
                Some((first, _)) => {
                    let diagnostic = Diagnostic::error(
                        rule,
                        self.at(&path),
                        format!("{what} `{name}` is there twice"),
                        format!("leave one out, or change one (`{}`)", readable(&path)),
                    );
                    let first = self.at(first);
                    self.found.push(diagnostic.related(first, "first here"));
                }
                None => seen.push((path, name)),
            }
        }
    }
}

/// `3 nodes`, `1 node`.
fn count(n: impl Into<u64>, word: &str) -> String {
    let n = n.into();
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}
