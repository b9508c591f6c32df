//! A security group with its rules. Must never hold a rule that EC2 adds by itself, and never carry the tag
//! `kubernetes.io/cluster/…`: on a node only EKS's own group may.

use crate::{
    contract::{Demand, Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Link, Outputs, PhysicalId, Stamp, Tags},
};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, fmt};

/// Rules in each direction (VPC quota L-0EA8095F's default).
const MOST_RULES: usize = 60;

pub struct SecurityGroup;

/// The rules are exclusive: the stack made the group, so a rule that is not wished is drift. EKS's own cluster group is never a
/// wish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Desired {
    pub vpc: Link,
    pub name: String,
    pub description: String,
    pub ingress: Vec<Rule>,
    /// Beside the rule to everywhere, which EC2 gives every new group: it is neither wished nor taken away, since every
    /// interface of the stack carries a group that has it. It does not cover EFA, whose traffic wants a group, not a block.
    pub egress: Vec<Rule>,
}

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
    fn is_default_egress(&self) -> bool {
        self.traffic == Traffic::All && matches!(&self.peer, Peer::Cidr(cidr) if cidr.prefix_len() == 0)
    }

    fn check(&self) -> Option<String> {
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

/// DescribeSecurityGroups. A VPC's group `default` is never listed: it comes and goes with its VPC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Observed {
    pub group_id: String,
    pub group_arn: String,
    pub group_name: String,
    pub description: String,
    pub vpc_id: String,
    pub ip_permissions: Vec<Permission>,
    pub ip_permissions_egress: Vec<Permission>,
    pub tags: Tags,
}

/// One source or destination of EC2's IpPermission, which lists several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Permission {
    /// `-1`, `tcp`, `udp`, `icmp`, `icmpv6`, or a number
    pub ip_protocol: String,
    pub from_port: Option<i32>,
    pub to_port: Option<i32>,
    pub peer: LivePeer,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LivePeer {
    GroupId(String),
    Cidr(IpNet),
    PrefixListId(String),
}

impl Permission {
    fn project(&self, own: &str) -> Rule {
        let port = |port: Option<i32>| port.and_then(|port| u16::try_from(port).ok());
        let traffic = match (self.ip_protocol.as_str(), port(self.from_port), port(self.to_port)) {
            ("-1", _, _) => Traffic::All,
            ("tcp", Some(from), Some(to)) => Traffic::Tcp(Ports { from, to }),
            _ => Traffic::Other { protocol: self.ip_protocol.clone(), from: self.from_port, to: self.to_port },
        };
        let peer = match &self.peer {
            LivePeer::GroupId(id) if id == own => Peer::Itself,
            LivePeer::GroupId(id) => Peer::Group(Link::is(id)),
            LivePeer::Cidr(cidr) => Peer::Cidr(*cidr),
            LivePeer::PrefixListId(id) => Peer::PrefixList(id.clone()),
        };
        Rule { traffic, peer }
    }

    fn imagine(rule: &Rule, own: &str) -> Self {
        let (ip_protocol, from_port, to_port) = match &rule.traffic {
            Traffic::All => ("-1", None, None),
            Traffic::Tcp(Ports { from, to }) => ("tcp", Some(i32::from(*from)), Some(i32::from(*to))),
            Traffic::Other { protocol, from, to } => (protocol.as_str(), *from, *to),
        };
        let peer = match &rule.peer {
            Peer::Itself => LivePeer::GroupId(own.to_owned()),
            Peer::Group(link) => LivePeer::GroupId(link.target().to_owned()),
            Peer::Cidr(cidr) => LivePeer::Cidr(*cidr),
            Peer::PrefixList(id) => LivePeer::PrefixListId(id.clone()),
        };
        Self { ip_protocol: ip_protocol.to_owned(), from_port, to_port, peer }
    }

    fn default_egress() -> Self {
        Self::imagine(&Rule::all(Peer::Cidr(IpNet::V4(ipnet::Ipv4Net::default()))), "")
    }
}

