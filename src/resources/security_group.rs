//! A security group with its rules. Must never hold a rule that EC2 adds by itself, and never carry the tag
//! `kubernetes.io/cluster/…`: on a node only EKS's own group may.

use crate::{
    contract::{Demand, Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Link, Outputs, PhysicalId, Stamp, Tags},
};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

mod rule;

pub use rule::{Peer, Ports, Rule, Traffic};

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

#[cfg(feature = "aws")]
mod live {
    use super::{Desired, LivePeer, Observed, Permission, Rule, SecurityGroup};
    use crate::{
        aws::{
            Aws,
            answers::{deleted, field, found, parsed},
            ec2::{changes, filter, in_vpc, listed, of_stack, retag, stamped, tags},
            failed,
        },
        contract::{Class, CloudError, Kind, Live},
        model::{PhysicalId, STACK, Scope, Stamp, Tags},
    };
    use aws_sdk_ec2::types::{
        Filter, IpPermission, IpRange, Ipv6Range, PrefixListId, ResourceType, SecurityGroup as Group, UserIdGroupPair,
    };
    use ipnet::IpNet;
    use std::iter::once;

    const DESCRIBE: &str = "ec2:DescribeSecurityGroups";
    /// The tag that EKS puts on the group that it makes for a cluster.
    const OF_CLUSTER: &str = "aws:eks:cluster-name";

    /// One for each source or destination that an IpPermission lists.
    fn permissions(list: Option<Vec<IpPermission>>) -> Result<Vec<Permission>, CloudError> {
        let mut all = vec![];
        for its in list.into_iter().flatten() {
            let blocks = its.ip_ranges.into_iter().flatten().map(|range| range.cidr_ip);
            let blocks = blocks.chain(its.ipv6_ranges.into_iter().flatten().map(|range| range.cidr_ipv6));
            let mut peers = blocks
                .map(|block| parsed(DESCRIBE, "cidr", block).map(LivePeer::Cidr))
                .collect::<Result<Vec<_>, CloudError>>()?;
            for pair in its.user_id_group_pairs.into_iter().flatten() {
                peers.push(LivePeer::GroupId(field(DESCRIBE, "groupId", pair.group_id)?));
            }
            for list in its.prefix_list_ids.into_iter().flatten() {
                peers.push(LivePeer::PrefixListId(field(DESCRIBE, "prefixListId", list.prefix_list_id)?));
            }
            let ip_protocol = field(DESCRIBE, "ipProtocol", its.ip_protocol)?;
            let (from_port, to_port) = (its.from_port, its.to_port);
            let permission = |peer| Permission { ip_protocol: ip_protocol.clone(), from_port, to_port, peer };
            all.extend(peers.into_iter().map(permission));
        }
        Ok(all)
    }

    fn sent(permission: &Permission) -> IpPermission {
        let request = IpPermission::builder()
            .ip_protocol(&permission.ip_protocol)
            .set_from_port(permission.from_port)
            .set_to_port(permission.to_port);
        let request = match &permission.peer {
            LivePeer::GroupId(id) => request.user_id_group_pairs(UserIdGroupPair::builder().group_id(id).build()),
            LivePeer::Cidr(IpNet::V4(block)) => {
                request.ip_ranges(IpRange::builder().cidr_ip(block.to_string()).build())
            }
            LivePeer::Cidr(IpNet::V6(block)) => {
                request.ipv6_ranges(Ipv6Range::builder().cidr_ipv6(block.to_string()).build())
            }
            LivePeer::PrefixListId(id) => request.prefix_list_ids(PrefixListId::builder().prefix_list_id(id).build()),
        };
        request.build()
    }

    fn observe(group: Group) -> Result<Observed, CloudError> {
        Ok(Observed {
            group_id: field(DESCRIBE, "groupId", group.group_id)?,
            group_arn: field(DESCRIBE, "securityGroupArn", group.security_group_arn)?,
            group_name: field(DESCRIBE, "groupName", group.group_name)?,
            description: group.description.unwrap_or_default(),
            vpc_id: field(DESCRIBE, "vpcId", group.vpc_id)?,
            ip_permissions: permissions(group.ip_permissions)?,
            ip_permissions_egress: permissions(group.ip_permissions_egress)?,
            tags: tags(group.tags),
        })
    }

    async fn look(aws: &Aws, filter: Filter) -> Result<Vec<Observed>, CloudError> {
        let pages = aws.ec2().describe_security_groups().filters(filter).into_paginator().items().send();
        let groups = pages.collect::<Result<Vec<_>, _>>().await.map_err(failed(DESCRIBE))?;
        groups.into_iter().filter(|group| group.group_name.as_deref() != Some("default")).map(observe).collect()
    }

    async fn authorize(aws: &Aws, id: &str, egress: bool, rules: Vec<IpPermission>) -> Result<(), CloudError> {
        let (ec2, rules) = (aws.ec2(), Some(rules));
        match egress {
            true => {
                let request = ec2.authorize_security_group_egress().group_id(id).set_ip_permissions(rules);
                request.send().await.map_err(failed("ec2:AuthorizeSecurityGroupEgress")).map(drop)
            }
            false => {
                let request = ec2.authorize_security_group_ingress().group_id(id).set_ip_permissions(rules);
                request.send().await.map_err(failed("ec2:AuthorizeSecurityGroupIngress")).map(drop)
            }
        }
    }

