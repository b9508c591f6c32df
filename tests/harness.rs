//! What integration tests share: a stack file, a simulated account in virtual time, and runs against it.

use infer_stack::{
    apply::{Event, IN_FLIGHT, Log, NoJournal, Outcome, Stop, StopHandle, Surroundings, apply, stop},
    catalog::{Catalog, Facts},
    choose::{Circumstances, choose, facts_needed},
    cloud::{
        Cloud,
        memory::{Memory, Object, Scenario},
    },
    desired::{DesiredGraph, desired},
    model::{Address, Identity, Scope},
    observed::{Snapshot, look, wished_names},
    plan::{Options, Plan, critical_path, plan},
    resources::{KINDS, kind},
    stack::{Spec, names, parse},
    teardown::{Inquest, PAUSE, Receipt, Swept, destroy, verify},
};
use std::{collections::BTreeMap, sync::Mutex};

pub const ACCOUNT: &str = "123456789012";
pub const START: &str = "2026-12-01T14:00:00Z";

/// Every file in `stacks/`, in order.
pub fn files() -> Vec<String> {
    let directory = std::fs::read_dir(format!("{}/stacks", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mut files: Vec<String> = directory.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.retain(|file| file.ends_with(".yaml"));
    files.sort();
    files
}

/// The first document of a file in `stacks/`.
pub fn stack(file: &str) -> Spec {
    let path = format!("{}/stacks/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    spec(&text, file)
}

pub fn spec(text: &str, file: &str) -> Spec {
    let config = |path: &str| std::fs::read_to_string(format!("{}/stacks/{path}", env!("CARGO_MANIFEST_DIR")));
    let parsed = parse(text, file, &|_| None, &config, &Catalog::compiled());
    parsed.unwrap_or_else(|errors| panic!("{errors:?}")).remove(0).spec
}

/// A stack and the account that it is to live in.
pub struct World {
    pub spec: Spec,
    pub memory: Memory,
    pub stop: (StopHandle, Stop),
    pub in_flight: usize,
}

/// What is known before something is done.
pub struct Survey {
    pub catalog: Catalog,
    pub snapshot: Snapshot,
    pub plan: Plan,
}

pub struct Ran {
    pub plan: Plan,
    pub outcome: Outcome,
    pub swept: Vec<Swept>,
    pub events: Vec<Event>,
}

impl Ran {
    /// Seconds along the longest chain of steps, each as long as it took: no schedule is shorter.
    pub fn longest_chain(&self) -> (u64, Vec<Address>) {
        critical_path(&self.plan, &|task| {
            let done = self.outcome.done.iter().find(|done| done.address == task.address && done.verb == task.verb);
            done.map_or(0, |done| done.seconds)
        })
    }
}

impl World {
    pub fn new(spec: Spec, scenario: Scenario) -> Self {
        let memory = Memory::new(scenario, ACCOUNT, &spec.region, START.parse().unwrap());
        memory.bring(&spec);
        Self { spec, memory, stop: stop(), in_flight: IN_FLIGHT }
    }

    pub fn ready(file: &str) -> Self {
        Self::new(stack(file), Scenario::ready())
    }

    /// An account as it was saved.
    pub fn saved(file: &str, text: &str) -> Self {
        let spec = stack(file);
        let memory = Memory::from_json(text, &spec.region).unwrap();
        Self { spec, memory, stop: stop(), in_flight: IN_FLIGHT }
    }

    pub fn identity(&self) -> Identity {
        Identity { account: ACCOUNT.into(), region: self.spec.region.clone(), stack: self.spec.name.clone() }
    }

    pub fn scope(&self) -> Scope {
        let identity = self.identity();
        Scope { cluster: names::cluster_name(&identity), identity, vpc: None, names: BTreeMap::new() }
    }

    pub fn circumstances(&self) -> Circumstances {
        Circumstances { now: self.memory.clock().text(), run: format!("run-{}", self.memory.made().len()) }
    }

    /// Looks, chooses, wishes, plans.
    pub async fn survey(&self) -> Survey {
        let circumstances = self.circumstances();
        let mut scope = self.scope();
        let mut facts = Facts::default();
        let nothing = Snapshot { taken_at: circumstances.now.clone(), scope: scope.clone(), sights: BTreeMap::new() };
        let (identity, spec) = (self.identity(), &self.spec);
        let catalog = self.learn(&mut facts, &nothing, &circumstances).await;
        let choices = choose(spec, &nothing, &catalog, &circumstances).unwrap();
        let graph = desired(spec, &choices, &catalog, &identity, &circumstances).unwrap();
        let wishes = graph.wishes.values().map(|wish| (kind(wish.address.kind()).unwrap(), &wish.doc));
        scope.names = wished_names(wishes).unwrap();
        let snapshot = look(&self.memory, scope, KINDS, &self.memory.clock()).await;
        let catalog = self.learn(&mut facts, &snapshot, &circumstances).await;
        let choices = choose(spec, &snapshot, &catalog, &circumstances).unwrap();
        let graph = desired(spec, &choices, &catalog, &identity, &circumstances).unwrap();
        let plan = plan(&graph, &snapshot, &Options::default());
        Survey { catalog, snapshot, plan }
    }

    async fn learn(&self, facts: &mut Facts, snapshot: &Snapshot, circumstances: &Circumstances) -> Catalog {
        let mut asked = vec![];
        loop {
            let catalog = Catalog::with(facts.clone());
            let needed = facts_needed(&self.spec, snapshot, &catalog, circumstances);
            let Some(fact) = needed.into_iter().find(|fact| !asked.contains(fact)) else { return catalog };
            facts.learn(&fact, self.memory.ask(&fact).await);
            asked.push(fact);
        }
    }

    pub async fn up(&self) -> Ran {
        let survey = self.survey().await;
        self.run(survey).await
    }

    /// Up, until the script lets the process die.
    pub async fn up_until_crash(&self) {
        tokio::select! {
            _ = self.up() => panic!("the process was to die"),
            () = self.memory.crashed() => self.memory.recover(),
        }
    }

    pub async fn destroy_until_crash(&self) {
        tokio::select! {
            _ = self.destroy() => panic!("the process was to die"),
            () = self.memory.crashed() => self.memory.recover(),
        }
    }

    /// The end of what a plan knows, and nothing else.
    pub async fn down(&self) -> Ran {
        let snapshot = look(&self.memory, self.scope(), KINDS, &self.memory.clock()).await;
        let plan = plan(&DesiredGraph::empty(self.identity()), &snapshot, &Options::default());
        self.run(Survey { catalog: Catalog::compiled(), snapshot, plan }).await
    }

    /// The end of everything, what AWS left behind included, by name alone.
    pub async fn destroy(&self) -> Ran {
        let snapshot = look(&self.memory, self.scope(), KINDS, &self.memory.clock()).await;
        let plan = plan(&DesiredGraph::empty(self.identity()), &snapshot, &Options::default());
        let survey = Survey { catalog: Catalog::compiled(), snapshot, plan };
        self.carry_out(survey, true).await
    }

    pub async fn verify(&self) -> Receipt {
        let catalog = Catalog::compiled();
        let inquest = Inquest {
            cloud: &self.memory,
            kinds: KINDS,
            catalog: &catalog,
            clock: self.memory.clock(),
            pause: PAUSE,
            delete_data: false,
        };
        let vpc = self.objects("vpc").first().map(|vpc| vpc.id.clone());
        verify(inquest, &Scope { vpc, ..self.scope() }).await
    }

    pub async fn run(&self, survey: Survey) -> Ran {
        self.carry_out(survey, false).await
    }

    async fn carry_out(&self, survey: Survey, sweep: bool) -> Ran {
        let Survey { catalog, snapshot, plan } = survey;
        let events = Mutex::new(vec![]);
        let clock = self.memory.clock();
        let log = Log::new(&NoJournal, "run", clock);
        let tell = |event| events.lock().unwrap().push(event);
        let around = Surroundings {
            cloud: &self.memory,
            kinds: KINDS,
            catalog: &catalog,
            clock,
            log: &log,
            tell: &tell,
            stop: &self.stop.1,
            in_flight: self.in_flight,
        };
        let (outcome, swept) = if sweep {
            let destroyed = destroy(&plan, &snapshot, around).await;
            (destroyed.outcome, destroyed.swept)
        } else {
            (apply(&plan, &snapshot, around).await, vec![])
        };
        let events = events.into_inner().unwrap();
        Ran { plan, outcome, swept, events }
    }

    /// Objects of a kind that exist now.
    pub fn objects(&self, kind: &str) -> Vec<Object> {
        self.memory.objects().into_iter().filter(|object| object.kind == kind).collect()
    }

    /// The account in words that do not hang on ids or times: for comparing worlds.
    pub fn census(&self) -> Vec<String> {
        let mut lines: Vec<String> = self
            .memory
            .objects()
            .iter()
            .map(|object| {
                let resource = object.stamp.tags.get("infer-stack/resource");
                format!("{} {}", object.kind, resource.map_or("-", String::as_str))
            })
            .collect();
        lines.sort();
        lines
    }
}