impl Kind for SecurityGroup {
    const NAME: &'static str = "security-group";
    const AWS_NAME: &'static str = "ec2:security-group";
    const LAYER: Layer = Layer::Network;
    const OWNERSHIP: Ownership = Ownership::ByTag;
    const FIELDS: &'static [Field] = &[
        Field::immutable("/vpc"),
        Field::immutable("/name"),
        Field::immutable("/description"),
        // A group that another group's rule names can't be deleted (DependencyViolation), EKS's own included, which EKS then
        // leaves behind.
        Field::in_place("/ingress").set().holds(),
        Field::in_place("/egress").set().holds(),
    ];
    /// A new group may be found by one look and unknown to the next.
    const PATIENCE: Patience = Patience { streak: 2, ..Patience::INSTANT };

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.group_id.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        Outputs::from([
            ("id".to_owned(), live.group_id.clone()),
            ("arn".to_owned(), live.group_arn.clone()),
            ("name".to_owned(), live.group_name.clone()),
        ])
    }
    fn project(live: &Observed) -> Desired {
        let rules = |permissions: &[Permission]| -> Vec<Rule> {
            permissions.iter().map(|permission| permission.project(&live.group_id)).collect()
        };
        Desired {
            vpc: Link::is(&live.vpc_id),
            name: live.group_name.clone(),
            description: live.description.clone(),
            ingress: rules(&live.ip_permissions),
            egress: rules(&live.ip_permissions_egress).into_iter().filter(|rule| !rule.is_default_egress()).collect(),
        }
    }
    fn ready(_: &Observed) -> Readiness {
        Readiness::Ready
    }
    /// Unique in the VPC, and the stack has one VPC.
    fn wished_name(want: &Desired) -> Option<String> {
        Some(want.name.clone())
    }
    fn live_name(live: &Observed) -> Option<String> {
        Some(live.group_name.clone())
    }
    fn headline(want: &Desired) -> String {
        let rules = |rules: &[Rule], word: &str| {
            let texts: Vec<_> = rules.iter().map(|rule| format!("{} {word} {}", rule.traffic, rule.peer)).collect();
            texts.join(", ")
        };
        let both = [rules(&want.ingress, "from"), rules(&want.egress, "to")];
        let both: Vec<_> = both.into_iter().filter(|text| !text.is_empty()).collect();
        if both.is_empty() { "no rules".to_owned() } else { both.join(", ") }
    }
    fn demand(_: &Desired) -> Vec<Demand> {
        vec![Demand::one("securityGroup")]
    }
    fn check(want: &Desired) -> Vec<String> {
        let mut broken = vec![];
        for (what, text) in [("name", &want.name), ("description", &want.description)] {
            if text.is_empty() || text.len() > 255 {
                broken.push(format!("the {what} of a security group has 1 to 255 characters"));
            }
            let odd = |c: char| !c.is_ascii_alphanumeric() && !" ._-:/()#,@[]+=&;{}!$*".contains(c);
            if let Some(odd) = text.chars().find(|c| odd(*c)) {
                broken.push(format!(
                    "`{odd}` in the {what} {text:?}: EC2 takes letters, digits and ._-:/()#,@[]+=&;{{}}!$*"
                ));
            }
        }
        if want.name.starts_with("sg-") || want.name == "default" {
            broken.push(format!("{}: EC2 keeps `default` and names that start with sg- for itself", want.name));
        }
        for (way, rules) in [("inbound", &want.ingress), ("outbound", &want.egress)] {
            if rules.len() > MOST_RULES {
                broken.push(format!("{} {way} rules: a security group holds {MOST_RULES}", rules.len()));
            }
            let mut seen = BTreeSet::new();
            for rule in rules.iter().filter(|rule| !seen.insert(*rule)) {
                broken.push(format!("the {way} rule {} {} stands twice", rule.traffic, rule.peer));
            }
            broken.extend(rules.iter().filter_map(Rule::check));
        }
        if want.egress.iter().any(Rule::is_default_egress) {
            broken.push(
                "the rule to everywhere is EC2's own and is not wished: it would be seen as missing for ever".into(),
            );
        }
        broken
    }
    fn samples() -> Vec<Desired> {
        let to = |kind: &str, output: &str| Link::to(&Address::new(kind, "main"), output);
        let cidr = |text: [u8; 4], prefix| Peer::Cidr(IpNet::V4(ipnet::Ipv4Net::new_assert(text.into(), prefix)));
        let group = |name: &str, ingress, egress| Desired {
            vpc: to("vpc", "id"),
            name: format!("llama-70b-{name}"),
            description: format!("infer-stack: {name}"),
            ingress,
            egress,
        };
        let ping = Traffic::Other { protocol: "icmp".to_owned(), from: Some(8), to: Some(-1) };
        let cluster = Peer::Group(to("cluster", "security-group"));
        vec![
            group("efa", vec![Rule::all(Peer::Itself)], vec![Rule::all(Peer::Itself)]),
            group("fsx", vec![Rule::tcp(988, 988, cluster.clone()), Rule::tcp(1018, 1023, cluster)], vec![]),
            group(
                "odd",
                vec![
                    Rule::tcp(443, 443, cidr([10, 64, 0, 0], 16)),
                    Rule { traffic: ping, peer: Peer::PrefixList("pl-0a1b2c3d".to_owned()) },
                ],
                vec![Rule::tcp(5432, 5432, cidr([10, 0, 0, 0], 8))],
            ),
        ]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, _: Phase) -> Observed {
        let permissions = |rules: &[Rule]| rules.iter().map(|rule| Permission::imagine(rule, id)).collect::<Vec<_>>();
        let mut ip_permissions_egress = permissions(&want.egress);
        ip_permissions_egress.push(Permission::default_egress());
        Observed {
            group_id: id.to_owned(),
            group_arn: format!("arn:aws:ec2:us-west-2:123456789012:security-group/{id}"),
            group_name: want.name.clone(),
            description: want.description.clone(),
            vpc_id: want.vpc.target().to_owned(),
            ip_permissions: permissions(&want.ingress),
            ip_permissions_egress,
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(_: &Desired, serial: &str) -> PhysicalId {
        format!("sg-0{serial}")
    }
}