    async fn revoke(aws: &Aws, id: &str, egress: bool, rules: Vec<IpPermission>) -> Result<(), CloudError> {
        let (ec2, rules) = (aws.ec2(), Some(rules));
        match egress {
            true => {
                let request = ec2.revoke_security_group_egress().group_id(id).set_ip_permissions(rules);
                deleted(request.send().await.map_err(failed("ec2:RevokeSecurityGroupEgress")))
            }
            false => {
                let request = ec2.revoke_security_group_ingress().group_id(id).set_ip_permissions(rules);
                deleted(request.send().await.map_err(failed("ec2:RevokeSecurityGroupIngress")))
            }
        }
    }

    /// Adds first and takes away then: what both have is never interrupted.
    async fn bring(aws: &Aws, id: &str, egress: bool, have: &[Permission], want: &[Rule]) -> Result<(), CloudError> {
        let rule = |permission: &Permission| permission.project(id);
        let held: Vec<Rule> = have.iter().map(rule).collect();
        let missing = want.iter().filter(|rule| !held.contains(rule)).map(|rule| sent(&Permission::imagine(rule, id)));
        let missing: Vec<_> = missing.collect();
        if !missing.is_empty() {
            authorize(aws, id, egress, missing).await?;
        }
        let kept = |rule: &Rule| want.contains(rule) || egress && rule.is_default_egress();
        let surplus: Vec<_> = have.iter().filter(|permission| !kept(&rule(permission))).map(sent).collect();
        if surplus.is_empty() { Ok(()) } else { revoke(aws, id, egress, surplus).await }
    }

    /// Takes the rules that name a group out of its stack's other groups, EKS's own among them: groups that name each other
    /// would hold each other for ever. True where there were any.
    async fn unname(aws: &Aws, id: &str, own: &Tags) -> Result<bool, CloudError> {
        let stack = own.get(STACK).or_else(|| own.get(OF_CLUSTER));
        let kin = |tags: &Tags| stack.is_some() && (tags.get(STACK) == stack || tags.get(OF_CLUSTER) == stack);
        let mut any = false;
        for (egress, name) in [(false, "ip-permission.group-id"), (true, "egress.ip-permission.group-id")] {
            let naming = look(aws, filter(name, id)).await?;
            for group in naming.iter().filter(|group| group.group_id != id && kin(&group.tags)) {
                let all = if egress { &group.ip_permissions_egress } else { &group.ip_permissions };
                let named = all.iter().filter(|permission| permission.peer == LivePeer::GroupId(id.to_owned()));
                revoke(aws, &group.group_id, egress, named.map(sent).collect()).await?;
                any = true;
            }
        }
        Ok(any)
    }

    async fn delete(aws: &Aws, id: &str) -> Result<(), CloudError> {
        let request = aws.ec2().delete_security_group().group_id(id);
        deleted(request.send().await.map_err(failed("ec2:DeleteSecurityGroup")))
    }

    impl Live<Aws> for SecurityGroup {
        async fn list(aws: &Aws, scope: &Scope) -> Result<Vec<Observed>, CloudError> {
            // Names are unique in a VPC: where the VPC is known, its groups are all there whatever they are called.
            let names = scope.names.get(SecurityGroup::NAME).filter(|names| !names.is_empty() && scope.vpc.is_none());
            let named = names.map(|names| Filter::builder().name("group-name").set_values(Some(names.clone())).build());
            let filters = once(of_stack(scope)).chain(in_vpc(scope, "vpc-id")).chain(named);
            listed::<Self, _>(filters, |filter| look(aws, filter)).await
        }

        async fn read(aws: &Aws, id: &str) -> Result<Option<Observed>, CloudError> {
            let answer = aws.ec2().describe_security_groups().group_ids(id).send().await.map_err(failed(DESCRIBE));
            found(answer)?.and_then(|answer| answer.security_groups?.pop()).map(observe).transpose()
        }

        async fn create(aws: &Aws, want: &Desired, stamp: &Stamp) -> Result<PhysicalId, CloudError> {
            let call = "ec2:CreateSecurityGroup";
            let request = aws
                .ec2()
                .create_security_group()
                .vpc_id(want.vpc.target())
                .group_name(&want.name)
                .description(&want.description)
                .tag_specifications(stamped(ResourceType::SecurityGroup, &stamp.tags));
            let answer = request.send().await.map_err(failed(call))?;
            field(call, "groupId", answer.group_id)
        }

        async fn update(
            aws: &Aws,
            id: &str,
            want: &Desired,
            changed: &[String],
            stamp: &Stamp,
        ) -> Result<(), CloudError> {
            let (ingress, egress) = (changes(changed, "/ingress"), changes(changed, "/egress"));
            if ingress || egress {
                let live = field(DESCRIBE, id, Self::read(aws, id).await?)?;
                if ingress {
                    bring(aws, id, false, &live.ip_permissions, &want.ingress).await?;
                }
                if egress {
                    bring(aws, id, true, &live.ip_permissions_egress, &want.egress).await?;
                }
            }
            retag(aws, id, changed, stamp).await
        }

        async fn delete(aws: &Aws, id: &str) -> Result<(), CloudError> {
            match delete(aws, id).await {
                Err(error) if error.class == Class::InUse => {
                    let Some(live) = Self::read(aws, id).await? else { return Ok(()) };
                    if unname(aws, id, &live.tags).await? { delete(aws, id).await } else { Err(error) }
                }
                outcome => outcome,
            }
        }
    }
}
