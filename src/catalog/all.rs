//! The one place that answers from live facts where they were looked at, else from compiled ones. Must never mix them
//! silently: what can come from either says which.

use super::{
    efa,
    eks::{Eks, NewestForCharts},
    facts::{Facts, Looked},
    instance::InstanceType,
    model::ModelShape,
    price::{Price, PriceList},
    quota::{self, Quota, VcpuQuota},
    timing::Timing,
    vllm::Vllm,
};
use crate::{
    catalog::Interface,
    cloud::ClusterVersion,
    contract::{CloudError, Purchase},
};
use serde::{Deserialize, de::DeserializeOwned};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

/// Facts compiled in, with live ones laid over them. Cheap to make and to clone but for the facts.
#[derive(Clone, Debug)]
pub struct Catalog {
    compiled: &'static Compiled,
    facts: Facts,
}

/// A value with where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Known<T> {
    pub value: T,
    pub source: Source,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// The account said so in this run.
    Live,
    /// Compiled in; nobody looked.
    Compiled,
    /// Compiled in, because the look failed.
    CompiledAfter(CloudError),
}

impl<T> Known<T> {
    fn of<L>(live: Looked<L>, from_live: impl FnOnce(L) -> T, compiled: impl FnOnce() -> T) -> Self {
        match live {
            Some(Ok(live)) => Self { value: from_live(live), source: Source::Live },
            Some(Err(error)) => Self { value: compiled(), source: Source::CompiledAfter(error) },
            None => Self { value: compiled(), source: Source::Compiled },
        }
    }
}

impl Catalog {
    pub fn compiled() -> Self {
        Self::with(Facts::default())
    }

