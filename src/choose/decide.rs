//! The decision itself. Must never ask a cloud or read a clock.

use crate::{
    catalog::Catalog,
    choose::{
        BroughtSubnets, Choice, Choices, ChooseError, Circumstances, ClassChoice, GroupChoice, is_accelerated,
        live::World,
        versions,
        zones::{Places, choose_zones, list},
    },
    cloud::SubnetFacts,
    contract::Class,
    model::{Identity, NEVER},
    observed::Snapshot,
    sizing::{Budget, Verdict, gigabytes},
    stack::{Efa, Expires, NatGateways, Network, NodeClass, Spec, WeightSource, fit, names},
};
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;

/// Decides what the file leaves open. Same input, same choices.
pub fn choose(
    spec: &Spec,
    snapshot: &Snapshot,
    catalog: &Catalog,
    circumstances: &Circumstances,
) -> Result<Choices, ChooseError> {
    let identity = &snapshot.scope.identity;
    let subnets = brought(spec, catalog)?;
    let zone_of = |ids: &[String]| -> BTreeMap<String, String> {
        ids.iter().filter_map(|id| Some((id.clone(), subnets.get(id)?.zone.clone()))).collect()
    };
    let world = World::new(snapshot, subnets.values().map(|s| (s.id.clone(), s.zone.clone())).collect());
    let zones_of = |ids: &[String]| {
        let mut zones: Vec<_> = zone_of(ids).into_values().collect();
        zones.sort();
        zones.dedup();
        zones
    };
    let by_zone = |ids: &[String]| {
        let mut by_zone = BTreeMap::<String, Vec<String>>::new();
        for id in ids {
            if let Some(subnet) = subnets.get(id) {
                by_zone.entry(subnet.zone.clone()).or_default().push(id.clone());
            }
        }
        by_zone
    };
    let (places_brought, brought) = match &spec.network {
        Network::Made { .. } => (None, BroughtSubnets::default()),
        Network::Brought { nodes, control_plane, load_balancers, .. } => (
            Some((zones_of(nodes), zones_of(control_plane))),
            BroughtSubnets {
                nodes: by_zone(nodes),
                control_plane: by_zone(control_plane),
                load_balancers: by_zone(load_balancers),
            },
        ),
    };
    let zones = choose_zones(&Places { spec, catalog, world: &world, brought: places_brought })?;
    let mut offers = vec![];
    let cluster_version = versions::cluster_version(spec, catalog, &world, circumstances, &mut offers)?;
    let addons = versions::addons(spec, catalog, &world, &cluster_version.value, &mut offers)?;
    let mut classes = BTreeMap::new();
    for class in &spec.node_classes {
        let zones = zones.classes.get(&class.name).cloned().unwrap_or_else(|| zones.network.clone());
        let ami_type = versions::ami_type(class, catalog)?;
        let ami_release =
            versions::ami_release(class, &ami_type.value, catalog, &world, &cluster_version.value, &mut offers);
        let groups = vec![GroupChoice { name: class.name.clone(), zones }];
        classes.insert(class.name.clone(), ClassChoice { groups, ami_type, ami_release, efa: efa(class, catalog) });
    }
    offers.extend(zones.offers);
    Ok(Choices {
        account: identity.account.clone(),
        callers: callers(spec, catalog, &world)?,
        nat_zone: nat_zone(spec, &world, &zones.network)?,
        file_system_zone: file_system_zone(spec, catalog, &world, &classes, &zones.network),
        zones: zones.network,
        control_plane_zones: zones.control_plane,
        brought,
        cluster_version,
        addons,
        public_cidrs: public_cidrs(spec, catalog, &world)?,
        expires: expires(spec, &world, circumstances)?,
        classes,
        bucket: bucket(spec, &world, identity),
        sizing: sizing(spec, catalog),
        offers,
    })
}

/// The subnets that the file brings along, by id.
fn brought(spec: &Spec, catalog: &Catalog) -> Result<BTreeMap<String, SubnetFacts>, ChooseError> {
    let Network::Brought { nodes, control_plane, load_balancers, .. } = &spec.network else {
        return Ok(BTreeMap::new());
    };
    let mut found = BTreeMap::new();
    for id in nodes.iter().chain(control_plane).chain(load_balancers) {
        match catalog.facts().subnets.get(id) {
            Some(Ok(Some(subnet))) => {
                found.insert(id.clone(), subnet.clone());
            }
            Some(Ok(None)) => return Err(ChooseError::NoSuchSubnet(id.clone(), spec.region.clone())),
            Some(Err(error)) if error.class == Class::NotFound => {
                return Err(ChooseError::NoSuchSubnet(id.clone(), spec.region.clone()));
            }
            Some(Err(source)) => {
                return Err(ChooseError::could_not_look(format!("subnet {id}"), source));
            }
            None => return Err(ChooseError::NotAsked(format!("subnet {id}"))),
        }
    }
    Ok(found)
}

