//! What the simulated account enforces.

use crate::harness::{ACCOUNT, START, World, stack};
use infer_stack::{
    clock::pause,
    cloud::{
        Cloud,
        memory::{Memory, Scenario},
    },
    contract::{AnyKind, Class},
    model::{Address, Doc, Stamp, Tags},
    resources::kind,
};
use serde_json::json;
use std::time::Duration;

fn account() -> Memory {
    Memory::new(Scenario::built_in("new-account").unwrap(), ACCOUNT, "us-west-2", START.parse().unwrap())
}

fn stamp(kind: &dyn AnyKind, token: &str) -> Stamp {
    let tags: Tags = [("infer-stack/stack".to_owned(), "a".to_owned())].into();
    Stamp { address: Address::new(kind.name(), "main"), tags, token: token.to_owned() }
}

fn vpc() -> Doc {
    json!({ "cidr": "10.0.0.0/16", "dnsSupport": true, "dnsHostnames": true })
}

fn template() -> Doc {
    let mut want = kind("launch-template").unwrap().samples().remove(0);
    want["interfaces"] = json!([]);
    want["placementGroup"] = Doc::Null;
    want
}

#[tokio::test(start_paused = true)]
async fn a_token_makes_a_repeat_harmless_and_other_parameters_are_refused() {
    let (memory, kind) = (account(), kind("launch-template").unwrap());
    let first = memory.create(kind, &template(), &stamp(kind, "t")).await.unwrap();
    assert_eq!(memory.create(kind, &template(), &stamp(kind, "t")).await.unwrap(), first);
    let mut other = template();
    other["name"] = json!("other");
    let refused = memory.create(kind, &other, &stamp(kind, "t")).await.unwrap_err();
    assert_eq!((refused.class, refused.code.as_str()), (Class::AlreadyExists, "IdempotentParameterMismatch"));
    let taken = memory.create(kind, &template(), &stamp(kind, "u")).await.unwrap_err();
    assert_eq!(taken.class, Class::AlreadyExists);
}