    pub fn with(facts: Facts) -> Self {
        Self { compiled: &COMPILED, facts }
    }

    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    pub fn instance_type(&self, name: &str) -> Option<&'static InstanceType> {
        self.compiled.instance_types.get(name)
    }

    /// Every known type, by name.
    pub fn instance_types(&self) -> impl Iterator<Item = &'static InstanceType> {
        self.compiled.instance_types.values()
    }

    /// The known type whose name is closest to a misspelt one; `None` where none is close.
    pub fn nearest(&self, name: &str) -> Option<&'static str> {
        closest(name, self.compiled.instance_types.keys())
    }

    /// The type of a family (`g5`) with the fewest vCPUs that has EFA.
    pub fn smallest_with_efa_in_family(&self, family: &str) -> Option<&'static InstanceType> {
        let with_efa = self.instance_types().filter(|t| t.family() == family && t.efa_max > 0);
        with_efa.min_by_key(|t| (t.vcpus, t.name.as_str()))
    }

    /// Interfaces of a node with `count` EFA interfaces, `None` for all the type has. Answers `None` where the type has
    /// fewer, no EFA at all (but for 0, a plain primary), or is not known.
    pub fn efa_layout(&self, instance_type: &str, count: Option<u32>) -> Option<Vec<Interface>> {
        let by_table = self.compiled.layouts.get(instance_type).map(|row| row.interfaces.clone());
        let known = self.instance_type(instance_type);
        let plain = vec![Interface { card: 0, device: 0, kind: super::InterfaceKind::Ena }];
        let full = by_table.or_else(|| known.and_then(efa::by_rule));
        match (full, count) {
            (Some(layout), Some(count)) => efa::first(&layout, count),
            (Some(layout), None) => Some(layout),
            (None, Some(0)) if known.is_some() => Some(plain),
            (None, _) => None,
        }
    }

    /// ENA interfaces that can be added to the layout for more IP bandwidth; empty where none is known.
    pub fn extra_ena(&self, instance_type: &str) -> &'static [Interface] {
        self.compiled.layouts.get(instance_type).map_or(&[], |row| row.extra_ena.as_slice())
    }

    /// Zone ids of a region that offer a type; empty: not offered; `None`: not known.
    pub fn offered_zones(&self, instance_type: &str, region: &str) -> Known<Option<Vec<String>>> {
        Known::of(self.facts.offerings.get(instance_type).cloned(), Some, || {
            let known = self.instance_type(instance_type)?;
            match known.zones.get(region) {
                Some(zones) => Some(zones.clone()),
                // A region that no list names may be younger than the lists.
                None if !self.compiled.regions.contains(region) => None,
                None if known.regions.as_ref().is_some_and(|all| !all.iter().any(|r| r == region)) => Some(vec![]),
                None => None,
            }
        })
    }

    /// Zone ids of a region; `None`: not known.
    pub fn zones(&self, region: &str) -> Known<Option<Vec<String>>> {
        Known::of(
            self.facts.zones.clone(),
            |zones| Some(zones.into_iter().map(|zone| zone.id).collect()),
            || self.compiled.zones.get(region).map(|zones| zones.iter().cloned().collect()),
        )
    }

    /// Regions that the compiled data knows something of.
    pub fn regions(&self) -> &'static BTreeSet<String> {
        &self.compiled.regions
    }

    /// Zone ids that EKS refuses for the control plane, of all regions.
    pub fn refused_control_plane_zones(&self) -> &'static [String] {
        &self.compiled.eks.refused_control_plane_zones
    }

    pub fn quotas(&self) -> &'static [Quota] {
        &self.compiled.quotas
    }

    /// The vCPU quota that instances of a type draw on, also of types that the catalogue does not know.
    pub fn vcpu_quota(&self, instance_type: &str, purchase: Purchase) -> VcpuQuota<'static> {
        if matches!(purchase, Purchase::Reservation | Purchase::CapacityBlock) {
            return VcpuQuota::NotNeeded;
        }
        let code = self.instance_type(instance_type).and_then(|known| match purchase {
            Purchase::Spot => known.spot_quota.as_deref(),
            _ => known.on_demand_quota.as_deref(),
        });
        let quota = match code {
            Some(code) => self.quota(code),
            None => quota::by_prefix(&self.compiled.quotas, instance_type, purchase),
        };
        quota.map_or(VcpuQuota::Unknown, VcpuQuota::Of)
    }

    pub fn quota(&self, code: &str) -> Option<&'static Quota> {
        self.compiled.quotas.iter().find(|quota| quota.code.as_deref() == Some(code))
    }

    /// The quota of what [`crate::contract::Demand::Count`] calls `of`.
    pub fn count_quota(&self, of: &str) -> Option<&'static Quota> {
        self.compiled.quotas.iter().find(|quota| quota.counts.as_deref() == Some(of))
    }

    /// The account's limit where it was looked at, else the default of a new account; `None`: not known.
    pub fn limit(&self, quota: &Quota) -> Known<Option<f64>> {
        let live = quota.code.as_ref().and_then(|code| self.facts.quotas.get(code)).cloned();
        Known::of(live, |live| Some(live.value), || quota.default)
    }

    /// A model by its name on the hub, in any case.
    pub fn model(&self, id: &str) -> Option<&'static ModelShape> {
        self.compiled.models.iter().find(|model| model.id.eq_ignore_ascii_case(id))
    }

    pub fn models(&self) -> &'static [ModelShape] {
        &self.compiled.models
    }

    /// The known model whose name is closest to a misspelt one; `None` where none is close.
    pub fn nearest_model(&self, id: &str) -> Option<&'static str> {
        closest(id, self.compiled.models.iter().map(|model| &model.id))
    }

    /// Flags that `vllm serve` of an image reads, `--max-num-seqs`; `None` where its tag names no version whose flags are
    /// known.
    pub fn engine_flags(&self, image: &str) -> Option<&'static BTreeSet<String>> {
        self.compiled.vllm.flags(super::vllm::minor_of(image)?)
    }

    /// Price of a unit of [`crate::contract::Demand::Billed`]; `None`: not known.
    pub fn price(&self, unit: &str, region: &str) -> Option<Price> {
        self.compiled.prices.unit(unit, region)
    }

    /// Dollars an hour of an instance; `None`: not known. Spot has no list price, and a capacity block is paid up front
    /// at the price of its offering.
    pub fn instance_price(&self, instance_type: &str, purchase: Purchase, region: &str) -> Option<Price> {
        match purchase {
            Purchase::OnDemand | Purchase::Reservation => self.compiled.prices.instance(instance_type, region),
            Purchase::Spot | Purchase::CapacityBlock => None,
        }
    }

    /// How long AWS takes over objects of a kind (`cluster`, `nat-gateway`, …: [`crate::contract::Kind::NAME`]).
    pub fn timing(&self, kind: &str) -> Option<&'static Timing> {
        self.compiled.timings.get(kind)
    }

    /// Kubernetes versions that EKS offers, oldest first.
    pub fn cluster_versions(&self) -> Known<Vec<ClusterVersion>> {
        let mut known = Known::of(
            self.facts.cluster_versions.clone(),
            |versions| versions,
            || self.compiled.eks.versions.iter().map(super::eks::VersionRow::read).collect(),
        );
        known.value.sort_by_key(|v| super::eks::version(&v.version));
        known
    }

    /// The newest Kubernetes version that the pinned charts admit.
    pub fn newest_for_charts(&self) -> &'static NewestForCharts {
        &self.compiled.eks.newest_for_charts
    }

    /// Names of EKS add-ons.
    pub fn addons(&self) -> &'static [String] {
        &self.compiled.eks.addons
    }

    /// The known add-on whose name is closest to a misspelt one; `None` where none is close.
    pub fn nearest_addon(&self, name: &str) -> Option<&'static str> {
        closest(name, self.compiled.eks.addons.iter())
    }

    /// EKS's default version of an add-on for a Kubernetes version. Only live facts know it: `None` where nobody looked,
    /// `Ok(None)` where EKS has none.
    pub fn addon_version(&self, cluster_version: &str, addon: &str) -> Looked<Option<String>> {
        self.facts.addon_versions.get(&(cluster_version.to_owned(), addon.to_owned())).cloned()
    }

    /// Newest release of an AMI type for a Kubernetes version. Only live facts know it, as with
    /// [`Catalog::addon_version`].
    pub fn ami_release(&self, cluster_version: &str, ami_type: &str) -> Looked<Option<String>> {
        self.facts.ami_releases.get(&(cluster_version.to_owned(), ami_type.to_owned())).cloned()
    }
}

