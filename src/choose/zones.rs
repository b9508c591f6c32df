//! Chooses where things are: zones of the network, of the control plane, of every node class. Must never move what lives
//! because another zone has become as good.

use crate::{
    catalog::{Catalog, Source},
    choose::{Choice, ChooseError, Offer, addons::is_accelerated, live::World},
    contract::Class,
    stack::{Capacity, Efa, Network, NodeClass, PlacementStrategy, Provisioner, Spec, names},
};
use std::collections::{BTreeMap, BTreeSet};

/// Control-plane subnets must be in this many zones at least (EKS user guide, network requirements).
const CONTROL_PLANE_ZONES: usize = 2;

pub(super) struct Zones {
    pub network: Choice<Vec<String>>,
    pub control_plane: Choice<Vec<String>>,
    pub classes: BTreeMap<String, Choice<Vec<String>>>,
    pub offers: Vec<Offer>,
}

/// What a zone is chosen from.
pub(super) struct Places<'a> {
    pub spec: &'a Spec,
    pub catalog: &'a Catalog,
    pub world: &'a World<'a>,
    /// Zones of the node and control-plane subnets brought along; `None` for a network made here.
    pub brought: Option<(Vec<String>, Vec<String>)>,
}

/// Where the zones to choose from come from.
enum Base {
    /// The file names them, or the subnets it brings along are there: none can be added.
    Closed(Vec<String>, String),
    /// The live network's.
    Live(Vec<String>),
    Fresh,
}

pub(super) fn choose_zones(places: &Places<'_>) -> Result<Zones, ChooseError> {
    let base = match (&places.spec.network, &places.brought) {
        (Network::Made { zones: Some(zones), .. }, _) => Base::Closed(zones.clone(), "the file says so".to_owned()),
        (_, Some((nodes, _))) => Base::Closed(nodes.clone(), "the subnets brought along are there".to_owned()),
        _ => match places.world.network_zones()? {
            live if live.is_empty() || places.is_half_made(&live) => Base::Fresh,
            live => Base::Live(live),
        },
    };
    let (network, scarce) = places.network(&base, true)?;
    let control_plane = places.control_plane(&network.value)?;
    let classes: BTreeMap<_, _> = places
        .spec
        .node_classes
        .iter()
        .map(|class| {
            let zones = match scarce.get(&class.name) {
                Some(zone) => zone.clone(),
                None => places.spread(class, &network.value),
            };
            (class.name.clone(), zones)
        })
        .collect();
    let offers = places.offers(&base, &network, &classes)?;
    Ok(Zones { network, control_plane, classes, offers })
}

