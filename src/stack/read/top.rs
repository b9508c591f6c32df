//! Identity, network, cluster, roles and weights. Must never look at the serving.

use super::Reader;
use crate::stack::value::{Fields, Value};
use crate::stack::*;
use ipnet::Ipv4Net;
use std::net::Ipv4Addr;

impl Reader<'_> {
    pub(super) fn spec(&mut self, root: &Fields) -> Spec {
        let node_classes = self.node_classes(root);
        let serving = root.object("serving").map(|fields| self.serving(fields, &node_classes));
        let weights = match root.object("weights") {
            Some(fields) => Some(self.weights(fields)),
            None => serving.is_some().then(streamed),
        };
        let budget = root.object("budget").and_then(|budget| budget.number("maxHourlyUsd"));
        Spec {
            name: root.owned("name").unwrap_or_default(),
            region: root.owned("region").unwrap_or_default(),
            account: root.owned("account"),
            expires: self.expires(root),
            protect: root.bool("protect").unwrap_or(false),
            tags: root.text_map("tags"),
            cost_allocation: root.object("costAllocation").map_or_else(CostAllocation::default, |fields| {
                CostAllocation {
                    activate: fields.texts("activate").unwrap_or_default(),
                    backfill_months: fields.whole("backfillMonths").unwrap_or(0),
                }
            }),
            budget: budget.map(|max_hourly_usd| Budget { max_hourly_usd }),
            network: self.network(root.object("network")),
            cluster: cluster(root.object("cluster")),
            iam: root.object("iam").map_or_else(Iam::default, |fields| Iam {
                permissions_boundary: fields.owned("permissionsBoundary"),
                path: fields.owned("path"),
                cluster_role: fields.owned("clusterRole"),
                node_role: fields.owned("nodeRole"),
            }),
            placement_groups: root.objects("placementGroups").map(placement_group).collect(),
            node_classes,
            weights,
            serving,
        }
    }

    fn expires(&mut self, root: &Fields) -> Expires {
        const DEFAULT: Expires = Expires::After(72 * 3_600);
        match root.text("expires") {
            None => DEFAULT,
            Some("never") => Expires::Never,
            Some(text) if text.contains(['T', 't', ':', '-']) => match text.parse::<jiff::Timestamp>() {
                Ok(_) => Expires::At(text.to_owned()),
                Err(_) => {
                    let label = "write it like `2027-01-31T18:00:00Z`, with a day that exists".to_owned();
                    self.refuse("/expires", "format", format!("`{text}` is no RFC 3339 time"), label);
                    DEFAULT
                }
            },
            Some(_) => self.seconds(root, "", "expires").map_or(DEFAULT, Expires::After),
        }
    }

    fn network(&mut self, fields: Option<&Fields>) -> Network {
        let default = Ipv4Net::new_assert(Ipv4Addr::new(10, 64, 0, 0), 16);
        let Some(fields) = fields else {
            return Network::Made { cidr: default, zones: None, nat_gateways: NatGateways::One };
        };
        if fields.get("vpc").is_some() || fields.get("subnets").is_some() {
            let of = |fields: &Fields, key| fields.texts(key).unwrap_or_default();
            let vpc = fields.owned("vpc").unwrap_or_default();
            return match fields.object("subnets") {
                Some(subnets) => {
                    let nodes = of(subnets, "nodes");
                    Network::Brought {
                        vpc,
                        control_plane: of(subnets, "controlPlane"),
                        load_balancers: subnets.texts("loadBalancers").unwrap_or_else(|| nodes.clone()),
                        nodes,
                    }
                }
                None => {
                    let all = of(fields, "subnets");
                    Network::Brought { vpc, nodes: all.clone(), control_plane: all.clone(), load_balancers: all }
                }
            };
        }
        let cidr = match fields.text("cidr") {
            None => default,
            Some(text) => text.parse().unwrap_or_else(|_| {
                let label = "four numbers up to 255 and a prefix length up to 32: `10.64.0.0/16`".to_owned();
                self.refuse("/network/cidr", "format", format!("`{text}` is no IPv4 block"), label);
                default
            }),
        };
        Network::Made {
            cidr,
            zones: fields.texts("zones"),
            nat_gateways: fields.word("natGateways").unwrap_or(NatGateways::One),
        }
    }

    fn weights(&mut self, fields: &Fields) -> Weights {
        let source = fields.word("source").unwrap_or(WeightSource::S3Stream);
        let bucket = match (source, fields.object("bucket")) {
            (WeightSource::Image, _) => None,
            (_, None) => Some(made_bucket()),
            (_, Some(bucket)) => {
                let name = bucket.owned("name");
                Some(Bucket {
                    create: bucket.bool("create").unwrap_or(name.is_none()),
                    name,
                    prefix: bucket.owned("prefix").unwrap_or_default(),
                })
            }
        };
        Weights {
            source,
            bucket,
            fsx: (source == WeightSource::Fsx).then(|| self.fsx(fields.object("fsx"))),
            populate: fields.object("populate").map(|populate| Populate {
                from: populate.owned("from").unwrap_or_default(),
                revision: populate.owned("revision"),
                token_secret: populate.owned("tokenSecret"),
            }),
            on_destroy: fields.word("onDestroy").unwrap_or(OnDestroy::Keep),
        }
    }

    fn fsx(&mut self, fields: Option<&Fields>) -> Fsx {
        let throughput = fields.and_then(|f| f.whole("throughput")).unwrap_or(250);
        let efa = fields.and_then(|f| f.bool("efa")).unwrap_or(false);
        let smallest = match crate::catalog::fsx::capacity_step(throughput, efa) {
            Some(step) if efa => step,
            _ => 1200,
        };
        Fsx {
            capacity: fields.and_then(|f| self.gib(f, "/weights/fsx", "capacity")).unwrap_or(smallest),
            throughput,
            efa,
            auto_import: fields
                .and_then(|f| f.words("autoImport"))
                .unwrap_or_else(|| vec![AutoImport::New, AutoImport::Changed, AutoImport::Deleted]),
        }
    }
}

