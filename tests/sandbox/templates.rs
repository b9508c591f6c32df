//! Launch templates and placement groups.

use super::{desk::Desk, ground::Ground};
use serde_json::{Value, json};

fn template(desk: &mut Desk, name: &str, data: Value) -> String {
    let input = json!({ "LaunchTemplateName": name, "LaunchTemplateData": data });
    desk.id("ec2:CreateLaunchTemplate", input, "/LaunchTemplate/LaunchTemplateId")
}

#[test]
fn a_template_counts_its_versions_and_lists_the_latest_of_all() {
    let mut desk = Desk::new();
    let a = template(&mut desk, "aaa", json!({ "InstanceType": "m6i.large" }));
    template(&mut desk, "bbb", json!({ "InstanceType": "m6i.xlarge" }));
    let second = json!({ "LaunchTemplateId": a, "LaunchTemplateData": { "InstanceType": "m6i.2xlarge" } });
    let made = desk.ok("ec2:CreateLaunchTemplateVersion", second);
    assert_eq!(made["LaunchTemplateVersion"]["VersionNumber"], 2);
    let third = json!({ "LaunchTemplateId": a, "SourceVersion": "1", "LaunchTemplateData": { "KeyName": "k" } });
    let made = desk.ok("ec2:CreateLaunchTemplateVersion", third);
    assert_eq!(made["LaunchTemplateVersion"]["LaunchTemplateData"]["InstanceType"], "m6i.large", "laid over version 1");
    let latest = desk.ok("ec2:DescribeLaunchTemplateVersions", json!({ "Versions": ["$Latest"] }));
    let numbers: Vec<_> =
        latest["LaunchTemplateVersions"].as_array().unwrap().iter().map(|v| &v["VersionNumber"]).collect();
    assert_eq!(numbers.len(), 2);
    assert!(numbers.contains(&&json!(3)) && numbers.contains(&&json!(1)), "{numbers:?}");
    let page = desk.ok("ec2:DescribeLaunchTemplateVersions", json!({ "Versions": ["$Latest"], "MaxResults": 1 }));
    assert!(page["NextToken"].is_string(), "{page}");
    assert_eq!(desk.code("ec2:DescribeLaunchTemplateVersions", json!({})), "MissingParameter");
    desk.ok("ec2:ModifyLaunchTemplate", json!({ "LaunchTemplateId": a, "DefaultVersion": "3" }));
    let gone =
        desk.ok("ec2:DeleteLaunchTemplateVersions", json!({ "LaunchTemplateId": a, "Versions": ["1", "3", "9"] }));
    assert_eq!(gone["SuccessfullyDeletedLaunchTemplateVersions"].as_array().unwrap().len(), 1);
    let kept = gone["UnsuccessfullyDeletedLaunchTemplateVersions"].as_array().unwrap();
    assert_eq!(kept[1]["ResponseError"]["Code"], "launchTemplateVersionDoesNotExist", "3 is the default: {kept:?}");
    let (code, _) =
        desk.refused("ec2:DescribeLaunchTemplateVersions", json!({ "LaunchTemplateId": a, "Versions": ["1"] }));
    assert_eq!(code, "InvalidLaunchTemplateId.VersionNotFound");
}

#[test]
fn a_template_is_found_by_id_or_name_and_refused_as_ec2_does() {
    let mut desk = Desk::new();
    let id = template(&mut desk, "nodes", json!({}));
    let again = json!({ "LaunchTemplateName": "nodes", "LaunchTemplateData": {} });
    assert_eq!(desk.code("ec2:CreateLaunchTemplate", again), "InvalidLaunchTemplateName.AlreadyExistsException");
    let listed = desk.ok("ec2:DescribeLaunchTemplates", json!({ "LaunchTemplateNames": ["nodes"] }));
    assert_eq!(listed["LaunchTemplates"][0]["LaunchTemplateId"], json!(id));
    let other = json!({ "LaunchTemplateNames": ["other"] });
    assert_eq!(desk.code("ec2:DescribeLaunchTemplates", other), "InvalidLaunchTemplateName.NotFoundException");
    let long = json!({ "LaunchTemplateName": "big", "LaunchTemplateData": { "UserData": "QUFB".repeat(5_500) } });
    assert_eq!(desk.code("ec2:CreateLaunchTemplate", long), "InvalidParameterValue");
    let plain = json!({ "LaunchTemplateName": "big", "LaunchTemplateData": { "UserData": "not base64!" } });
    assert_eq!(desk.code("ec2:CreateLaunchTemplate", plain), "InvalidUserData.Malformed");
    desk.ok("ec2:DeleteLaunchTemplate", json!({ "LaunchTemplateId": id }));
    assert_eq!(
        desk.code("ec2:DeleteLaunchTemplate", json!({ "LaunchTemplateId": id })),
        "InvalidLaunchTemplateId.NotFound"
    );
}