impl Places<'_> {
    /// True for a network of ours that an earlier run began and did not finish: nothing stands on it yet, and every zone that
    /// it has is one that would be chosen anew. It is completed as it was meant, in the same order.
    fn is_half_made(&self, live: &[String]) -> bool {
        let stands_alone = self.world.zones_of(&names::cluster()).is_empty();
        // Where nothing can be chosen anew, what lives is all there is to go by.
        let meant = || self.network(&Base::Fresh, true).ok();
        stands_alone && meant().is_some_and(|(meant, _)| live.iter().all(|zone| meant.value.contains(zone)))
    }

    /// Zones of the network, and the zone of every class that is in one.
    fn network(&self, base: &Base, keep: bool) -> Result<(Choice<Vec<String>>, Classes), ChooseError> {
        let (mut zones, closed) = match base {
            Base::Closed(zones, _) => (zones.clone(), true),
            Base::Live(zones) => (zones.clone(), false),
            Base::Fresh => (vec![], false),
        };
        let candidates = if closed { zones.clone() } else { self.region_zones()? };
        let mut classes = Classes::new();
        let mut added = vec![];
        for class in self.spec.node_classes.iter().filter(|class| self.in_one_zone(class)) {
            let choice = match self.fixed(class)? {
                Some(choice) => choice,
                None => match keep.then(|| self.live_zone(class, closed.then_some(&zones))).flatten() {
                    Some(choice) => choice,
                    None => self.pick(class, &candidates, &zones),
                },
            };
            for zone in &choice.value {
                if closed && !zones.contains(zone) {
                    let (class, zone) = (class.name.clone(), zone.clone());
                    return Err(ChooseError::OutsideNetwork { class, zone, zones: list(&zones) });
                }
                if !zones.contains(zone) {
                    zones.push(zone.clone());
                    added.push(format!("{zone} for node class {}", class.name));
                }
            }
            classes.insert(class.name.clone(), choice);
        }
        let because = match base {
            Base::Closed(_, why) => why.clone(),
            Base::Live(_) => {
                added.extend(self.fill(&mut zones, &candidates)?);
                match added.as_slice() {
                    [] => "the live network is there".to_owned(),
                    added => format!("the live network is there, and {}", added.join(", ")),
                }
            }
            Base::Fresh => {
                added.extend(self.fill(&mut zones, &candidates)?);
                // In order, so that a network made twice from the same file is the same.
                zones.sort();
                added.join(", ")
            }
        };
        Ok((Choice::new(zones, because), classes))
    }

    /// Adds zones until the control plane has enough.
    fn fill(&self, zones: &mut Vec<String>, candidates: &[String]) -> Result<Vec<String>, ChooseError> {
        let mut free: Vec<&String> =
            candidates.iter().filter(|zone| self.takes_control_plane(zone) && !zones.contains(zone)).collect();
        let general: Vec<&NodeClass> = self.spec.node_classes.iter().filter(|class| !self.in_one_zone(class)).collect();
        free.sort_by_key(|zone| {
            let lacking = general.iter().filter(|class| self.offered(class, zone) == Some(false)).count();
            (lacking, zone.as_str())
        });
        let mut free = free.into_iter();
        let mut added = vec![];
        while zones.iter().filter(|zone| self.takes_control_plane(zone)).count() < CONTROL_PLANE_ZONES {
            let Some(zone) = free.next() else { return Err(self.too_few(candidates)) };
            zones.push(zone.clone());
            added.push(format!("{zone} as the control plane needs two"));
        }
        Ok(added)
    }

    fn control_plane(&self, network: &[String]) -> Result<Choice<Vec<String>>, ChooseError> {
        let (have, why) = match &self.brought {
            Some((_, control_plane)) => (control_plane.clone(), "the control plane's subnets brought along are there"),
            None => (network.to_vec(), "they are the zones of the network that EKS takes"),
        };
        let live = self.world.zones_of(&names::cluster());
        if live.len() >= CONTROL_PLANE_ZONES && live.iter().all(|zone| have.contains(zone)) {
            return Ok(Choice::new(live, "the live control plane is there, and EKS freezes its zones"));
        }
        let takes: Vec<_> = have.iter().filter(|zone| self.takes_control_plane(zone)).cloned().collect();
        if takes.len() < CONTROL_PLANE_ZONES {
            return Err(self.too_few(&have));
        }
        Ok(Choice::new(takes, why))
    }

    fn too_few(&self, have: &[String]) -> ChooseError {
        let takes: Vec<_> = have.iter().filter(|zone| self.takes_control_plane(zone)).cloned().collect();
        ChooseError::TooFewZones { have: list(have), takes: list(&takes) }
    }

    /// True for a class whose nodes are all in one zone: the file says which, a placement group or reservation is in one,
    /// EFA does not reach across zones, and a managed group of a scarce type fails as a whole where one of its zones has
    /// none. Karpenter tries zones by itself, so its classes without EFA may be anywhere.
    fn in_one_zone(&self, class: &NodeClass) -> bool {
        let clustered = class.placement_group.as_ref().is_some_and(|name| {
            self.spec
                .placement_groups
                .iter()
                .any(|group| group.name == *name && group.strategy == PlacementStrategy::Cluster)
        });
        let reserved = matches!(class.capacity, Capacity::Reservation(_) | Capacity::CapacityBlock(_));
        let accelerated = is_accelerated(class, self.catalog)
            && (class.provisioner == Provisioner::Managed || class.efa != Efa::None);
        class.zone.is_some() || clustered || reserved || accelerated
    }

    /// The zone that is not ours to choose.
    fn fixed(&self, class: &NodeClass) -> Result<Option<Choice<Vec<String>>>, ChooseError> {
        if let Some(zone) = &class.zone {
            return Ok(Some(Choice::new(vec![zone.clone()], "the file says so")));
        }
        let (Capacity::Reservation(id) | Capacity::CapacityBlock(id)) = &class.capacity else { return Ok(None) };
        match self.catalog.facts().reservations.get(id) {
            Some(Ok(Some(reservation))) => {
                Ok(Some(Choice::new(vec![reservation.zone.clone()], format!("{id} is there"))))
            }
            Some(Err(error)) if error.class != Class::NotFound => {
                Err(ChooseError::could_not_look(format!("reservation {id}"), error))
            }
            // That there is none is preflight's to say; until then the class goes where its type is offered.
            Some(_) | None => Ok(None),
        }
    }

    fn live_zone(&self, class: &NodeClass, closed: Option<&Vec<String>>) -> Option<Choice<Vec<String>>> {
        let live = self.world.zones_of(&names::node_group(&class.name));
        let [zone] = live.as_slice() else { return None };
        let kept = closed.is_none_or(|zones| zones.contains(zone)) && self.offered(class, zone) != Some(false);
        kept.then(|| Choice::new(vec![zone.clone()], "the live node group is there"))
    }

    /// The best zone for a class: in the network already, taken by the control plane (file systems and endpoints are at
    /// home there), shared with most other such classes, first by name.
    fn pick(&self, class: &NodeClass, candidates: &[String], network: &[String]) -> Choice<Vec<String>> {
        let scarce: Vec<_> = self.spec.node_classes.iter().filter(|class| self.in_one_zone(class)).collect();
        let best = candidates.iter().min_by_key(|zone| {
            let sharing = scarce.iter().filter(|other| self.offered(other, zone) == Some(true)).count();
            (
                self.offered(class, zone) == Some(false),
                !network.contains(zone),
                !self.takes_control_plane(zone),
                std::cmp::Reverse(sharing),
                zone.as_str(),
            )
        });
        let Some(zone) = best else { return Choice::new(vec![], "there is no zone to choose from") };
        let types = class.instance_types.join(" or ");
        let offered = match self.offered(class, zone) {
            Some(true) => format!("{types} is offered there"),
            Some(false) => format!("{types} is offered in no zone of the network"),
            None => format!("where {types} is offered is not known"),
        };
        let control_plane = if self.takes_control_plane(zone) { "takes" } else { "refuses" };
        Choice::new(vec![zone.clone()], format!("{offered} and the control plane {control_plane} it"))
    }

    /// Every zone of the network that offers a class without scarcity.
    fn spread(&self, class: &NodeClass, network: &[String]) -> Choice<Vec<String>> {
        let live = self.world.zones_of(&names::node_group(&class.name));
        if !live.is_empty() && live.iter().all(|zone| network.contains(zone)) {
            return Choice::new(live, "the live node group is there");
        }
        let offering: Vec<_> =
            network.iter().filter(|zone| self.offered(class, zone) != Some(false)).cloned().collect();
        let types = class.instance_types.join(" or ");
        match offering.len() {
            0 => Choice::new(network.to_vec(), format!("{types} is offered in no zone of the network")),
            n if n == network.len() => Choice::new(offering, "they are the zones of the network"),
            _ => Choice::new(offering, format!("{types} is offered in these zones of the network")),
        }
    }

    /// What would be chosen today, where it differs from what lives.
    fn offers(
        &self,
        base: &Base,
        network: &Choice<Vec<String>>,
        classes: &BTreeMap<String, Choice<Vec<String>>>,
    ) -> Result<Vec<Offer>, ChooseError> {
        let mut offers = vec![];
        let (today, scarce) = match base {
            Base::Live(_) => self.network(&Base::Fresh, false)?,
            Base::Closed(..) => self.network(base, false)?,
            Base::Fresh => return Ok(offers),
        };
        let set = |zones: &[String]| zones.iter().cloned().collect::<BTreeSet<_>>();
        if set(&today.value) != set(&network.value) {
            offers.push(Offer {
                subject: "network.zones".to_owned(),
                current: list(&network.value),
                newer: list(&today.value),
                take: format!("network.zones: [{}]", list(&today.value)),
            });
        }
        for (name, choice) in &scarce {
            let Some(now) = classes.get(name).filter(|now| now.value != choice.value) else { continue };
            offers.push(Offer {
                subject: format!("zone {name}"),
                current: list(&now.value),
                newer: list(&choice.value),
                take: format!("nodeClasses[{name}].zone: {}", list(&choice.value)),
            });
        }
        Ok(offers)
    }

    /// `None`: not known. A class is offered where one of its types is.
    fn offered(&self, class: &NodeClass, zone: &str) -> Option<bool> {
        let mut all_known = true;
        for name in &class.instance_types {
            match self.catalog.offered_zones(name, &self.spec.region).value {
                Some(zones) if zones.iter().any(|z| z == zone) => return Some(true),
                Some(_) => {}
                None => all_known = false,
            }
        }
        all_known.then_some(false)
    }

    fn takes_control_plane(&self, zone: &str) -> bool {
        !self.catalog.refused_control_plane_zones().iter().any(|refused| refused == zone)
    }

    fn region_zones(&self) -> Result<Vec<String>, ChooseError> {
        let known = self.catalog.zones(&self.spec.region);
        match (known.value, known.source) {
            (Some(mut zones), _) if !zones.is_empty() => {
                zones.sort();
                Ok(zones)
            }
            (_, Source::CompiledAfter(error)) => {
                Err(ChooseError::could_not_look(format!("the zones of {}", self.spec.region), &error))
            }
            _ => Err(ChooseError::NoZones(self.spec.region.clone())),
        }
    }
}

type Classes = BTreeMap<String, Choice<Vec<String>>>;

pub(super) fn list(items: &[String]) -> String {
    items.join(", ")
}
