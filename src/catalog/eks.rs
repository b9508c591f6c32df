//! What EKS offers and refuses. Must never choose a version.

use crate::cloud::ClusterVersion;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Eks {
    #[serde(rename = "source")]
    _source: String,
    pub versions: Vec<VersionRow>,
    pub newest_for_charts: NewestForCharts,
    pub refused_control_plane_zones: Vec<String>,
    pub addons: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct VersionRow {
    version: String,
    end_of_standard_support: Option<String>,
}

impl VersionRow {
    pub fn read(&self) -> ClusterVersion {
        ClusterVersion { version: self.version.clone(), end_of_standard_support: self.end_of_standard_support.clone() }
    }
}

/// The newest Kubernetes version that every pinned chart admits.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewestForCharts {
    pub version: String,
    /// Version of the chart that sets the bound.
    pub karpenter: String,
    pub why: String,
}

/// `(major, minor)` of `1.35`; `None` for anything else.
pub fn version(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.')?;
    Some((number(major)?, number(minor)?))
}

/// True for the release of an EKS AMI, `1.35.2-20261120`: Kubernetes version with patch, a dash, a date.
pub fn is_ami_release(text: &str) -> bool {
    let Some((kubernetes, date)) = text.split_once('-') else { return false };
    let parts: Vec<_> = kubernetes.split('.').collect();
    let [major, minor, patch] = parts[..] else { return false };
    [major, minor, patch].into_iter().all(|part| number(part).is_some()) && date.len() == 8 && number(date).is_some()
}

/// True for a release (`1.35.2-20261120`) of a cluster's version (`1.35`).
pub fn is_release_of(release: &str, cluster_version: &str) -> bool {
    is_ami_release(release) && release.strip_prefix(cluster_version).is_some_and(|rest| rest.starts_with('.'))
}

fn number(digits: &str) -> Option<u32> {
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}