#[test]
fn a_repeated_create_is_one_template_and_another_one_under_the_token_is_refused() {
    let mut desk = Desk::new();
    let input = |data| json!({ "LaunchTemplateName": "nodes", "LaunchTemplateData": data, "ClientToken": "token" });
    let first = desk.ok("ec2:CreateLaunchTemplate", input(json!({})));
    assert_eq!(desk.ok("ec2:CreateLaunchTemplate", input(json!({}))), first);
    let other = input(json!({ "KeyName": "k" }));
    assert_eq!(desk.code("ec2:CreateLaunchTemplate", other), "IdempotentParameterMismatch");
}

#[test]
fn placement_groups_have_strategies_that_fit_and_names_of_their_own() {
    let mut desk = Desk::new();
    let group = |name: &str, strategy: &str| json!({ "GroupName": name, "Strategy": strategy });
    desk.ok("ec2:CreatePlacementGroup", group("near", "cluster"));
    let (code, message) = desk.refused("ec2:CreatePlacementGroup", group("near", "spread"));
    assert_eq!(
        (code.as_str(), message.as_str()),
        ("InvalidPlacementGroup.Duplicate", "The placement group 'near' already exists.")
    );
    for (more, code) in [
        (json!({ "GroupName": "x", "Strategy": "cluster", "PartitionCount": 2 }), "InvalidParameterCombination"),
        (json!({ "GroupName": "x", "Strategy": "partition", "PartitionCount": 8 }), "InvalidParameterValue"),
        (json!({ "GroupName": "x", "Strategy": "cluster", "SpreadLevel": "rack" }), "InvalidParameterCombination"),
        (json!({ "GroupName": "x" }), "MissingParameter"),
    ] {
        assert_eq!(desk.code("ec2:CreatePlacementGroup", more.clone()), code, "{more}");
    }
    let listed = |desk: &mut Desk| desk.ok("ec2:DescribePlacementGroups", json!({}))["PlacementGroups"].clone();
    assert_eq!(listed(&mut desk)[0]["State"], "pending");
    desk.wait(5);
    assert_eq!(listed(&mut desk)[0]["State"], "available");
    desk.ok("ec2:DeletePlacementGroup", json!({ "GroupName": "near" }));
    assert_eq!(listed(&mut desk)[0]["State"], "deleting");
    desk.wait(5);
    assert_eq!(listed(&mut desk), json!([]));
    assert_eq!(desk.code("ec2:DeletePlacementGroup", json!({ "GroupName": "near" })), "InvalidPlacementGroup.Unknown");
    let gone = json!({ "GroupNames": ["near"] });
    assert_eq!(desk.code("ec2:DescribePlacementGroups", gone), "InvalidPlacementGroup.Unknown");
}

#[test]
fn a_placement_group_is_held_by_what_shuts_down_in_it() {
    let mut ground = Ground::new(Desk::new());
    ground.desk.ok("ec2:CreatePlacementGroup", json!({ "GroupName": "near", "Strategy": "cluster" }));
    let run = ground.run("m6i.xlarge", json!({ "Placement": { "GroupName": "near" } }));
    let id = ground.desk.id("ec2:RunInstances", run, "/Instances/0/InstanceId");
    let delete = json!({ "GroupName": "near" });
    let (code, message) = ground.desk.refused("ec2:DeletePlacementGroup", delete.clone());
    assert_eq!(code, "InvalidPlacementGroup.InUse");
    assert_eq!(message, "The placement group 'near' is in use and may not be deleted.");
    ground.desk.ok("ec2:TerminateInstances", json!({ "InstanceIds": [id] }));
    assert_eq!(ground.desk.code("ec2:DeletePlacementGroup", delete.clone()), "InvalidPlacementGroup.InUse");
    ground.desk.wait(600);
    ground.desk.ok("ec2:DeletePlacementGroup", delete);
}