#[tokio::test(start_paused = true)]
async fn a_vpc_has_no_token_and_a_quota() {
    let (memory, kind) = (account(), kind("vpc").unwrap());
    for _ in 0..5 {
        memory.create(kind, &vpc(), &stamp(kind, "t")).await.unwrap();
    }
    let refused = memory.create(kind, &vpc(), &stamp(kind, "t")).await.unwrap_err();
    assert_eq!(refused.class, Class::Quota);
    let ids: std::collections::BTreeSet<_> = memory.objects().into_iter().map(|object| object.id).collect();
    assert_eq!(ids.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn what_others_lean_on_stays_and_what_is_gone_is_not_linked_to() {
    let memory = account();
    let (net, sub) = (kind("vpc").unwrap(), kind("subnet").unwrap());
    let id = memory.create(net, &vpc(), &stamp(net, "")).await.unwrap();
    let subnet =
        json!({ "vpc": { "$id": id }, "cidr": "10.0.0.0/20", "zone": "usw2-az1", "mapPublicIp": false, "roles": {} });
    let early = memory.create(sub, &subnet, &stamp(sub, "")).await.unwrap_err();
    assert_eq!(early.class, Class::NotYet, "the VPC is pending");
    pause(Duration::from_secs(20)).await;
    let child = memory.create(sub, &subnet, &stamp(sub, "")).await.unwrap();
    let refused = Cloud::delete(&memory, net, &id).await.unwrap_err();
    assert_eq!((refused.class, refused.code.as_str()), (Class::InUse, "DependencyViolation"));
    assert!(refused.message.contains(&child), "{}", refused.message);
    Cloud::delete(&memory, sub, &child).await.unwrap();
    pause(Duration::from_secs(5)).await;
    Cloud::delete(&memory, net, &id).await.unwrap();
    pause(Duration::from_secs(5)).await;
    assert!(memory.read(net, &id).await.unwrap().is_none());
    Cloud::delete(&memory, net, &id).await.unwrap();
    let orphan = memory.create(sub, &subnet, &stamp(sub, "")).await.unwrap_err();
    assert_eq!(orphan.class, Class::NotFound);
    let unresolved = json!({ "vpc": { "$link": "vpc.main#id" }, "cidr": "10.0.0.0/20", "zone": "usw2-az1", "mapPublicIp": false, "roles": {} });
    assert_eq!(memory.create(sub, &unresolved, &stamp(sub, "")).await.unwrap_err().class, Class::Invalid);
}

#[tokio::test(start_paused = true)]
async fn a_field_that_aws_fixes_at_creation_is_not_changed() {
    let (memory, kind) = (account(), kind("vpc").unwrap());
    let id = memory.create(kind, &vpc(), &stamp(kind, "")).await.unwrap();
    let mut other = vpc();
    other["cidr"] = json!("10.9.0.0/16");
    let refused = memory.update(kind, &id, &other, &["/cidr".to_owned()], &stamp(kind, "")).await.unwrap_err();
    assert_eq!(refused.class, Class::Invalid);
    // What the create call did not carry comes by an update.
    let look = kind.look(&memory.read(kind, &id).await.unwrap().unwrap()).unwrap();
    assert_eq!(look.projected["dnsHostnames"], json!(false));
    memory.update(kind, &id, &vpc(), &["/dnsHostnames".to_owned()], &stamp(kind, "")).await.unwrap();
    let look = kind.look(&memory.read(kind, &id).await.unwrap().unwrap()).unwrap();
    assert_eq!(look.projected, vpc());
}

#[tokio::test(start_paused = true)]
async fn time_goes_on_between_processes() {
    let world = World::ready("llama-70b.yaml");
    tokio::select! {
        _ = world.up() => panic!("a control plane takes longer"),
        () = pause(Duration::from_secs(300)) => {}
    }
    let then = world.memory.clock().text();
    let text = world.memory.to_json();
    let next = World::saved("llama-70b.yaml", &text);
    assert_eq!(next.memory.clock().text(), then);
    assert_eq!(next.census(), world.census());
    let up = next.up().await;
    assert!(up.outcome.is_complete(), "{:#?}", up.outcome.failed);
    assert_eq!(next.objects("cluster").len(), 1);
    let waited = up.outcome.done.iter().find(|done| done.address.as_str() == "cluster.main").unwrap().seconds;
    assert!(waited < 320, "the rest of its time, not all of it: {waited} s");
}

#[tokio::test(start_paused = true)]
async fn nodes_have_the_templates_layout_and_tags() {
    let world = World::ready("llama-70b.yaml");
    let up = world.up().await;
    assert!(up.outcome.is_complete(), "{:#?}", up.outcome.failed);
    let machines: Vec<_> =
        world.objects("instance").into_iter().filter(|object| object.want["instanceType"] == "p5.48xlarge").collect();
    assert_eq!(machines.len(), 2);
    for machine in machines {
        let mine = |object: &infer_stack::cloud::memory::Object| object.made_by.as_ref() == Some(&machine.id);
        let interfaces: Vec<_> = world.objects("network-interface").into_iter().filter(mine).collect();
        let efa = interfaces.iter().filter(|object| object.want["interfaceType"].as_str().unwrap().starts_with("efa"));
        assert_eq!(efa.count(), 32);
        assert!(world.objects("volume").iter().any(mine));
        for object in interfaces.iter().chain([&machine]) {
            assert_eq!(object.stamp.tags["infer-stack/stack"], "llama-70b");
            assert_eq!(object.stamp.tags["workload"], "llm-inference");
        }
        assert!(machine.want["placementGroup"].is_object());
    }
}

#[tokio::test(start_paused = true)]
async fn missing_capacity_leaves_a_healthy_group_that_says_why() {
    let mut spec = stack("llama-70b.yaml");
    let scenario = Scenario::built_in("no-capacity").unwrap();
    // The first zone that offers the type, by name: nobody would choose it otherwise.
    let first = infer_stack::catalog::Catalog::compiled().offered_zones("p5.48xlarge", "us-west-2").value.unwrap();
    for class in spec.node_classes.iter_mut().filter(|class| class.instance_types == ["p5.48xlarge"]) {
        class.zone = first.iter().min().cloned();
    }
    let world = World::new(spec, scenario);
    let up = world.up().await;
    let failed: Vec<_> = up.outcome.failed.iter().filter(|failed| failed.address.kind() == "node-group").collect();
    assert_eq!(failed.len(), 1, "{:#?}", up.outcome.failed);
    assert!(failed[0].why.contains("InsufficientInstanceCapacity"), "{}", failed[0].why);
    let doc = world.memory.read(kind("node-group").unwrap(), failed[0].id.as_deref().unwrap()).await.unwrap().unwrap();
    assert_eq!(doc["status"], "ACTIVE");
    assert!(world.destroy().await.outcome.is_complete());
}
