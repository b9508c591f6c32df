//! What one check says of one subject, in the shape that `plan` and `preflight` print. Must never say `pass` of what was
//! not looked at.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Check {
    /// The file's `account`.
    Account,
    /// vCPU quotas and quotas of countable things.
    Quota,
    /// Are the types offered in the zones chosen?
    Offering,
    /// Reservations, capacity blocks, and what is left to luck.
    Capacity,
    Efa,
    /// Placement groups.
    Placement,
    /// Zones of the control plane.
    Zones,
    /// Addresses left in the subnets.
    Addresses,
    Names,
    Budget,
    Expiry,
    Bucket,
    /// Does whoever runs this reach the cluster?
    Access,
    /// End of the Kubernetes version's support.
    Support,
}

impl Check {
    /// As it stands in reports: `quota`.
    pub fn name(self) -> &'static str {
        match self {
            Check::Account => "account",
            Check::Quota => "quota",
            Check::Offering => "offering",
            Check::Capacity => "capacity",
            Check::Efa => "efa",
            Check::Placement => "placement",
            Check::Zones => "zones",
            Check::Addresses => "addresses",
            Check::Names => "names",
            Check::Budget => "budget",
            Check::Expiry => "expiry",
            Check::Bucket => "bucket",
            Check::Access => "access",
            Check::Support => "support",
        }
    }
}

/// Worse is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    Pass,
    Warn,
    /// Could not look: never a pass.
    Unknown,
    Block,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Finding {
    pub check: Check,
    /// A quota code, an instance type, an address, a name of the file.
    pub subject: String,
    pub verdict: Verdict,
    pub need: Option<f64>,
    pub limit: Option<f64>,
    pub used: Option<f64>,
    /// One sentence or two, the cause first.
    pub message: String,
    /// What to do: a command, or what to write into the file.
    pub remedy: Option<String>,
}

impl Finding {
    fn new(verdict: Verdict, check: Check, subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            check,
            subject: subject.into(),
            verdict,
            need: None,
            limit: None,
            used: None,
            message: message.into(),
            remedy: None,
        }
    }
    pub fn pass(check: Check, subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Verdict::Pass, check, subject, message)
    }
    pub fn warn(check: Check, subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Verdict::Warn, check, subject, message)
    }
    pub fn unknown(check: Check, subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Verdict::Unknown, check, subject, message)
    }
    pub fn block(check: Check, subject: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Verdict::Block, check, subject, message)
    }
    pub fn numbers(mut self, need: f64, limit: Option<f64>, used: Option<f64>) -> Self {
        (self.need, self.limit, self.used) = (Some(need), limit, used);
        self
    }
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

/// The worst verdict of all findings; `Pass` of none.
pub fn worst(findings: &[Finding]) -> Verdict {
    findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Pass)
}