/// Similarity of names below which a suggestion would only puzzle (Jaro–Winkler, 0–1).
const CLOSE: f64 = 0.84;

fn closest<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> Option<&'a str> {
    let name = name.to_ascii_lowercase();
    // People leave the publisher out: `llama-3.1-70b`.
    let similarity = |candidate: &str| {
        let candidate = candidate.to_ascii_lowercase();
        let short = candidate.rsplit('/').next().unwrap_or(&candidate);
        strsim::jaro_winkler(&name, &candidate).max(strsim::jaro_winkler(&name, short))
    };
    known
        .map(|candidate| (similarity(candidate), candidate.as_str()))
        .filter(|(similarity, _)| *similarity >= CLOSE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[derive(Debug)]
struct Compiled {
    instance_types: BTreeMap<String, InstanceType>,
    layouts: BTreeMap<String, LayoutRow>,
    quotas: Vec<Quota>,
    models: Vec<ModelShape>,
    prices: PriceList,
    timings: BTreeMap<String, Timing>,
    eks: Eks,
    vllm: Vllm,
    /// Of the regions whose offerings are known zone by zone.
    zones: BTreeMap<String, BTreeSet<String>>,
    regions: BTreeSet<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct LayoutRow {
    #[serde(deserialize_with = "interfaces")]
    interfaces: Vec<Interface>,
    #[serde(deserialize_with = "interfaces")]
    extra_ena: Vec<Interface>,
}

fn interfaces<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Vec<Interface>, D::Error> {
    let rows = Vec::<(u32, u32, super::InterfaceKind)>::deserialize(d)?;
    Ok(rows.into_iter().map(|(card, device, kind)| Interface { card, device, kind }).collect())
}

static COMPILED: LazyLock<Compiled> = LazyLock::new(|| {
    let types: Vec<InstanceType> = part(include_str!("../../data/instance-types.json"), "types");
    let mut zones = BTreeMap::<String, BTreeSet<String>>::new();
    let mut regions = BTreeSet::new();
    for t in &types {
        for (region, ids) in &t.zones {
            zones.entry(region.clone()).or_default().extend(ids.iter().cloned());
        }
        regions.extend(t.regions.iter().flatten().cloned());
    }
    Compiled {
        instance_types: types.into_iter().map(|t| (t.name.clone(), t)).collect(),
        layouts: part(include_str!("../../data/efa-layouts.json"), "types"),
        quotas: part(include_str!("../../data/quotas.json"), "quotas"),
        models: part(include_str!("../../data/models.json"), "models"),
        prices: whole(include_str!("../../data/prices.json")),
        timings: part(include_str!("../../data/timings.json"), "kinds"),
        eks: whole(include_str!("../../data/eks.json")),
        vllm: whole(include_str!("../../data/vllm.json")),
        zones,
        regions,
    }
});

fn whole<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).expect("data that a test of this file reads is well formed")
}

