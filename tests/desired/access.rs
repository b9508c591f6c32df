//! Who may enter the cluster, and from where.

use super::{
    cluster::{doc, everything, stamp},
    settled::{all_live, changes, choices, replan, respell, wished},
};
use crate::samples::*;
use infer_stack::{
    choose::choose,
    cloud::{Answer, Caller, Fact},
    contract::Phase,
    model::{Stamp, Tags},
    observed::{Live, Sight},
    plan::Action,
    resources::kind,
    stack::*,
};
use serde_json::json;
use std::collections::BTreeMap;

const PERSON: &str = "arn:aws:iam::123456789012:role/aws-reserved/sso.amazonaws.com/AWSReservedSSO_Admin_0a1b";

#[test]
fn who_runs_up_is_admitted_and_a_second_caller_adds_without_taking() {
    let spec = llama_70b();
    let snapshot = all_live(&wished(&spec, &nothing()));
    let mut facts = Account::default().facts();
    let caller = Caller { account: identity().account, principal: PERSON.to_owned() };
    facts.learn(&Fact::Caller, Ok(Answer::Caller(caller)));
    let catalog = infer_stack::catalog::Catalog::with(facts);
    let choices = choose(&spec, &snapshot, &catalog, &circumstances()).unwrap();
    assert_eq!(choices.callers.value, [CALLER, PERSON]);
    let graph = infer_stack::desired::desired(&spec, &choices, &catalog, &identity(), &circumstances()).unwrap();
    let plan = infer_stack::plan::plan(&graph, &snapshot, &Default::default());
    let second = names::caller_entry(PERSON);
    assert_eq!(changes(&plan), BTreeMap::from([(second.to_string(), Action::Create)]));
    // And the first one, running again, finds nothing to do.
    let both = all_live(&graph);
    assert!(replan(&spec, &both).is_settled());
}

#[test]
fn a_caller_whom_the_file_names_later_keeps_its_entry_with_the_files_policy() {
    let mut spec = llama_70b();
    let snapshot = all_live(&wished(&spec, &nothing()));
    spec.cluster.access = vec![Access { principal: CALLER.into(), policy: AccessPolicy::View }];
    let entry = names::caller_entry(CALLER);
    assert_eq!(changes(&replan(&spec, &snapshot)), BTreeMap::from([(entry.to_string(), Action::Update)]));
    // From the start: one entry, that of the file.
    let fresh = wished(&spec, &nothing());
    let entries: Vec<_> = fresh.wishes.keys().filter(|address| address.kind() == "access-entry").collect();
    assert_eq!(entries, [&names::node_entry(), &names::access_entry(CALLER)]);
}

#[test]
fn a_list_in_another_order_moves_nobody() {
    let mut spec = everything();
    let snapshot = all_live(&wished(&spec, &nothing()));
    spec.cluster.access.reverse();
    assert!(replan(&spec, &snapshot).is_settled());
}

#[test]
fn one_principal_has_one_entry_however_often_the_file_names_it() {
    let mut spec = llama_70b();
    let line = |policy| Access { principal: PERSON.into(), policy };
    spec.cluster.access = vec![line(AccessPolicy::View), line(AccessPolicy::Edit)];
    let graph = wished(&spec, &nothing());
    let policies = &doc(&graph, &names::access_entry(PERSON))["policies"];
    assert_eq!(policies.as_array().unwrap().len(), 2);
    assert_eq!(graph.wishes[&names::access_entry(PERSON)].because, "cluster.access[0], cluster.access[1]");
}

#[test]
fn admin_is_admin_of_the_cluster() {
    let graph = wished(&llama_70b(), &nothing());
    let entry = doc(&graph, &names::caller_entry(CALLER));
    assert_eq!(
        entry["policies"],
        json!([{"policy": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy", "namespaces": []}])
    );
    assert_eq!(entry["type"], "STANDARD");
}

#[test]
fn an_entry_takes_the_role_and_never_its_session() {
    let entry = kind("access-entry").unwrap();
    let mut want = entry.samples().remove(0);
    want["principal"] = json!({"$id": "arn:aws:sts::123456789012:assumed-role/ci/session"});
    assert_eq!(entry.check(&want).unwrap().len(), 1);
}

#[test]
fn nodes_enter_by_an_entry_made_here_with_or_without_karpenter() {
    for spec in [llama_70b(), everything()] {
        let graph = wished(&spec, &nothing());
        let entry = doc(&graph, &names::node_entry());
        assert_eq!(entry["type"], "EC2_LINUX");
        assert_eq!(entry["principal"], json!({"$link": "role.node#arn"}));
        assert_eq!(entry["policies"], json!([]));
    }
    // Dropping Karpenter must not lock the managed nodes out.
    let mut spec = everything();
    let snapshot = all_live(&wished(&spec, &nothing()));
    spec.node_classes.retain(|class| class.provisioner == Provisioner::Managed);
    assert!(!changes(&replan(&spec, &snapshot)).contains_key("access-entry.nodes"));
}

#[test]
fn an_entry_that_eks_made_for_the_nodes_is_taken_over() {
    let spec = llama_70b();
    let mut snapshot = all_live(&wished(&spec, &nothing()));
    respell(&mut snapshot, "access-entry", &names::node_entry(), |doc| doc["tags"] = json!({}));
    assert_eq!(changes(&replan(&spec, &snapshot)), BTreeMap::from([("access-entry.nodes".to_owned(), Action::Update)]));
}

#[test]
fn entries_that_others_made_are_nobodys_business_here() {
    let spec = llama_70b();
    let mut snapshot = all_live(&wished(&spec, &nothing()));
    let entry = kind("access-entry").unwrap();
    let mut want = entry.samples().remove(0);
    want["cluster"] = json!({"$id": "llama-70b"});
    let foreign = Stamp { tags: Tags::new(), ..stamp(entry) };
    let doc = entry.imagine(&want, "", &foreign, Phase::There).unwrap();
    let look = entry.look(&doc).unwrap();
    let Some(Sight::Seen(all)) = snapshot.sights.get_mut("access-entry") else { panic!() };
    all.push(Live { kind: "access-entry".into(), look, doc });
    assert!(replan(&spec, &snapshot).is_settled());
}

#[test]
fn addresses_that_the_live_endpoint_admits_are_kept_and_this_machine_is_added() {
    let spec = llama_70b();
    let mut snapshot = all_live(&wished(&spec, &nothing()));
    respell(&mut snapshot, "cluster", &names::cluster(), |doc| {
        doc["publicCidrs"] = json!(["198.51.100.4/32", "203.0.113.7/32"]);
    });
    assert!(replan(&spec, &snapshot).is_settled());
    respell(&mut snapshot, "cluster", &names::cluster(), |doc| doc["publicCidrs"] = json!(["198.51.100.4/32"]));
    assert_eq!(choices(&spec, &snapshot).public_cidrs.value, ["198.51.100.4/32", "203.0.113.7/32"]);
    assert_eq!(changes(&replan(&spec, &snapshot)), BTreeMap::from([("cluster.main".to_owned(), Action::Update)]));
}

#[test]
fn addresses_of_an_endpoint_that_is_off_are_no_drift() {
    let mut spec = llama_70b();
    spec.cluster.endpoint.public = false;
    let mut snapshot = all_live(&wished(&spec, &nothing()));
    respell(&mut snapshot, "cluster", &names::cluster(), |doc| doc["publicCidrs"] = json!(["0.0.0.0/0"]));
    assert!(replan(&spec, &snapshot).is_settled());
}
