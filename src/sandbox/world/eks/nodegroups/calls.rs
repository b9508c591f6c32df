//! Creating, reading, listing and deleting node groups. Must never show a size that the scaling group has not.

use super::{Deed, Issue, Named, Nodegroup, judge, life, template};
use crate::{
    model::arn,
    sandbox::{
        wire::Fault,
        world::{
            Context, Output, World,
            eks::{Home, in_use, not_found, parameter, request, tags::given},
            limits, page, texts,
        },
    },
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(super) fn named(context: &Context) -> Result<Named, Fault> {
    Ok(Named {
        region: context.region.to_owned(),
        cluster: context.required("clusterName")?.to_owned(),
        name: context.required("nodegroupName")?.to_owned(),
    })
}

pub(super) fn found<'w>(world: &'w World, named: &Named) -> Result<&'w Nodegroup, Fault> {
    world.home(&named.region, &named.cluster)?;
    let group = world.nodegroup(named);
    group
        .ok_or_else(|| not_found(format!("No node group found for name: {} in cluster {}.", named.name, named.cluster)))
}

pub(in crate::sandbox::world::eks) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let tags = given(context.input.get("tags"))?;
    world.once(context, "clientRequestToken", "InvalidParameterException", |world| {
        let named = named(context)?;
        let home = world.home(&named.region, &named.cluster)?;
        if home.status != "ACTIVE" {
            let message =
                format!("Nodegroups can't be created while the cluster is {}: currently not ACTIVE", home.status);
            return Err(request(message));
        }
        judge_name(&named.name)?;
        if world.nodegroup(&named).is_some() {
            let message =
                format!("NodeGroup already exists with name {} and cluster name {}", named.name, named.cluster);
            return Err(in_use(message));
        }
        let groups = world.eks(&named.region).groups.get(&named.cluster);
        if groups.map_or(0, BTreeMap::len) >= world.limit("nodeGroup") {
            let message = format!("Nodegroup limit exceeded for cluster {}", named.cluster);
            return Err(Fault::new("ResourceLimitExceededException", message));
        }
        let mut group = read_request(world, context, &named, &home)?;
        judge::role(world, &named.region, &group.role)?;
        world.make_instance_profile(&named.region, &template::profile(&named, &group), &group.role);
        group.tags = tags;
        let groups = world.eks_mut(&named.region).groups.entry(named.cluster.clone()).or_default();
        groups.insert(named.name.clone(), group.clone());
        let whole = limits::creation("node-group");
        world.nodegroup_later(whole * life::FORMING, Deed::Forms(named.clone()));
        world.look_at_nodegroup(&named, whole);
        Ok(json!({ "nodegroup": view(world, &named, &group) }))
    })
}

fn judge_name(name: &str) -> Result<(), Fault> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let fits = name.len() <= 63 && name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(plain);
    match fits {
        true => Ok(()),
        false => Err(parameter(
            "nodegroup name can't be longer than 63 characters, must start with a letter or digit, and can hold only \
             alphanumeric characters, hyphens and underscores.",
        )),
    }
}

