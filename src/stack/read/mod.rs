//! From checked fields to a [`Spec`], every default filled in. Must never refuse what is only unwise: rules judge the whole.

mod nodes;
mod serving;
mod top;

pub(super) use nodes::{SYSTEM, accelerated};

use super::Spec;
use super::check::{Checked, readable};
use super::diagnostic::{Diagnostic, Diagnostics};
use super::scalar;
use super::value::{Broken, Fields, Places};
use crate::catalog::Catalog;
use std::io;

pub(super) struct Reader<'a> {
    pub catalog: &'a Catalog,
    pub read_config: &'a dyn Fn(&str) -> io::Result<String>,
    pub places: &'a Places,
    pub broken: &'a mut Broken,
    pub found: &'a mut Diagnostics,
}

pub(super) fn spec(
    checked: &mut Checked,
    catalog: &Catalog,
    read_config: &dyn Fn(&str) -> io::Result<String>,
    found: &mut Diagnostics,
) -> Spec {
    let Checked { root, places, broken } = checked;
    Reader { catalog, read_config, places, broken, found }.spec(root)
}

impl Reader<'_> {
    /// A value that has the right syntax and still can't be.
    fn refuse(&mut self, path: &str, rule: &'static str, message: String, label: String) {
        self.broken.0.insert(path.to_owned());
        let message = format!("`{}`: {message}", readable(path).rsplit('.').next().unwrap_or_default());
        self.found.push(Diagnostic::error(rule, self.places.of(path), message, label));
    }

    fn seconds(&mut self, fields: &Fields, path: &str, key: &str) -> Option<u64> {
        let text = fields.text(key)?;
        match scalar::seconds(text) {
            Some(0) | None => {
                let label = "expected more than nothing, and less than centuries".to_owned();
                self.refuse(&format!("{path}/{key}"), "out-of-range", format!("`{text}` can't be"), label);
                None
            }
            some => some,
        }
    }

    fn gib(&mut self, fields: &Fields, path: &str, key: &str) -> Option<u32> {
        let text = fields.text(key)?;
        match scalar::gib(text) {
            Some(0) | None => {
                let label = "expected at least 1Gi, and less than 4,194,304Ti".to_owned();
                self.refuse(&format!("{path}/{key}"), "out-of-range", format!("`{text}` can't be"), label);
                None
            }
            some => some,
        }
    }
}
