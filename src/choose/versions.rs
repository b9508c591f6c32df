//! Chooses versions: of the control plane, of add-ons, of AMIs. Must never go down, nor up by itself.

use crate::{
    catalog::{AmiOs, Catalog, Looked},
    choose::{Choice, ChooseError, Circumstances, Offer, addons::needed_addons, live::World},
    stack::{AmiFamily, NodeClass, Spec, SupportType, names},
};
use std::{cmp::Ordering, collections::BTreeMap};

/// Minor of `1.35`.
fn minor(version: &str) -> Option<u32> {
    version.strip_prefix("1.").and_then(|minor| minor.parse().ok())
}

/// Compares versions as people read them: `v1.9.2` is older than `v1.10.0`, `1.35.2-20261120` than `1.35.2-20261204`.
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    let numbers = |text: &str| -> Vec<u64> {
        text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
    };
    numbers(a).cmp(&numbers(b))
}

pub(super) fn cluster_version(
    spec: &Spec,
    catalog: &Catalog,
    world: &World<'_>,
    circumstances: &Circumstances,
    offers: &mut Vec<Offer>,
) -> Result<Choice<String>, ChooseError> {
    let live = world.cluster_version()?;
    if let Some(wanted) = &spec.cluster.version {
        let want = minor(wanted).ok_or_else(|| ChooseError::NoVersion(wanted.clone()))?;
        if let Some((live, has)) = live.and_then(|live| Some((live, minor(live)?))) {
            let (live, wanted) = (live.to_owned(), wanted.clone());
            if want < has {
                return Err(ChooseError::VersionDown { live, wanted });
            }
            if want > has + 1 {
                return Err(ChooseError::VersionSkips { live, wanted, next: format!("1.{}", has + 1) });
            }
        }
        return Ok(Choice::new(wanted.clone(), "the file says so"));
    }
    let (newest, why) = newest_version(spec, catalog, circumstances);
    let Some(live) = live else { return Ok(Choice::new(newest, why)) };
    if let (Some(has), Some(could)) = (minor(live), minor(&newest))
        && could > has
    {
        let next = format!("1.{}", has + 1);
        offers.push(Offer {
            subject: "cluster.version".to_owned(),
            current: live.to_owned(),
            newer: next.clone(),
            take: format!("cluster.version: \"{next}\""),
        });
    }
    Ok(Choice::new(live, "the live cluster has it"))
}

/// The version a new cluster gets.
pub(super) fn newest_version(spec: &Spec, catalog: &Catalog, circumstances: &Circumstances) -> (String, String) {
    let charts = catalog.newest_for_charts();
    let today = circumstances.now.get(..10).unwrap_or(&circumstances.now);
    let extended = spec.cluster.support_type == SupportType::Extended;
    let versions = catalog.cluster_versions().value;
    let admitted = versions.iter().filter(|known| minor(&known.version) <= minor(&charts.version));
    let supported =
        admitted.filter(|known| extended || known.end_of_standard_support.as_deref().is_none_or(|end| end >= today));
    match supported.max_by_key(|known| minor(&known.version)) {
        Some(known) => (
            known.version.clone(),
            format!("it is the newest in standard support that the pinned charts admit: {}", charts.why),
        ),
        None => (
            charts.version.clone(),
            format!(
                "it is the newest that the pinned charts admit, though its standard support has ended: {}",
                charts.why
            ),
        ),
    }
}

pub(super) fn addons(
    spec: &Spec,
    catalog: &Catalog,
    world: &World<'_>,
    cluster: &str,
    offers: &mut Vec<Offer>,
) -> Result<BTreeMap<String, Choice<String>>, ChooseError> {
    let upgrade = world.cluster_version()?.is_some_and(|live| live != cluster);
    let mut chosen = BTreeMap::new();
    for (name, needed) in needed_addons(spec, catalog) {
        let stated = spec.cluster.addons.get(&name).and_then(|addon| addon.version.clone());
        let live = world.text(&names::addon(&name), "/version");
        let choice = match (stated, live) {
            (Some(version), _) => Choice::new(version, "the file says so"),
            (None, Some(live)) => {
                let newest = known(catalog.addon_version(cluster, &name));
                match newest.filter(|newest| compare(newest, &live).is_gt()) {
                    Some(newest) if upgrade => Choice::new(
                        newest,
                        format!("it is EKS's default for Kubernetes {cluster}, where the cluster goes"),
                    ),
                    Some(newest) => {
                        offers.push(Offer {
                            subject: format!("addon {name}"),
                            current: live.clone(),
                            newer: newest.clone(),
                            take: format!("cluster.addons.{name}.version: \"{newest}\""),
                        });
                        Choice::new(live, "the live add-on has it")
                    }
                    None => Choice::new(live, "the live add-on has it"),
                }
            }
            (None, None) => match catalog.addon_version(cluster, &name) {
                Some(Ok(Some(version))) => {
                    Choice::new(version, format!("{needed}; EKS's default for Kubernetes {cluster}"))
                }
                Some(Ok(None)) => return Err(ChooseError::NoAddon { addon: name, version: cluster.to_owned() }),
                Some(Err(error)) => {
                    return Err(ChooseError::could_not_look(format!("the versions of add-on {name}"), &error));
                }
                None => return Err(ChooseError::NotAsked(format!("the version of add-on {name}"))),
            },
        };
        chosen.insert(name, choice);
    }
    Ok(chosen)
}

