//! Fleets of type `instant`, as Karpenter asks for them: one call, one answer, instances of what can be had. Must never go on
//! after its answer.

use super::{items, seconds, text};
use crate::{
    catalog::Catalog,
    contract::Purchase,
    sandbox::{
        wire::Fault,
        world::{
            Context, Moment, Output, World,
            ec2::{Listing, describe},
            tags::specifications,
        },
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fleet {
    pub created: Moment,
    pub input: Value,
    pub instances: Vec<Value>,
    pub errors: Vec<Value>,
}

/// One way to get a machine: a template with an override.
struct Choice {
    specification: Value,
    over: Value,
    subnet: Option<String>,
    price: f64,
    priority: f64,
}

fn choices(world: &World, region: &str, input: &Value) -> Vec<Choice> {
    let mut all = vec![];
    for config in items(input, "LaunchTemplateConfigs") {
        let specification = config.get("LaunchTemplateSpecification").cloned().unwrap_or(Value::Null);
        let overrides = items(config, "Overrides");
        let none = [json!({})];
        for over in if overrides.is_empty() { &none[..] } else { overrides } {
            let price = text(over, &["InstanceType"]).and_then(|name| {
                Catalog::compiled().instance_price(name, Purchase::OnDemand, region).map(|price| price.usd)
            });
            // A subnet may be left to the zone.
            let zone = text(over, &["AvailabilityZone"]);
            let of_zone = || {
                let net = world.net(region);
                let mut subnets = net.subnets.iter();
                let found = subnets.find(|(_, subnet)| Some(world.zone_name(region, &subnet.zone).as_str()) == zone);
                found.map(|(id, _)| id.clone())
            };
            let subnet = text(over, &["SubnetId"]).map(str::to_owned).or_else(|| zone.and_then(|_| of_zone()));
            all.push(Choice {
                specification: specification.clone(),
                over: over.clone(),
                subnet,
                price: price.unwrap_or(f64::MAX),
                priority: over.get("Priority").and_then(Value::as_f64).unwrap_or(f64::MAX),
            });
        }
    }
    all
}

pub(super) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let kinds = &["fleet", "instance", "volume", "network-interface", "spot-instances-request"];
    let tags = specifications(context.list("TagSpecifications"), kinds)?;
    world.once(context, "ClientToken", "IdempotentParameterMismatch", |world| {
        let (region, input) = (context.region.to_owned(), context.input);
        if context.text("Type") != Some("instant") {
            let message = "Only fleets of type instant are offered here.";
            return Err(Fault::new("UnsupportedOperation", message));
        }
        let target = input.get("TargetCapacitySpecification").cloned().unwrap_or(Value::Null);
        let count = |name: &str| target.get(name).and_then(Value::as_u64).unwrap_or(0) as usize;
        let spot = text(&target, &["DefaultTargetCapacityType"]) == Some("spot") || count("SpotTargetCapacity") > 0;
        let id = format!("fleet-{}", world.uuid());
        let mut choices = choices(world, &region, input);
        let options = input.get(if spot { "SpotOptions" } else { "OnDemandOptions" });
        let strategy = options.and_then(|options| text(options, &["AllocationStrategy"])).unwrap_or("lowest-price");
        let by_priority = strategy == "prioritized" || strategy == "capacity-optimized-prioritized";
        choices.sort_by(|a, b| match by_priority {
            true => a.priority.total_cmp(&b.priority),
            false => a.price.total_cmp(&b.price),
        });
        let (mut wanted, mut instances, mut errors) = (count("TotalTargetCapacity"), vec![], vec![]);
        let mut seen = BTreeSet::new();
        for choice in choices {
            if wanted == 0 {
                break;
            }
            let started = launch(world, &region, &choice, wanted, spot, input, &id);
            let mut overrides = choice.over.as_object().cloned().unwrap_or_default();
            overrides.insert("SubnetId".to_owned(), json!(choice.subnet));
            let row = json!({
                "LaunchTemplateAndOverrides": {
                    "LaunchTemplateSpecification": choice.specification,
                    "Overrides": Value::Object(overrides),
                },
                "Lifecycle": if spot { "spot" } else { "on-demand" },
            });
            match started {
                Ok(ids) => {
                    wanted -= ids.len();
                    let mut row = row;
                    row["InstanceType"] =
                        json!(ids.first().and_then(|id| world.instance(&region, id)).map(|i| &i.instance_type));
                    row["InstanceIds"] = json!(ids);
                    instances.push(row);
                }
                Err(fault) => {
                    if seen.insert(format!("{} {row}", fault.code)) {
                        let mut row = row;
                        row["ErrorCode"] = json!(fault.code);
                        row["ErrorMessage"] = json!(fault.message);
                        errors.push(row);
                    }
                }
            }
        }
        let fleet =
            Fleet { created: world.now, input: input.clone(), instances: instances.clone(), errors: errors.clone() };
        world.machines_mut(&region).fleets.insert(id.clone(), fleet);
        world.register(&region, "fleet", &id, tags.get("fleet").cloned().unwrap_or_default());
        Ok(json!({ "FleetId": id, "Instances": instances, "Errors": errors }))
    })
}

fn launch(
    world: &mut World,
    region: &str,
    choice: &Choice,
    most: usize,
    spot: bool,
    input: &Value,
    fleet: &str,
) -> Result<Vec<String>, Fault> {
    let mut request = Map::new();
    request.insert("LaunchTemplate".to_owned(), choice.specification.clone());
    for name in ["InstanceType", "ImageId", "BlockDeviceMappings"] {
        if let Some(value) = choice.over.get(name) {
            request.insert(name.to_owned(), value.clone());
        }
    }
    if let Some(placement) = choice.over.get("Placement").filter(|placement| placement.is_object()) {
        request.insert("Placement".to_owned(), placement.clone());
    }
    let specifications: Vec<&Value> =
        items(input, "TagSpecifications").iter().filter(|one| text(one, &["ResourceType"]) != Some("fleet")).collect();
    request.insert("TagSpecifications".to_owned(), json!(specifications));
    if spot {
        request.insert("InstanceMarketOptions".to_owned(), json!({ "MarketType": "spot" }));
    }
    let mut machine = world.prepare(region, &Value::Object(request), choice.subnet.as_deref())?;
    let own = machine.tags.entry("instance".to_owned()).or_default();
    own.insert("aws:ec2:fleet-id".to_owned(), fleet.to_owned());
    world.start(region, &machine, 1, most)
}

fn view(id: &str, fleet: &Fleet) -> Value {
    json!({
        "FleetId": id,
        "Type": "instant",
        "FleetState": "active",
        "ActivityStatus": if fleet.instances.is_empty() { "error" } else { "fulfilled" },
        "CreateTime": seconds(fleet.created),
        "LaunchTemplateConfigs": fleet.input["LaunchTemplateConfigs"],
        "TargetCapacitySpecification": fleet.input["TargetCapacitySpecification"],
        "Instances": fleet.instances,
        "Errors": fleet.errors,
    })
}

/// EC2 shows instant fleets only to who names them.
pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let world = &*world;
    let named = context.texts("FleetIds");
    let fleets = &world.machines(context.region).fleets;
    if let Some(id) = named.iter().find(|id| !fleets.contains_key(*id)) {
        return Err(crate::sandbox::world::ec2::missing(id));
    }
    // A fleet's id holds a UUID, so the shared listing can't tell its prefix.
    let chosen =
        fleets.iter().filter(|(id, _)| named.contains(id)).map(|(id, fleet)| (id.clone(), fleet.clone())).collect();
    let listing = Listing {
        ids: "NoSuchMember",
        prefix: "fleet",
        member: "Fleets",
        values: &|_, _: &Fleet, name| match name {
            "type" => Some(vec!["instant".to_owned()]),
            "fleet-state" => Some(vec!["active".to_owned()]),
            _ => None,
        },
        view: &|id, fleet| view(id, fleet),
    };
    describe(world, context, &chosen, listing)
}
