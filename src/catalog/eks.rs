//! What EKS offers and refuses. Must never choose a version.

use crate::{catalog::AmiOs, cloud::ClusterVersion};
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

/// True for a release as managed node groups name it: `1.35.2-20261120` (Kubernetes version with patch, date) of
/// AL2023, `1.50.0-0a1b2c3d` (its own version, commit) of Bottlerocket.
pub fn is_ami_release(text: &str, os: AmiOs) -> bool {
    let Some((version, build)) = text.split_once('-') else { return false };
    let parts: Vec<_> = version.split('.').collect();
    parts.len() == 3
        && parts.into_iter().all(|part| number(part).is_some())
        && build.len() == 8
        && match os {
            AmiOs::Al2023 => number(build).is_some(),
            AmiOs::Bottlerocket => build.bytes().all(|b| b.is_ascii_hexdigit()),
        }
}

/// True for an AL2023 release (`1.35.2-20261120`) of a cluster's version (`1.35`). Bottlerocket's do not say.
pub fn is_release_of(release: &str, cluster_version: &str) -> bool {
    let rest = release.strip_prefix(cluster_version);
    is_ami_release(release, AmiOs::Al2023) && rest.is_some_and(|rest| rest.starts_with('.'))
}

fn number(digits: &str) -> Option<u32> {
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}
