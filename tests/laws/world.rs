//! A world for plans: applies tasks as a cloud would, and refuses what a cloud refuses.

use super::toys::{Desired, TOYS};
use infer_stack::{
    contract::{AnyKind, Change, CloudError, Phase},
    desired::{DesiredGraph, Wish},
    model::{Address, Doc, Identity, REGION, STACK, Scope, Stamp, Tags, identifiers, resolve},
    observed::{Live, Sight, Snapshot, live},
    plan::{Options, Plan, Task, Verb, plan_over},
};
use std::collections::BTreeMap;

pub fn identity() -> Identity {
    Identity { account: "123456789012".into(), region: "us-west-2".into(), stack: "toy".into() }
}

pub fn kind(name: &str) -> &'static dyn AnyKind {
    TOYS.iter().copied().find(|kind| kind.name() == name).unwrap()
}

pub fn address(text: &str) -> Address {
    Address::parse(text).unwrap()
}

pub fn graph() -> DesiredGraph {
    let mut graph = DesiredGraph::empty(identity());
    graph.tags = Tags::from([
        (STACK.to_owned(), "toy".to_owned()),
        (REGION.to_owned(), "us-west-2".to_owned()),
        ("team".to_owned(), "red".to_owned()),
    ]);
    graph.anchor_tags = Tags::from([("infer-stack/expires".to_owned(), "never".to_owned())]);
    graph
}

/// Adds a wish; the address says the kind.
pub fn wish<'g>(graph: &'g mut DesiredGraph, at: &str, desired: Desired) -> &'g mut Wish {
    let at = address(at);
    graph.add(kind(at.kind()), at.name(), serde_json::to_value(desired).unwrap(), "because: test")
}

#[derive(Clone, Default)]
pub struct World {
    /// Kind and observed document, in the order of their making.
    pub objects: Vec<(String, Doc)>,
    pub blind: BTreeMap<String, CloudError>,
    pub vpc: Option<String>,
    /// Objects that the plan at hand deletes: links never lead to them.
    doomed: Vec<String>,
    serial: usize,
}

impl World {
    pub fn snapshot(&self) -> Snapshot {
        let scope =
            Scope { identity: identity(), cluster: "toy".into(), vpc: self.vpc.clone(), names: BTreeMap::new() };
        let mut sights = BTreeMap::new();
        for toy in TOYS {
            let sight = match self.blind.get(toy.name()) {
                Some(error) => Sight::Blind(error.clone()),
                None => Sight::Seen(self.of(toy.name())),
            };
            sights.insert(toy.name().to_owned(), sight);
        }
        Snapshot { taken_at: "2026-12-01T00:00:00Z".into(), scope, sights }
    }

    fn of(&self, name: &str) -> Vec<Live> {
        let docs = self.objects.iter().filter(|(kind, _)| kind == name);
        docs.map(|(_, doc)| live(kind(name), doc.clone()).unwrap()).collect()
    }

    pub fn lives(&self) -> Vec<Live> {
        TOYS.iter().flat_map(|toy| self.of(toy.name())).collect()
    }

    pub fn plan(&self, graph: &DesiredGraph, options: &Options) -> Plan {
        plan_over(TOYS, graph, &self.snapshot(), options)
    }

    /// Plans and applies until settled; `Err` with the last plan after `rounds`.
    pub fn bring(&mut self, graph: &DesiredGraph, options: &Options, rounds: usize) -> Result<(), Plan> {
        for _ in 0..rounds {
            let plan = self.plan(graph, options);
            if plan.tasks.is_empty() {
                return Ok(());
            }
            self.apply(&plan);
        }
        let plan = self.plan(graph, options);
        if plan.tasks.is_empty() { Ok(()) } else { Err(plan) }
    }

    /// Carries out every task in order. Panics where a cloud would refuse, and where a task comes before what it waits for.
    pub fn apply(&mut self, plan: &Plan) {
        let deleted = |task: &Task| if let Verb::Delete { id } = &task.verb { Some(id.clone()) } else { None };
        self.doomed = plan.tasks.iter().filter_map(deleted).collect();
        for (at, task) in plan.tasks.iter().enumerate() {
            assert_eq!(task.id, at);
            assert!(task.after.iter().all(|before| *before < at), "{task:#?}");
            self.step(task);
        }
    }

