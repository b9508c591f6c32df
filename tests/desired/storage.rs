//! The storage layer, rule by rule.

use super::{
    node_kinds::{complaints, seen},
    nodes::{graph, want},
};
use crate::samples::{identity, llama_70b, nothing, settled};
use infer_stack::{
    contract::{Demand, Phase, Readiness},
    desired::{DesiredGraph, names},
    model::{Link, Policy},
    plan::{Action, Options, Plan, plan},
    resources::{self, bucket, data_repository, file_system},
    stack::*,
};
use serde_json::json;

fn on_fsx() -> Spec {
    let mut spec = llama_70b();
    let weights = spec.weights.as_mut().unwrap();
    weights.source = WeightSource::Fsx;
    weights.bucket.as_mut().unwrap().prefix = "llama/".to_owned();
    let auto_import = vec![AutoImport::New, AutoImport::Changed];
    weights.fsx = Some(Fsx { capacity: 4800, throughput: 250, efa: false, auto_import });
    spec
}

fn fsx(spec: &mut Spec) -> &mut Fsx {
    spec.weights.as_mut().unwrap().fsx.as_mut().unwrap()
}

fn change(edit: impl FnOnce(&mut Spec)) -> Plan {
    let mut spec = on_fsx();
    let before = settled(&graph(&spec), &nothing());
    edit(&mut spec);
    plan(&graph(&spec), &before, &Options::default())
}

fn destroy(spec: &Spec) -> Plan {
    plan(&DesiredGraph::empty(identity()), &settled(&graph(spec), &nothing()), &Options::default())
}

fn action(plan: &Plan, address: &infer_stack::model::Address) -> Action {
    plan.steps.iter().find(|step| step.address == *address).unwrap().action
}

fn delete_at(plan: &Plan, address: &infer_stack::model::Address) -> usize {
    plan.tasks.iter().position(|task| task.address == *address && task.want.is_none()).unwrap()
}

#[test]
fn a_bucket_made_here_is_encrypted_private_tls_only_and_forgets_broken_uploads() {
    let bucket: bucket::Desired = want(&graph(&llama_70b()), &names::weights_bucket());
    assert_eq!(bucket.name, names::weights_bucket_name(&identity()));
    assert_eq!(bucket.region, "us-west-2");
    assert_eq!(bucket.encryption, "AES256");
    assert_eq!(bucket.ownership, "BucketOwnerEnforced");
    assert!(bucket.public_access_blocked && bucket.tls_only);
    assert_eq!(bucket.abort_incomplete_days, Some(7));
}

#[test]
fn a_bucket_that_was_brought_along_is_never_a_wish() {
    let mut spec = on_fsx();
    let bucket = spec.weights.as_mut().unwrap().bucket.as_mut().unwrap();
    (bucket.name, bucket.create) = (Some("theirs".to_owned()), false);
    let graph = graph(&spec);
    assert!(!graph.wishes.contains_key(&names::weights_bucket()));
    let repository: data_repository::Desired = want(&graph, &names::data_repository());
    assert_eq!(repository.bucket, Link::is("theirs"));
}

#[test]
fn destroy_keeps_the_bucket_and_with_it_nothing_else() {
    let plan = destroy(&llama_70b());
    assert_eq!(action(&plan, &names::weights_bucket()), Action::Keep);
    let kept: Vec<_> = plan.steps.iter().filter(|step| step.action == Action::Keep).collect();
    assert_eq!(kept.len(), 1, "{kept:#?}");
}

#[test]
fn the_file_says_whether_the_bucket_goes() {
    let of = |on_destroy| {
        let mut spec = llama_70b();
        spec.weights.as_mut().unwrap().on_destroy = on_destroy;
        graph(&spec).wishes[&names::weights_bucket()].delete_with_stack
    };
    assert!(!of(OnDestroy::Keep));
    assert!(of(OnDestroy::Delete));
}