/// One member of a data file; the others say where it is from.
fn part<T: DeserializeOwned>(text: &str, key: &str) -> T {
    let mut file: serde_json::Value = whole(text);
    serde_json::from_value(file[key].take()).expect("data that a test of this file reads is well formed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{InterfaceKind, max_pods};

    fn plain(catalog: &Catalog, name: &str) -> u32 {
        max_pods(catalog.instance_type(name).unwrap(), &[])
    }

    fn with_all_efa(catalog: &Catalog, name: &str) -> u32 {
        max_pods(catalog.instance_type(name).unwrap(), &catalog.efa_layout(name, None).unwrap())
    }

    #[test]
    fn the_data_is_well_formed_and_complete() {
        let catalog = Catalog::compiled();
        assert_eq!(catalog.instance_types().count(), 74 + 63);
        assert_eq!(catalog.models().len(), 16);
        for t in catalog.instance_types() {
            assert_eq!(t.accelerator.is_some(), t.devices() > 0, "{}", t.name);
            for code in [&t.on_demand_quota, &t.spot_quota].into_iter().flatten() {
                assert!(catalog.quota(code).is_some(), "{} names {code}", t.name);
            }
        }
    }

    #[test]
    fn every_type_with_efa_has_a_layout_that_its_cards_hold() {
        let catalog = Catalog::compiled();
        for t in catalog.instance_types() {
            let layout = catalog.efa_layout(&t.name, None);
            assert_eq!(layout.is_some(), t.efa_max > 0, "{}", t.name);
            let Some(layout) = layout else { continue };
            assert!(efa::fits(t, &layout), "{}", t.name);
            assert_eq!(layout.iter().filter(|i| i.kind.is_efa()).count(), t.efa_max as usize, "{}", t.name);
            assert!(layout[0].kind.has_address() && (layout[0].card, layout[0].device) == (0, 0), "{}", t.name);
            // Gaudi's published layout is the older form; every other one is what the rule says.
            if t.name != "dl1.24xlarge" {
                assert_eq!(efa::by_rule(t), Some(layout), "{}", t.name);
            }
        }
    }

    #[test]
    fn a_layout_is_cut_to_the_count_asked_for() {
        let catalog = Catalog::compiled();
        let kinds = |name: &str, count| -> Option<Vec<_>> {
            Some(catalog.efa_layout(name, count)?.into_iter().map(|i| (i.card, i.device, i.kind)).collect())
        };
        use InterfaceKind::{Efa, EfaOnly, Ena};
        assert_eq!(kinds("p5.48xlarge", Some(2)).unwrap(), [(0, 0, Ena), (0, 1, EfaOnly), (1, 0, EfaOnly)]);
        assert_eq!(kinds("p6-b300.48xlarge", Some(1)).unwrap(), [(0, 0, Ena), (1, 0, EfaOnly)]);
        assert_eq!(kinds("g5.8xlarge", None).unwrap(), [(0, 0, Efa)]);
        assert_eq!(kinds("g5.8xlarge", Some(0)).unwrap(), [(0, 0, Ena)]);
        assert_eq!(kinds("m6i.large", Some(0)).unwrap(), [(0, 0, Ena)]);
        assert_eq!(kinds("p5.48xlarge", Some(33)), None);
        assert_eq!(kinds("g5.xlarge", None), None);
        assert_eq!(kinds("p9.huge", Some(0)), None);
    }

    #[test]
    fn pods_lose_the_slot_that_an_efa_only_interface_takes() {
        let catalog = Catalog::compiled();
        assert_eq!((plain(&catalog, "p5.48xlarge"), with_all_efa(&catalog, "p5.48xlarge")), (100, 51));
        assert_eq!((plain(&catalog, "p6-b200.48xlarge"), with_all_efa(&catalog, "p6-b200.48xlarge")), (198, 149));
        // Card 0 of p6-b300 has no EFA, a single card's `efa` primary is the CNI's own.
        assert_eq!(with_all_efa(&catalog, "p6-b300.48xlarge"), 198);
        assert_eq!(with_all_efa(&catalog, "g5.8xlarge"), 234);
        // 737 by addresses: EKS stops at 250, and at 110 below 30 vCPU.
        assert_eq!(plain(&catalog, "g5.48xlarge"), 250);
        assert_eq!(plain(&catalog, "g5.4xlarge"), 110);
        assert_eq!(plain(&catalog, "m6i.large"), 29);
    }
}