fn read_request(world: &World, context: &Context, named: &Named, home: &Home) -> Result<Nodegroup, Fault> {
    let (input, region) = (context.input, &named.region);
    let text = |name: &str| context.text(name).map(str::to_owned);
    let scaling = input.get("scalingConfig").cloned().unwrap_or(Value::Null);
    let size = |name: &str, otherwise: u32| {
        scaling.get(name).and_then(Value::as_u64).map_or(otherwise, |n| u32::try_from(n).unwrap_or(u32::MAX))
    };
    let (ami_type, version) = (
        text("amiType").unwrap_or_else(|| "AL2023_x86_64_STANDARD".to_owned()),
        text("version").unwrap_or_else(|| home.version.clone()),
    );
    let release = text("releaseVersion");
    let custom = ami_type == "CUSTOM";
    if custom && (context.text("version").is_some() || release.is_some()) {
        return Err(parameter("You cannot specify version or releaseVersion with a custom AMI."));
    }
    if !custom {
        judge::version(world, &ami_type, &version, release.as_deref(), home)?;
    }
    let release = release.or_else(|| world.newest_release(&ami_type, &version)).unwrap_or_default();
    let mut group = Nodegroup {
        arn: arn(
            "eks",
            region,
            &world.account,
            &format!("nodegroup/{}/{}/{}", named.cluster, named.name, crate::model::hash(&world.now.to_string(), 32)),
        ),
        status: "CREATING".to_owned(),
        created: world.now,
        modified: world.now,
        version,
        release,
        capacity_type: text("capacityType").unwrap_or_else(|| "ON_DEMAND".to_owned()),
        instance_types: context.texts("instanceTypes"),
        subnets: context.texts("subnets"),
        role: context.required("nodeRole")?.to_owned(),
        labels: string_map(input.get("labels")),
        taints: taints(input.get("taints")),
        min: size("minSize", 1),
        max: size("maxSize", 2),
        desired: size("desiredSize", 2),
        update_config: update_config(input.get("updateConfig")),
        repair: input.get("nodeRepairConfig").cloned().unwrap_or_else(|| json!({ "enabled": false })),
        disk_size: context.number("diskSize").and_then(|n| u32::try_from(n).ok()),
        template: None,
        own_template: None,
        asg: None,
        tags: BTreeMap::new(),
        issues: vec![],
        update: None,
        joined: vec![],
        looked_at: false,
        ami_type,
    };
    let mut type_of_template = None;
    if let Some(wanted) = input.get("launchTemplate").filter(|wanted| wanted.is_object()) {
        let template = find_template(world, region, wanted)?;
        if input.get("remoteAccess").is_some() {
            return Err(request("Remote access configuration cannot be specified with a launch template."));
        }
        judge::template(&group, &template)?;
        type_of_template = template.data.get("InstanceType").and_then(Value::as_str).map(str::to_owned);
        group.template = Some((template.id, template.name, template.number));
    } else if custom {
        return Err(parameter("A launch template with an image id is required when amiType is CUSTOM."));
    } else if group.capacity_type == "CAPACITY_BLOCK" {
        return Err(parameter("A launch template is required when capacityType is CAPACITY_BLOCK."));
    }
    if group.instance_types.is_empty() && type_of_template.is_none() {
        group.instance_types.push("t3.medium".to_owned());
    }
    judge::types(&group, type_of_template.as_deref())?;
    judge::sizes(world, (group.min, group.max, group.desired))?;
    judge::labels(&group)?;
    judge::taints(&group)?;
    judge::update_config(&group.update_config)?;
    judge::subnets(world, region, &group, home)?;
    Ok(group)
}

/// The template version that a call names.
pub(super) fn find_template(
    world: &World,
    region: &str,
    wanted: &Value,
) -> Result<crate::sandbox::world::compute::TemplateVersion, Fault> {
    let of = |name: &str| wanted.get(name).and_then(Value::as_str);
    let found = world.machines(region).template_version(of("id"), of("name"), of("version"));
    found.map_err(|fault| match fault.code.as_str() {
        "InvalidParameterCombination" | "MissingParameter" => {
            parameter("Exactly one of launch template id and name must be specified.")
        }
        _ => parameter(format!("Launch template details can't be found: {}", fault.message)),
    })
}

pub(super) fn string_map(value: Option<&Value>) -> BTreeMap<String, String> {
    let all = value.and_then(Value::as_object).into_iter().flatten();
    all.map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_owned())).collect()
}

pub(super) fn taints(value: Option<&Value>) -> Vec<(String, Option<String>, String)> {
    let all = value.and_then(Value::as_array).into_iter().flatten();
    let text = |taint: &Value, name: &str| taint.get(name).and_then(Value::as_str).map(str::to_owned);
    all.map(|taint| {
        (
            text(taint, "key").unwrap_or_default(),
            text(taint, "value").filter(|value| !value.is_empty()),
            text(taint, "effect").unwrap_or_default(),
        )
    })
    .collect()
}