/// EFA interfaces a node. All that the type has, as the class has one type with EFA; a count beyond it is preflight's to
/// refuse.
fn efa(class: &NodeClass, catalog: &Catalog) -> u32 {
    let of_type = |name: &String| catalog.instance_type(name).map(|known| known.efa_max);
    match class.efa {
        Efa::None => 0,
        Efa::Count(n) => n,
        Efa::All => class.instance_types.iter().filter_map(of_type).max().unwrap_or(0),
    }
}

fn callers(spec: &Spec, catalog: &Catalog, world: &World<'_>) -> Result<Choice<Vec<String>>, ChooseError> {
    let entries = world.entries();
    let mut callers: Vec<String> =
        entries.iter().filter(|entry| entry.of_caller).map(|e| e.principal.clone()).collect();
    callers.sort_unstable();
    callers.dedup();
    let who = match &catalog.facts().caller {
        Some(Ok(caller)) => Some(&caller.principal),
        // Who made the cluster gets in; a later run needs no further entry to go on.
        _ if !callers.is_empty() => None,
        Some(Err(source)) => {
            return Err(ChooseError::could_not_look("who runs this", source));
        }
        None => return Err(ChooseError::NotAsked("who runs this".to_owned())),
    };
    let had = !callers.is_empty();
    let stated = |principal: &String| spec.cluster.access.iter().any(|access| access.principal == *principal);
    let new = who.filter(|who| !stated(who) && !entries.iter().any(|entry| entry.principal == **who));
    callers.extend(new.cloned());
    let because = match (had, new) {
        (true, Some(who)) => format!("the live cluster admits them, and {who} runs this"),
        (true, None) => "the live cluster admits them".to_owned(),
        (false, Some(_)) => "it runs this".to_owned(),
        (false, None) => "who runs this has an entry of its own".to_owned(),
    };
    Ok(Choice::new(callers, because))
}

/// The word of `publicCidrs` that stands for this machine's address.
const CALLER: &str = "caller";

fn public_cidrs(spec: &Spec, catalog: &Catalog, world: &World<'_>) -> Result<Choice<Vec<String>>, ChooseError> {
    let endpoint = &spec.cluster.endpoint;
    if !endpoint.public {
        return Ok(Choice::new(vec![], "the endpoint is not public"));
    }
    let stated: Vec<String> = endpoint.public_cidrs.iter().filter(|cidr| *cidr != CALLER).cloned().collect();
    if stated.len() == endpoint.public_cidrs.len() {
        return Ok(Choice::new(stated, "the file says so"));
    }
    // Whoever made the cluster may reach it; others are added, nobody is taken away.
    let live = world.public_cidrs().filter(|live| !live.is_empty());
    let own = match (&catalog.facts().caller_address, &live) {
        (Some(Ok(address)), _) => Some(host_cidr(address)),
        (_, Some(_)) => None,
        (Some(Err(source)), None) => {
            let what = "this machine's public address (write `cluster.endpoint.publicCidrs` instead)";
            return Err(ChooseError::could_not_look(what, source));
        }
        (None, None) => return Err(ChooseError::NotAsked("this machine's public address".to_owned())),
    };
    let had = live.is_some();
    let mut cidrs = live.unwrap_or_default();
    for cidr in stated.into_iter().chain(own.clone()) {
        if !covered(&cidr, &cidrs) {
            cidrs.push(cidr);
        }
    }
    let because = match (had, own) {
        (true, Some(own)) => format!("the live endpoint has them, and {own} is this machine's address"),
        (true, None) => "the live endpoint has them".to_owned(),
        (false, _) => "it is this machine's address".to_owned(),
    };
    Ok(Choice::new(cidrs, because))
}

fn host_cidr(address: &str) -> String {
    match (address.contains('/'), address.contains(':')) {
        (true, _) => address.to_owned(),
        (_, true) => format!("{address}/128"),
        _ => format!("{address}/32"),
    }
}

/// True where a block of the list holds the whole of `cidr`.
fn covered(cidr: &str, list: &[String]) -> bool {
    let net = |text: &str| text.parse::<ipnet::IpNet>().ok();
    list.iter().any(|have| have == cidr || matches!((net(have), net(cidr)), (Some(a), Some(b)) if a.contains(&b)))
}