fn cluster(fields: Option<&Fields>) -> Cluster {
    let endpoint = fields.and_then(|fields| fields.object("endpoint"));
    let public = endpoint.and_then(|e| e.bool("public")).unwrap_or(true);
    let caller = if public { vec!["caller".to_owned()] } else { Vec::new() };
    Cluster {
        version: fields.and_then(|f| f.owned("version")),
        support_type: fields.and_then(|f| f.word("supportType")).unwrap_or(SupportType::Standard),
        endpoint: Endpoint {
            public,
            private: endpoint.and_then(|e| e.bool("private")).unwrap_or(true),
            public_cidrs: endpoint.and_then(|e| e.texts("publicCidrs")).unwrap_or(caller),
        },
        logs: fields.and_then(|f| f.words("logs")).unwrap_or_default(),
        access: fields.into_iter().flat_map(|f| f.objects("access")).filter_map(access).collect(),
        addons: fields
            .into_iter()
            .flat_map(|f| f.map("addons"))
            .filter_map(|(name, value)| match value {
                Value::Object(fields) => Some((name.clone(), addon(fields))),
                _ => None,
            })
            .collect(),
        secrets_key: fields.and_then(|f| f.owned("secretsKey")),
    }
}

/// `None` where a field was refused: then nobody sees the spec.
fn access(fields: &Fields) -> Option<Access> {
    Some(Access { principal: fields.owned("principal")?, policy: fields.word("policy")? })
}

fn addon(fields: &Fields) -> AddonSpec {
    AddonSpec {
        version: fields.owned("version"),
        configuration: match fields.get("configuration") {
            Some(Value::Json(document)) => Some(document.clone()),
            _ => None,
        },
    }
}

fn placement_group(fields: &Fields) -> PlacementGroup {
    PlacementGroup {
        name: fields.owned("name").unwrap_or_default(),
        strategy: match fields.text("strategy") {
            Some("partition") => PlacementStrategy::Partition { partitions: fields.whole("partitions").unwrap_or(1) },
            Some("spread") => PlacementStrategy::Spread,
            _ => PlacementStrategy::Cluster,
        },
    }
}

fn made_bucket() -> Bucket {
    Bucket { name: None, create: true, prefix: String::new() }
}

/// What `serving` without `weights` means.
fn streamed() -> Weights {
    Weights {
        source: WeightSource::S3Stream,
        bucket: Some(made_bucket()),
        fsx: None,
        populate: None,
        on_destroy: OnDestroy::Keep,
    }
}