#[test]
fn a_bucket_is_made_by_one_call_and_brought_to_the_wish_by_others() {
    let look = seen("bucket", Phase::Coming, |_| {});
    assert_eq!(look.projected["tlsOnly"], false);
    assert_eq!(look.projected["abortIncompleteDays"], json!(null));
    assert_eq!(look.projected["ownership"], "BucketOwnerEnforced");
}

#[test]
fn other_peoples_statements_in_a_bucket_policy_are_theirs() {
    let look = seen("bucket", Phase::There, |doc| {
        let ours = bucket::tls_only("my-weights", "us-west-2");
        let theirs = infer_stack::model::Statement::deny("Theirs").principal("*", "*").actions(&["s3:DeleteObject"]);
        doc["policy"] = json!(Policy::of([ours, theirs]).document().to_string());
    });
    assert_eq!(look.projected["tlsOnly"], true);
}

#[test]
fn a_file_system_names_its_type_and_version_where_fsx_would_pick_others() {
    let graph = graph(&on_fsx());
    let system: file_system::Desired = want(&graph, &names::file_system());
    assert_eq!((system.deployment.as_str(), system.storage.as_str()), ("PERSISTENT_2", "SSD"));
    assert_eq!(system.version, "2.15");
    assert_eq!((system.capacity, system.throughput), (4800, 250));
    assert_eq!(system.metadata_iops, None);
    assert_eq!(system.backup_days, 0);
    assert_eq!(system.security_groups, [Link::to(&names::fsx_group(), "id")]);
    assert_eq!(system.subnet, Link::to(&names::private_subnet("usw2-az2"), "id"));
}

#[test]
fn a_file_system_with_efa_stands_in_the_group_that_trusts_itself() {
    let mut spec = on_fsx();
    (fsx(&mut spec).efa, fsx(&mut spec).capacity) = (true, 19_200);
    let system: file_system::Desired = want(&graph(&spec), &names::file_system());
    assert!(system.efa);
    assert!(system.security_groups.contains(&Link::to(&names::efa_group(), "id")));
}

#[test]
fn what_is_in_the_bucket_already_is_imported_and_shows_at_the_root() {
    let repository: data_repository::Desired = want(&graph(&on_fsx()), &names::data_repository());
    assert_eq!((repository.path.as_str(), repository.prefix.as_str()), ("/", "llama/"));
    assert!(repository.import_at_creation);
    assert_eq!(repository.bucket, Link::to(&names::weights_bucket(), "name"));
    assert_eq!(repository.import, [data_repository::Event::New, data_repository::Event::Changed]);
}

#[test]
fn a_bucket_path_is_the_same_with_and_without_its_last_slash() {
    let prefix = |path: &str| {
        let look = seen("data-repository", Phase::There, |doc| doc["dataRepositoryPath"] = json!(path));
        (look.projected["bucket"].clone(), look.projected["prefix"].clone())
    };
    assert_eq!(prefix("s3://b/llama/"), (json!({"$id": "b"}), json!("llama/")));
    assert_eq!(prefix("s3://b/llama"), prefix("s3://b/llama/"));
    assert_eq!(prefix("s3://b"), (json!({"$id": "b"}), json!("")));
    assert_eq!(prefix("s3://b/"), prefix("s3://b"));
}

#[test]
fn a_file_system_grows_in_place_and_shrinks_by_being_made_anew() {
    let system = names::file_system();
    assert_eq!(action(&change(|spec| fsx(spec).capacity = 7200), &system), Action::Update);
    assert_eq!(action(&change(|spec| fsx(spec).throughput = 500), &system), Action::Update);
    let smaller = change(|spec| fsx(spec).capacity = 2400);
    assert_eq!(action(&smaller, &system), Action::Replace);
    assert_eq!(action(&smaller, &names::data_repository()), Action::Replace);
}

#[test]
fn efa_comes_to_a_file_system_at_its_making_only() {
    assert_eq!(action(&change(|spec| fsx(spec).efa = true), &names::file_system()), Action::Replace);
}