fn expires(spec: &Spec, world: &World<'_>, circumstances: &Circumstances) -> Result<Choice<String>, ChooseError> {
    let time = |text: &str| text.parse::<Timestamp>().map_err(|_| ChooseError::NoTime(text.to_owned()));
    match &spec.expires {
        Expires::Never => Ok(Choice::new(NEVER, "the file says so")),
        Expires::At(at) => Ok(Choice::new(time(at)?.to_string(), "the file says so")),
        Expires::After(seconds) => {
            if let Some(live) = world.expires().filter(|live| *live != NEVER) {
                return Ok(Choice::new(live, "the live stack carries it; `infer-stack extend` moves it"));
            }
            let seconds = i64::try_from(*seconds).unwrap_or(i64::MAX);
            let end = time(&circumstances.now)?.saturating_add(SignedDuration::from_secs(seconds));
            let end = end.unwrap_or(Timestamp::MAX);
            Ok(Choice::new(end.to_string(), format!("{} after this first up", hours(seconds))))
        }
    }
}

fn hours(seconds: i64) -> String {
    match (seconds % 3600, seconds % 60) {
        (0, _) => format!("{}h", seconds / 3600),
        (_, 0) => format!("{}m", seconds / 60),
        _ => format!("{seconds}s"),
    }
}

fn bucket(spec: &Spec, world: &World<'_>, identity: &Identity) -> Option<Choice<String>> {
    let bucket = spec.weights.as_ref()?.bucket.as_ref()?;
    if let Some(name) = &bucket.name {
        return Some(Choice::new(name, "the file says so"));
    }
    if let Some(live) = world.id(&names::weights_bucket()) {
        return Some(Choice::new(live, "the live bucket is there"));
    }
    let derived = names::weights_bucket_name(identity);
    Some(Choice::new(derived, "the file names none: it is of the stack's name, account and region"))
}

/// A gateway that moves is made again and cuts off every node meanwhile, so a new zone that sorts first does not move it.
fn nat_zone(
    spec: &Spec,
    world: &World<'_>,
    network: &Choice<Vec<String>>,
) -> Result<Option<Choice<String>>, ChooseError> {
    let Network::Made { nat_gateways: NatGateways::One, .. } = spec.network else { return Ok(None) };
    world.seen("nat-gateway", "the live NAT gateway")?;
    Ok(match world.zones_of(&names::nat_gateway("main")).as_slice() {
        [live] if network.value.contains(live) => Some(Choice::new(live, "the live gateway is there")),
        _ => network.value.first().map(|zone| Choice::new(zone, "it is the first zone of the network")),
    })
}

fn file_system_zone(
    spec: &Spec,
    catalog: &Catalog,
    world: &World<'_>,
    classes: &BTreeMap<String, ClassChoice>,
    network: &Choice<Vec<String>>,
) -> Option<Choice<String>> {
    spec.weights.as_ref().filter(|weights| weights.source == WeightSource::Fsx)?;
    if let [live] = world.zones_of(&names::file_system()).as_slice() {
        return Some(Choice::new(live, "the live file system is there"));
    }
    let reader = match &spec.serving {
        Some(serving) => spec.node_classes.iter().find(|class| class.name == serving.node_class),
        None => spec.node_classes.iter().find(|class| is_accelerated(class, catalog)),
    };
    let near = reader.and_then(|class| {
        let zones = &classes.get(&class.name)?.groups.first()?.zones.value;
        Some((zones.first()?, &class.name, zones))
    });
    match near {
        Some((zone, class, zones)) if zones.len() == 1 => {
            Some(Choice::new(zone, format!("the nodes of class {class} are there")))
        }
        Some((zone, class, zones)) => {
            Some(Choice::new(zone, format!("it is the first of {}, where the nodes of class {class} are", list(zones))))
        }
        None => network.value.first().map(|zone| Choice::new(zone, "it is the first zone of the network")),
    }
}

fn sizing(spec: &Spec, catalog: &Catalog) -> Option<Choice<Budget>> {
    let serving = spec.serving.as_ref()?;
    let class = spec.node_classes.iter().find(|class| class.name == serving.node_class)?;
    let budget = fit::budget(catalog, serving, class)?;
    let because = match &budget.verdict {
        Verdict::Fits => format!(
            "{} of weights and {} of overhead leave {} of KV cache, {} conversations of {} tokens",
            gigabytes(budget.weights_bytes),
            gigabytes(budget.overhead_bytes),
            gigabytes(budget.kv_budget_bytes),
            budget.sequences,
            thousands(serving.max_model_len),
        ),
        other => other.to_string(),
    };
    Some(Choice::new(budget, because))
}

/// `8,192`
fn thousands(n: u32) -> String {
    let digits = n.to_string();
    let head = digits.len() % 3;
    let (first, rest) = digits.split_at(head);
    let rest = rest.as_bytes().chunks(3).map(|three| String::from_utf8_lossy(three).into_owned());
    let groups: Vec<String> =
        Some(first.to_owned()).filter(|first| !first.is_empty()).into_iter().chain(rest).collect();
    groups.join(",")
}