    fn step(&mut self, task: &Task) {
        match &task.verb {
            Verb::Create => {
                let (want, stamp) = (self.resolved(task), task.stamp.as_ref().unwrap());
                self.make(&task.kind, &want, stamp);
            }
            Verb::Update { id, changed } => {
                assert!(!changed.is_empty());
                let want = self.resolved(task);
                self.update(&task.kind, id, &want, task.stamp.as_ref().unwrap());
            }
            Verb::Delete { id } => self.delete(&task.kind, id),
            Verb::Await { id } => self.edit(&task.kind, id, |doc| doc["ready"] = serde_json::json!({"state": "ready"})),
        }
    }

    fn resolved(&self, task: &Task) -> Doc {
        let lives = self.lives();
        let mut want = task.want.clone().unwrap();
        let known = resolve(&mut want, &|address, output| {
            let claims = |live: &&Live| live.look.claims.as_ref() == Some(address) && !live.look.gone;
            let found = lives.iter().filter(claims).find(|live| !self.doomed.contains(&live.look.id))?;
            found.look.outputs.get(output).cloned()
        });
        assert!(known, "{} before what it links to: {want}", task.address);
        // A link that was resolved while planning must still lead somewhere.
        for (path, value) in identifiers(&want) {
            let there = lives.iter().any(|live| !live.look.gone && live.look.outputs.values().any(|v| *v == value));
            assert!(
                there || value.starts_with("given-"),
                "{}{path} links to {value}, which is not there",
                task.address
            );
        }
        want
    }

    pub fn make(&mut self, kind_name: &str, want: &Doc, stamp: &Stamp) -> String {
        self.serial += 1;
        let kind = kind(kind_name);
        let id = kind.imagine_id(want, &format!("{:04}", self.serial)).unwrap();
        let name = kind.words(want).unwrap().name;
        let taken = self.of(kind_name).iter().any(|live| name.is_some() && live.look.name == name && !live.look.gone);
        assert!(!taken, "{kind_name}: {name:?} exists already");
        self.objects.push((kind_name.to_owned(), kind.imagine(want, &id, stamp, Phase::There).unwrap()));
        id
    }

    fn update(&mut self, kind_name: &str, id: &str, want: &Doc, stamp: &Stamp) {
        let kind = kind(kind_name);
        let before =
            self.of(kind_name).into_iter().find(|live| live.look.id == id).expect("an update of what is there");
        for field in kind.fields(want).unwrap().iter().filter(|field| field.change == Change::Immutable) {
            let same = want.pointer(field.at) == before.look.projected.pointer(field.at);
            assert!(same, "{} {} changed in place", stamp.address, field.at);
        }
        let tagged = kind.tagged();
        self.edit(kind_name, id, |doc| {
            doc["is"] = want.clone();
            if tagged {
                for (key, value) in &stamp.tags {
                    doc["tags"][key] = Doc::from(value.as_str());
                }
            }
        });
    }

    fn delete(&mut self, kind_name: &str, id: &str) {
        let lives = self.lives();
        let target = lives
            .iter()
            .find(|live| live.kind == kind_name && live.look.id == id)
            .expect("a deletion of what is there");
        for live in lives
            .iter()
            .filter(|live| !live.look.gone && (&live.kind, &live.look.id) != (&target.kind, &target.look.id))
        {
            let fields = kind(&live.kind).fields(&live.look.projected).unwrap();
            for (path, value) in identifiers(&live.look.projected) {
                let holding = fields.iter().any(|f| f.covers(&path) && (f.change == Change::Immutable || f.holds));
                let leans = holding && target.look.outputs.values().any(|v| *v == value);
                assert!(!leans, "{kind_name} {id} is deleted while {} leans on it by {path}", live.look.id);
            }
        }
        // A name may be used again.
        self.doomed.retain(|doomed| doomed != id);
        self.objects.retain(|(kind, doc)| !(kind == kind_name && doc["id"] == id));
    }

    /// Changes a live object behind the planner's back.
    pub fn edit(&mut self, kind_name: &str, id: &str, change: impl FnOnce(&mut Doc)) {
        let found = self.objects.iter_mut().find(|(kind, doc)| kind == kind_name && doc["id"] == id);
        change(&mut found.unwrap_or_else(|| panic!("no {kind_name} {id}")).1);
    }

    /// Id of the live object of an address.
    pub fn id(&self, at: &str) -> String {
        let at = address(at);
        let lives = self.of(at.kind());
        let mut claiming = lives.iter().filter(|live| !live.look.gone && live.look.claims.as_ref() == Some(&at));
        claiming.next().unwrap_or_else(|| panic!("nothing lives at {at}")).look.id.clone()
    }
}