pub(super) fn ami_type(class: &NodeClass, catalog: &Catalog) -> Result<Choice<String>, ChooseError> {
    let (os, family) = match class.ami.family {
        AmiFamily::Al2023 => (AmiOs::Al2023, "al2023"),
        AmiFamily::Bottlerocket => (AmiOs::Bottlerocket, "bottlerocket"),
    };
    let mut found: BTreeMap<&str, &str> = BTreeMap::new();
    for name in &class.instance_types {
        let Some(known) = catalog.instance_type(name) else { continue };
        let ami = known.ami_type(os).ok_or_else(|| ChooseError::NoAmi {
            class: class.name.clone(),
            instance_type: name.clone(),
            family: family.to_owned(),
        })?;
        found.entry(ami).or_insert(name);
    }
    let types = class.instance_types.join(", ");
    match found.len() {
        0 => {
            let accelerated = super::is_accelerated(class, catalog);
            let ami = match (class.ami.family, accelerated) {
                (AmiFamily::Al2023, true) => "AL2023_x86_64_NVIDIA",
                (AmiFamily::Al2023, false) => "AL2023_x86_64_STANDARD",
                (AmiFamily::Bottlerocket, true) => "BOTTLEROCKET_x86_64_NVIDIA",
                (AmiFamily::Bottlerocket, false) => "BOTTLEROCKET_x86_64",
            };
            Ok(Choice::new(ami, format!("the catalogue does not know {types}, and most such types take it")))
        }
        1 => {
            let ami = found.keys().next().copied().unwrap_or_default();
            Ok(Choice::new(ami, format!("ami.family is {family} and the instance type is {types}")))
        }
        _ => Err(ChooseError::MixedAmi { class: class.name.clone(), types }),
    }
}

pub(super) fn ami_release(
    class: &NodeClass,
    ami_type: &str,
    catalog: &Catalog,
    world: &World<'_>,
    cluster: &str,
    offers: &mut Vec<Offer>,
) -> Choice<Option<String>> {
    if let Some(release) = &class.ami.release {
        return Choice::new(Some(release.clone()), "the file says so");
    }
    let newest = known(catalog.ami_release(cluster, ami_type));
    let Some(live) = world.ami_release(&class.name) else {
        return match newest {
            Some(newest) => Choice::new(Some(newest), format!("it is the newest for Kubernetes {cluster}")),
            None => Choice::new(None, "the newest is not known here: EKS takes it"),
        };
    };
    // `1.34.9-20261101` on a cluster that goes to 1.35: nodes follow their control plane.
    let behind = live.starts_with("1.") && !live.strip_prefix(cluster).is_some_and(|rest| rest.starts_with('.'));
    if behind && compare(&live, cluster).is_lt() {
        return match newest {
            Some(newest) => Choice::new(Some(newest), format!("the nodes follow the cluster to Kubernetes {cluster}")),
            None => {
                let why = format!("the nodes follow the cluster to Kubernetes {cluster}, whose newest EKS takes");
                Choice::new(None, why)
            }
        };
    }
    let Some(newer) = newest.filter(|newest| compare(newest, &live).is_gt()) else {
        return Choice::new(Some(live), "the live nodes have it");
    };
    offers.push(Offer {
        subject: format!("ami {}", class.name),
        current: live.clone(),
        newer: newer.clone(),
        take: format!("nodeClasses[{}].ami.release: {newer}", class.name),
    });
    Choice::new(Some(live), "the live nodes have it")
}

/// A newer version is only offered where AWS named one; that it could not be asked is preflight's to say.
fn known(looked: Looked<Option<String>>) -> Option<String> {
    looked.and_then(Result::ok).flatten()
}
