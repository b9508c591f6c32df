//! What the AWS load balancer controller makes of a Service or an Ingress: groups, balancer, target group, listener. Must never
//! take them away by itself: a cluster that goes first leaves them behind.

use super::{NewBalancer, balancer::Listener, target_group::TargetGroup};
use crate::{
    model::Tags,
    resources::load_balancer::CLUSTER_TAG,
    sandbox::{
        wire::Fault,
        world::{
            World,
            network::{NewGroup, Peer, Permission},
        },
    },
    stack::names::hash,
};
use serde_json::json;

/// Something in a cluster that gets a balancer.
#[derive(Clone, Debug)]
pub struct Exposed<'a> {
    pub cluster: &'a str,
    pub namespace: &'a str,
    pub name: &'a str,
    /// `application` for an Ingress, `network` for a Service.
    pub kind: &'a str,
    pub scheme: &'a str,
    pub vpc: &'a str,
    pub subnets: &'a [String],
    pub port: u16,
    /// Group of the nodes, which gets a rule for what the balancer sends.
    pub node_group: Option<&'a str>,
    /// The controller's `defaultTags`.
    pub tags: Tags,
}

impl World {
    /// Makes everything, and gives the balancer's ARN.
    pub fn expose(&mut self, region: &str, exposed: &Exposed) -> Result<String, Fault> {
        let (namespace, object) = (exposed.namespace, exposed.name);
        let tag = match exposed.kind {
            "network" => "service.k8s.aws/stack",
            _ => "ingress.k8s.aws/stack",
        };
        let mut tags = exposed.tags.clone();
        tags.insert(CLUSTER_TAG.to_owned(), exposed.cluster.to_owned());
        let shared = tags.clone();
        tags.insert(tag.to_owned(), format!("{namespace}/{object}"));
        // It keeps to the 32 characters that a balancer's name may have.
        let head = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).take(8).collect::<String>();
        let digest = hash(&format!("{}/{namespace}/{object}", exposed.cluster), 10);
        let name = format!("k8s-{}-{}-{digest}", head(namespace), head(object));
        let front = NewGroup {
            vpc: exposed.vpc,
            name: &name,
            description: "[k8s] Managed SecurityGroup for LoadBalancer",
            tags: tags.clone(),
        };
        let front = self.make_group(region, front)?;
        let everyone = Peer::Cidr(ipnet::IpNet::V4(ipnet::Ipv4Net::default()));
        self.admit(region, &front, Permission::tcp(false, exposed.port, exposed.port, everyone))?;
        let back = self.backend_group(region, exposed, shared)?;
        if let Some(nodes) = exposed.node_group {
            self.admit(region, nodes, Permission::tcp(false, exposed.port, exposed.port, Peer::Group(back.clone())))?;
        }
        let groups = [front, back];
        let (kind, scheme) = (exposed.kind, exposed.scheme);
        let new =
            NewBalancer { name: &name, kind, scheme, subnets: exposed.subnets, groups: &groups, tags: tags.clone() };
        let arn = self.make_balancer(region, new)?;
        let protocol = if kind == "network" { "TCP" } else { "HTTP" };
        let group = TargetGroup {
            name,
            protocol: Some(protocol.to_owned()),
            port: Some(exposed.port.into()),
            vpc: Some(exposed.vpc.to_owned()),
            target_type: "ip".to_owned(),
            tags: tags.clone(),
        };
        let target = self.make_target_group(region, group)?;
        let listener = Listener {
            balancer: arn.clone(),
            protocol: protocol.to_owned(),
            port: exposed.port.into(),
            actions: vec![json!({ "Type": "forward", "TargetGroupArn": target })],
            tags,
        };
        let serial = self.serial(16);
        let id = format!("{}/{serial}", arn.replace(":loadbalancer/", ":listener/"));
        self.balancing_mut(region).listeners.insert(id, listener);
        Ok(arn)
    }

    /// The group that all balancers of a cluster share.
    fn backend_group(&mut self, region: &str, exposed: &Exposed, mut tags: Tags) -> Result<String, Fault> {
        let name = format!("k8s-traffic-{}-{}", exposed.cluster, hash(exposed.cluster, 10));
        if let Some(id) = self.net(region).group_named(exposed.vpc, &name) {
            return Ok(id.to_owned());
        }
        tags.insert("elbv2.k8s.aws/resource".to_owned(), "backend-sg".to_owned());
        let description = "[k8s] Shared Backend SecurityGroup for LoadBalancer";
        self.make_group(region, NewGroup { vpc: exposed.vpc, name: &name, description, tags })
    }
}
