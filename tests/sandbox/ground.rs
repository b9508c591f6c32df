//! Ground that machines stand on: a network, a placement group, launch templates, a cluster.

use super::desk::{Desk, REGION};
use infer_stack::{
    catalog::Catalog,
    sandbox::world::eks::{Cni, Home},
};
use serde_json::{Value, json};

/// Zone that offers p5 in the compiled data, and another one.
pub const ZONES: [&str; 2] = ["usw2-az1", "usw2-az2"];

/// A desk with a network to launch into.
pub struct Ground {
    pub desk: Desk,
    pub vpc: String,
    /// One in each of [`ZONES`].
    pub subnets: [String; 2],
    /// The cluster's security group.
    pub group: String,
}

impl Ground {
    pub fn new(mut desk: Desk) -> Self {
        let vpc = desk.id("ec2:CreateVpc", json!({ "CidrBlock": "10.64.0.0/16" }), "/Vpc/VpcId");
        let subnets = [0, 1].map(|n| {
            let cidr = format!("10.64.{}.0/20", n * 16);
            let input = json!({ "VpcId": vpc, "CidrBlock": cidr, "AvailabilityZoneId": ZONES[n] });
            desk.id("ec2:CreateSubnet", input, "/Subnet/SubnetId")
        });
        let input = json!({ "GroupName": "cluster", "Description": "cluster", "VpcId": vpc });
        let group = desk.id("ec2:CreateSecurityGroup", input, "/GroupId");
        Self { desk, vpc, subnets, group }
    }

    /// The same with an ACTIVE cluster `main` of 1.35 that has its network add-on.
    pub fn with_cluster(desk: Desk) -> Self {
        let mut ground = Self::new(desk);
        let home = ground.home(Some(Cni { minimum_ip_target: Some(10) }));
        ground.desk.world.set_home(REGION, "main", home);
        let statement =
            json!({ "Effect": "Allow", "Principal": { "Service": "ec2.amazonaws.com" }, "Action": "sts:AssumeRole" });
        let trust = json!({ "Version": "2012-10-17", "Statement": [statement] }).to_string();
        ground.desk.ok("iam:CreateRole", json!({ "RoleName": "node", "AssumeRolePolicyDocument": trust }));
        // Until other services see it.
        ground.desk.wait(10);
        ground
    }

    pub fn home(&self, cni: Option<Cni>) -> Home {
        Home {
            status: "ACTIVE".to_owned(),
            version: "1.35".to_owned(),
            vpc: self.vpc.clone(),
            security_group: self.group.clone(),
            cni,
        }
    }

    /// Id of EKS's image for a type of node.
    pub fn image(&self, ami_type: &str) -> String {
        self.desk.world.eks_image(REGION, ami_type, "1.35", None).unwrap().id
    }

    /// RunInstances of one machine in the first zone.
    pub fn run(&self, instance_type: &str, more: Value) -> Value {
        let known = Catalog::compiled().instance_type(instance_type).unwrap();
        let ami = known.ami_types.first().map_or("AL2023_x86_64_STANDARD", String::as_str);
        let input = json!({
            "InstanceType": instance_type, "ImageId": self.image(ami), "MinCount": 1, "MaxCount": 1,
            "SubnetId": self.subnets[0], "SecurityGroupIds": [self.group],
        });
        with(input, more)
    }

    /// Interfaces of a type's whole EFA layout, with the cluster's group.
    pub fn layout(&self, instance_type: &str, subnet: Option<&str>) -> Value {
        let layout = Catalog::compiled().efa_layout(instance_type, None).unwrap();
        layout
            .into_iter()
            .map(|one| {
                let mut interface = json!({
                    "NetworkCardIndex": one.card, "DeviceIndex": one.device, "InterfaceType": one.kind.aws(),
                    "Groups": [self.group], "DeleteOnTermination": true,
                });
                if let Some(subnet) = subnet {
                    interface["SubnetId"] = json!(subnet);
                }
                interface
            })
            .collect()
    }

    /// A launch template with that data; its id.
    pub fn template(&mut self, name: &str, data: Value) -> String {
        let input = json!({ "LaunchTemplateName": name, "LaunchTemplateData": data });
        self.desk.id("ec2:CreateLaunchTemplate", input, "/LaunchTemplate/LaunchTemplateId")
    }

    /// Instances that are not terminated, by id.
    pub fn standing(&mut self) -> Vec<Value> {
        let filters = json!([{ "Name": "instance-state-name", "Values": ["pending", "running", "shutting-down"] }]);
        let found = self.desk.ok("ec2:DescribeInstances", json!({ "Filters": filters }));
        let batches = found["Reservations"].as_array().unwrap().iter();
        batches.flat_map(|batch| batch["Instances"].as_array().unwrap().clone()).collect()
    }
}

/// Members of a document laid over another's; `null` takes one away.
pub fn with(mut under: Value, over: Value) -> Value {
    for (name, value) in over.as_object().unwrap() {
        match value {
            Value::Null => {
                under.as_object_mut().unwrap().remove(name);
            }
            value => under[name] = value.clone(),
        }
    }
    under
}
