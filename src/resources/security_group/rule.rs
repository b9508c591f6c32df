//! One rule of a security group: which traffic, and with whom. Must never hold one address twice in two spellings.

use crate::model::Link;
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rule {
    pub traffic: Traffic,
    pub peer: Peer,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Traffic {
    /// Every protocol, EFA's included (`IpProtocol: -1`).
    All,
    Tcp(Ports),
    /// What no wish has, as EC2 says it.
    Other {
        protocol: String,
        from: Option<i32>,
        to: Option<i32>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Ports {
    pub from: u16,
    pub to: u16,
}

/// Who may speak, or be spoken to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Peer {
    /// Interfaces that carry this group.
    Itself,
    Group(Link),
    Cidr(IpNet),
    /// `pl-…`
    PrefixList(String),
}

impl Rule {
    pub fn all(peer: Peer) -> Self {
        Self { traffic: Traffic::All, peer }
    }

    /// TCP ports, both ends included.
    pub fn tcp(from: u16, to: u16, peer: Peer) -> Self {
        Self { traffic: Traffic::Tcp(Ports { from, to }), peer }
    }

    /// The one that EC2 gives every new group, once for each address family of its VPC.
    pub(super) fn is_default_egress(&self) -> bool {
        self.traffic == Traffic::All && matches!(&self.peer, Peer::Cidr(cidr) if cidr.prefix_len() == 0)
    }

    pub(super) fn check(&self) -> Option<String> {
        match &self.traffic {
            Traffic::Tcp(Ports { from, to }) if from > to => {
                Some(format!("ports {from}–{to}: the first is the smaller"))
            }
            _ => match &self.peer {
                Peer::Cidr(cidr) if *cidr != cidr.trunc() => {
                    Some(format!("{cidr}: the block starts at {}", cidr.network()))
                }
                _ => None,
            },
        }
    }
}

impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Tcp(Ports { from, to }) if from == to => write!(f, "tcp {from}"),
            Self::Tcp(Ports { from, to }) => write!(f, "tcp {from}–{to}"),
            Self::Other { protocol, .. } => f.write_str(protocol),
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Itself => f.write_str("itself"),
            Self::Group(link) => f.write_str(link.target()),
            Self::Cidr(cidr) => write!(f, "{cidr}"),
            Self::PrefixList(id) => f.write_str(id),
        }
    }
}