#[test]
fn what_shows_by_itself_changes_in_place_and_the_bucket_path_does_not() {
    let repository = names::data_repository();
    assert_eq!(action(&change(|spec| fsx(spec).auto_import.clear()), &repository), Action::Update);
    let elsewhere = change(|spec| spec.weights.as_mut().unwrap().bucket.as_mut().unwrap().prefix = "qwen/".to_owned());
    assert_eq!(action(&elsewhere, &repository), Action::Replace);
    assert_eq!(action(&elsewhere, &names::file_system()), Action::Keep);
}

#[test]
fn a_file_system_goes_after_the_nodes_that_mount_it_and_after_its_association() {
    let plan = destroy(&on_fsx());
    let system = delete_at(&plan, &names::file_system());
    assert!(delete_at(&plan, &names::node_group("p5")) < system);
    assert!(delete_at(&plan, &names::data_repository()) < system);
    assert!(system < delete_at(&plan, &names::fsx_group()));
    assert!(system < delete_at(&plan, &names::private_subnet("usw2-az2")));
}

#[test]
fn metadata_that_fsx_counts_by_itself_is_no_drift() {
    let look = seen("file-system", Phase::There, |doc| doc["metadataIops"] = json!(6000));
    assert_eq!(look.projected["metadataIops"], json!(null));
    let own = seen("file-system", Phase::There, |doc| {
        doc["metadataMode"] = json!("USER_PROVISIONED");
        doc["metadataIops"] = json!(6000);
    });
    assert_eq!(own.projected["metadataIops"], 6000);
}

#[test]
fn a_file_system_says_what_it_waits_for_and_why_it_failed() {
    let busy = seen("file-system", Phase::Changing, |doc| doc["running"] = json!(["STORAGE_OPTIMIZATION 34 %"]));
    assert_eq!(busy.ready, Readiness::Pending("UPDATING: STORAGE_OPTIMIZATION 34 %".to_owned()));
    let failed = seen("file-system", Phase::There, |doc| {
        doc["lifecycle"] = json!("FAILED");
        doc["failure"] = json!("the security group does not permit Lustre LNET network traffic on port 988");
    });
    assert!(matches!(failed.ready, Readiness::Broken(why) if why.contains("988")));
    assert!(seen("file-system", Phase::Going, |_| {}).going);
}

#[test]
fn an_association_that_another_notification_disturbs_says_so() {
    let look = seen("data-repository", Phase::There, |doc| {
        doc["lifecycle"] = json!("MISCONFIGURED");
        doc["failure"] = json!("overlapping event notification");
    });
    assert_eq!(look.ready, Readiness::Broken("MISCONFIGURED: overlapping event notification".to_owned()));
}

#[test]
fn outputs_of_a_file_system_are_what_a_mount_needs() {
    let look = seen("file-system", Phase::There, |_| {});
    for output in ["id", "arn", "dns", "mount-name"] {
        assert!(look.outputs.contains_key(output), "{output}");
    }
}

#[test]
fn a_file_system_demands_quota_money_and_addresses() {
    let graph = graph(&on_fsx());
    let demands = resources::kind("file-system").unwrap().demand(&graph.wishes[&names::file_system()].doc).unwrap();
    assert!(demands.contains(&Demand::billed("fsxGibMonths:250", 4800.0)));
    assert!(demands.contains(&Demand::one("fsxPersistent2")));
    assert!(demands.contains(&Demand::Count { of: "fsxPersistent2Gib".to_owned(), n: 4800 }));
    assert!(demands.iter().any(|demand| matches!(demand, Demand::Addresses { n: 3, .. })), "{demands:?}");
}

#[test]
fn storage_is_held_to_what_fsx_and_s3_refuse() {
    assert_eq!(complaints("file-system", |want| want["version"] = json!("2.10")).len(), 1);
    assert_eq!(complaints("file-system", |want| want["securityGroups"] = json!([])).len(), 1);
    assert_eq!(complaints("file-system", |want| want["backupDays"] = json!(7)).len(), 1);
    assert_eq!(complaints("data-repository", |want| want["prefix"] = json!("llama")).len(), 1);
    assert_eq!(complaints("bucket", |want| want["name"] = json!("My_Weights")).len(), 1);
}