/// As EKS fills it in.
pub(super) fn update_config(value: Option<&Value>) -> Value {
    let mut config = value.cloned().unwrap_or_else(|| json!({}));
    if config.get("maxUnavailable").is_none() && config.get("maxUnavailablePercentage").is_none() {
        config["maxUnavailable"] = json!(1);
    }
    if config.get("updateStrategy").is_none() {
        config["updateStrategy"] = json!("DEFAULT");
    }
    config
}

pub(super) fn view(world: &World, named: &Named, group: &Nodegroup) -> Value {
    let asg = group.asg.as_ref().and_then(|name| world.scaling_group(&named.region, name));
    let (min, max, desired) = asg.map_or((group.min, group.max, group.desired), |asg| (asg.min, asg.max, asg.desired));
    let taints =
        group.taints.iter().map(|(key, value, effect)| json!({ "key": key, "value": value, "effect": effect }));
    let template = group
        .template
        .as_ref()
        .map(|(id, name, version)| json!({ "id": id, "name": name, "version": version.to_string() }));
    let mut issues = group.issues.clone();
    issues.extend(life::trouble(world, named, group).into_iter().filter(|trouble| !group.issues.contains(trouble)));
    json!({
        "nodegroupName": named.name,
        "nodegroupArn": group.arn,
        "clusterName": named.cluster,
        "version": group.version,
        "releaseVersion": group.release,
        "createdAt": group.created as f64 / 1000.0,
        "modifiedAt": group.modified as f64 / 1000.0,
        "status": group.status,
        "capacityType": group.capacity_type,
        "scalingConfig": { "minSize": min, "maxSize": max, "desiredSize": desired },
        "instanceTypes": (!group.instance_types.is_empty()).then_some(&group.instance_types),
        "subnets": group.subnets,
        "amiType": group.ami_type,
        "nodeRole": group.role,
        "labels": group.labels,
        "taints": (!group.taints.is_empty()).then(|| taints.collect::<Vec<_>>()),
        "resources": { "autoScalingGroups": group.asg.iter().map(|name| json!({ "name": name })).collect::<Vec<_>>() },
        "diskSize": group.template.is_none().then(|| group.disk_size.unwrap_or(20)),
        "health": { "issues": issues.iter().map(Issue::view).collect::<Vec<_>>() },
        "updateConfig": group.update_config,
        "nodeRepairConfig": group.repair,
        "launchTemplate": template,
        "tags": group.tags,
    })
}

pub(in crate::sandbox::world::eks) fn read(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let named = named(context)?;
    let group = found(world, &named)?;
    Ok(json!({ "nodegroup": view(world, &named, group) }).into())
}

pub(in crate::sandbox::world::eks) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let cluster = context.required("clusterName")?;
    world.home(context.region, cluster)?;
    let groups = world.eks(context.region).groups.get(cluster).into_iter().flatten();
    let shown = groups.filter(|(_, group)| world.shows(group.created)).map(|(name, _)| name.clone()).collect();
    let most = context.number("maxResults").or(Some(100));
    let (names, next) = page(shown, context.text("nextToken"), most, "InvalidParameterException")?;
    Ok(json!({ "nodegroups": names, "nextToken": next }).into())
}

pub(in crate::sandbox::world::eks) fn delete(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let named = named(context)?;
    let group = found(world, &named)?;
    if group.status == "UPDATING" {
        let message = format!("Nodegroup {} can't be deleted: an update is in progress.", named.name);
        return Err(in_use(message));
    }
    if group.status != "DELETING" {
        let now = world.now;
        if let Some(group) = world.nodegroup_mut(&named) {
            group.status = "DELETING".to_owned();
            group.modified = now;
        }
        let whole = limits::deletion("node-group");
        world.nodegroup_later(whole * life::DRAINING, Deed::Drains(named.clone()));
        world.nodegroup_later(whole, Deed::Goes(named.clone()));
    }
    let group = found(world, &named)?;
    Ok(json!({ "nodegroup": view(world, &named, group) }).into())
}

/// Texts of a member of a member.
pub(super) fn below(value: &Value, name: &str) -> Vec<String> {
    texts(value.get(name))
}
