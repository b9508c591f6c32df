//! A stack of `stacks/` in a simulated account, judged; a test changes the file, the account's answers or the world.

use crate::{samples::settled, stack};
use infer_stack::{
    catalog::{Catalog, Facts},
    choose::{Choices, Circumstances, choose},
    cloud::{
        Answer, Fact, Reservation,
        memory::{Memory, Scenario},
    },
    contract::{Class, CloudError},
    cost::{Cost, price},
    desired::{DesiredGraph, desired},
    model::{Identity, Scope},
    observed::Snapshot,
    plan::{Options, Plan, plan},
    preflight::{Check, Finding, Input, Verdict, gather, judge},
    stack::Spec,
};
use std::collections::BTreeMap;

pub const NOW: &str = "2026-12-01T12:00:00Z";

pub struct Case {
    pub spec: Spec,
    pub facts: Facts,
    pub snapshot: Snapshot,
    pub now: String,
    /// Changes what was chosen, for what a file alone can't bring about.
    pub choose: fn(&mut Choices),
}

/// Everything that the pure half makes of a case.
pub struct Made {
    pub choices: Choices,
    pub graph: DesiredGraph,
    pub cost: Cost,
    pub findings: Vec<Finding>,
}

impl Case {
    /// A file of `stacks/` before anything lives, in an account of a built-in scenario.
    pub fn of(file: &str, scenario: &str) -> Self {
        let text = std::fs::read_to_string(format!("stacks/{file}.yaml")).unwrap();
        Self::new(stack::one(&text).spec, scenario)
    }

    pub fn new(spec: Spec, scenario: &str) -> Self {
        let scope = Scope {
            identity: Identity {
                account: "123456789012".to_owned(),
                region: spec.region.clone(),
                stack: spec.name.clone(),
            },
            cluster: spec.name.clone(),
            vpc: None,
            names: BTreeMap::new(),
        };
        let snapshot = Snapshot { taken_at: NOW.to_owned(), scope, sights: BTreeMap::new() };
        let mut case = Self { spec, facts: Facts::default(), snapshot, now: NOW.to_owned(), choose: |_| () };
        case.ask(scenario);
        case
    }

    /// Asks an account of a scenario everything anew.
    pub fn ask(&mut self, scenario: &str) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        self.facts = runtime.block_on(async {
            let scenario = Scenario::built_in(scenario).unwrap();
            let cloud = Memory::new(scenario, "123456789012", &self.spec.region, NOW.parse().unwrap());
            cloud.bring(&self.spec);
            gather(&cloud, &self.spec, &self.snapshot, &self.circumstances()).await.facts().clone()
        });
    }

    pub fn circumstances(&self) -> Circumstances {
        Circumstances { now: self.now.clone(), run: "run-1".to_owned() }
    }

    pub fn learn(&mut self, fact: Fact, answer: Answer) -> &mut Self {
        self.facts.learn(&fact, Ok(answer));
        self
    }

    /// The look at a fact fails.
    pub fn blind(&mut self, fact: Fact) -> &mut Self {
        let error = CloudError::new("ask", Class::Denied, "AccessDenied", "not authorized");
        self.facts.learn(&fact, Err(error));
        self
    }

    /// The stack as the file says it now lives.
    pub fn settle(&mut self) -> &mut Self {
        let graph = self.made().graph;
        self.snapshot = settled(&graph, &self.snapshot);
        self
    }

    /// The plan against what lives.
    pub fn settled_plan(&self) -> Plan {
        plan(&self.made().graph, &self.snapshot, &Options::default())
    }

    pub fn made(&self) -> Made {
        let catalog = Catalog::with(self.facts.clone());
        let circumstances = self.circumstances();
        let mut choices = choose(&self.spec, &self.snapshot, &catalog, &circumstances).unwrap();
        (self.choose)(&mut choices);
        let identity = &self.snapshot.scope.identity;
        let graph = desired(&self.spec, &choices, &catalog, identity, &circumstances).unwrap();
        let cost = price(Some(&self.spec), &graph, &self.snapshot, &catalog, &self.now).unwrap();
        let input = Input::new(&self.spec, &choices, &graph, &self.snapshot, &catalog, &cost, &circumstances).unwrap();
        let findings = judge(&input);
        Made { choices, graph, cost, findings }
    }

    pub fn findings(&self, check: Check) -> Vec<Finding> {
        self.made().findings.into_iter().filter(|finding| finding.check == check).collect()
    }

    /// What a check says of a subject.
    #[track_caller]
    pub fn finding(&self, check: Check, subject: &str) -> Finding {
        let all = self.findings(check);
        match all.iter().find(|finding| finding.subject == subject) {
            Some(finding) => finding.clone(),
            None => panic!("no finding on {subject} among {all:#?}"),
        }
    }

    #[track_caller]
    pub fn expect(&self, check: Check, subject: &str, verdict: Verdict, message: &str) -> Finding {
        let finding = self.finding(check, subject);
        assert_eq!(finding.verdict, verdict, "{finding:#?}");
        assert!(finding.message.contains(message), "{finding:#?}");
        finding
    }
}

/// The reservation that a stack's file names, as the account knows it.
pub fn reservation(case: &Case, id: &str) -> Reservation {
    case.facts.reservations[id].clone().unwrap().unwrap()
}

pub fn reserve(case: &mut Case, reservation: Reservation) {
    let fact = Fact::Reservations { ids: vec![reservation.id.clone()] };
    case.learn(fact, Answer::Reservations(vec![reservation]));
}
