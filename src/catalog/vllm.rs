//! What each version of vLLM reads on its command line. Must never guess for a version nobody read.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Vllm {
    #[serde(rename = "source")]
    _source: String,
    /// By minor version, `0.29`.
    versions: BTreeMap<String, BTreeSet<String>>,
}

impl Vllm {
    pub fn flags(&self, minor: &str) -> Option<&BTreeSet<String>> {
        self.versions.get(minor)
    }
}

/// `0.29` of `registry/vllm:v0.29.0`, with or without a digest behind it; `None` for a tag that is no version.
pub(super) fn minor_of(image: &str) -> Option<&str> {
    let named = image.split('@').next()?;
    // A colon before the last slash is a registry's port.
    let (_, tag) = named.rsplit('/').next()?.split_once(':')?;
    let version = tag.strip_prefix('v').unwrap_or(tag);
    let (major, rest) = version.split_once('.')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let sound = digits > 0 && !major.is_empty() && major.bytes().all(|b| b.is_ascii_digit());
    sound.then(|| &version[..major.len() + 1 + digits])
}
