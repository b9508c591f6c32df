//! IAM and STS: roles and what hangs on them, profiles, providers, sessions, simulated permissions, and who sees them when.

use super::desk::Desk;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use infer_stack::{cloud::memory::Scenario, sandbox::world::identity::Unfit};
use serde_json::{Value, json};

const EKS: &str = "eks.amazonaws.com";

fn trusting(service: &str) -> String {
    json!({
        "Version": "2012-10-17",
        "Statement": [{ "Effect": "Allow", "Principal": { "Service": service }, "Action": "sts:AssumeRole" }],
    })
    .to_string()
}

fn allowing(action: &str, resource: &str) -> String {
    let statement = json!({ "Effect": "Allow", "Action": action, "Resource": resource });
    json!({ "Version": "2012-10-17", "Statement": [statement] }).to_string()
}

fn role(desk: &mut Desk, name: &str) -> String {
    let input = json!({ "RoleName": name, "Path": "/infer-stack/x/", "AssumeRolePolicyDocument": trusting(EKS) });
    desk.id("iam:CreateRole", input, "/Role/Arn")
}

fn published(name: &str) -> String {
    format!("arn:aws:iam::aws:policy/{name}")
}

#[test]
fn a_role_goes_only_when_nothing_hangs_on_it() {
    let mut desk = Desk::new();
    assert_eq!(role(&mut desk, "node"), "arn:aws:iam::123456789012:role/infer-stack/x/node");
    let of = json!({ "RoleName": "node" });
    let policy = json!({ "RoleName": "node", "PolicyArn": published("AmazonEKSClusterPolicy") });
    desk.ok("iam:AttachRolePolicy", policy.clone());
    let inline = json!({ "RoleName": "node", "PolicyName": "own", "PolicyDocument": allowing("s3:GetObject", "*") });
    desk.ok("iam:PutRolePolicy", inline);
    desk.ok("iam:CreateInstanceProfile", json!({ "InstanceProfileName": "node" }));
    let pair = json!({ "InstanceProfileName": "node", "RoleName": "node" });
    desk.ok("iam:AddRoleToInstanceProfile", pair.clone());
    let conflict = |message: &str| ("DeleteConflict".to_owned(), message.to_owned());
    let refused = desk.refused("iam:DeleteRole", of.clone());
    assert_eq!(refused, conflict("Cannot delete entity, must detach all policies first."));
    desk.ok("iam:DetachRolePolicy", policy.clone());
    assert_eq!(desk.code("iam:DetachRolePolicy", policy), "NoSuchEntity");
    let refused = desk.refused("iam:DeleteRole", of.clone());
    assert_eq!(refused, conflict("Cannot delete entity, must delete policies first."));
    desk.ok("iam:DeleteRolePolicy", json!({ "RoleName": "node", "PolicyName": "own" }));
    let refused = desk.refused("iam:DeleteRole", of.clone());
    assert_eq!(refused, conflict("Cannot delete entity, must remove roles from instance profile first."));
    assert_eq!(desk.code("iam:DeleteInstanceProfile", json!({ "InstanceProfileName": "node" })), "DeleteConflict");
    desk.ok("iam:RemoveRoleFromInstanceProfile", pair);
    desk.ok("iam:DeleteInstanceProfile", json!({ "InstanceProfileName": "node" }));
    desk.ok("iam:DeleteRole", of.clone());
    let (code, message) = desk.refused("iam:DeleteRole", of);
    assert_eq!((code.as_str(), message.as_str()), ("NoSuchEntity", "The role with name node cannot be found."));
}

#[test]
fn names_are_taken_in_any_case_and_limits_hold() {
    let mut desk = Desk::new();
    role(&mut desk, "Node");
    let again = json!({ "RoleName": "node", "AssumeRolePolicyDocument": trusting(EKS) });
    let (code, message) = desk.refused("iam:CreateRole", again);
    assert_eq!((code.as_str(), message.as_str()), ("EntityAlreadyExists", "Role with name node already exists."));
    let names =
        ["AmazonEKSClusterPolicy", "AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEKSServicePolicy"];
    let more =
        ["AmazonEKSVPCResourceController", "AmazonS3FullAccess", "AmazonS3ReadOnlyAccess", "AmazonFSxFullAccess"];
    let last = ["AmazonEC2FullAccess", "AmazonSSMManagedInstanceCore"];
    let attach = |name: &str| json!({ "RoleName": "Node", "PolicyArn": published(name) });
    for name in names.iter().chain(&more).chain(&last) {
        desk.ok("iam:AttachRolePolicy", attach(name));
    }
    desk.ok("iam:AttachRolePolicy", attach("AmazonEC2FullAccess"));
    assert_eq!(desk.code("iam:AttachRolePolicy", attach("AdministratorAccess")), "LimitExceeded");
    assert_eq!(desk.code("iam:AttachRolePolicy", attach("AmazonEKSClusterPolice")), "NoSuchEntity");
    let put = |name: &str, size: usize| {
        let policy = allowing("s3:GetObject", &format!("arn:aws:s3:::{}", "x".repeat(size)));
        json!({ "RoleName": "Node", "PolicyName": name, "PolicyDocument": policy })
    };
    desk.ok("iam:PutRolePolicy", put("a", 6_000));
    assert_eq!(desk.code("iam:PutRolePolicy", put("b", 6_000)), "LimitExceeded");
    desk.ok("iam:PutRolePolicy", put("a", 9_000));
    let long =
        json!({ "RoleName": "Node", "PolicyDocument": trusting(&format!("{}.amazonaws.com", "x".repeat(2_048))) });
    assert_eq!(desk.code("iam:UpdateAssumeRolePolicy", long), "LimitExceeded");
    desk.ok("iam:CreateInstanceProfile", json!({ "InstanceProfileName": "p" }));
    let pair = |role: &str| json!({ "InstanceProfileName": "p", "RoleName": role });
    role(&mut desk, "second");
    desk.ok("iam:AddRoleToInstanceProfile", pair("Node"));
    assert_eq!(desk.code("iam:AddRoleToInstanceProfile", pair("second")), "LimitExceeded");
    let tags: Vec<_> = (0..51).map(|n| json!({ "Key": format!("k{n}"), "Value": "" })).collect();
    assert_eq!(desk.code("iam:TagRole", json!({ "RoleName": "Node", "Tags": tags })), "LimitExceeded");
}

#[test]
fn documents_that_iam_can_not_read_are_refused() {
    let mut desk = Desk::new();
    role(&mut desk, "node");
    let mut put = |document: &str| {
        desk.refused("iam:PutRolePolicy", json!({ "RoleName": "node", "PolicyName": "p", "PolicyDocument": document }))
            .1
    };
    assert_eq!(put("{"), "This policy contains invalid Json");
    assert_eq!(
        put(&allowing("GetObject", "*")),
        "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc."
    );
    assert_eq!(put(&allowing("s3:GetObject", "weights")), "Resource weights must be in ARN format or \"*\".");
    assert_eq!(put(&trusting(EKS)), "Policy document should not specify a principal.");
    assert_eq!(put(r#"{"Version": "2012-10-17", "Statement": [], "Extra": 1}"#), "Syntax errors in policy.");
    let mut trust = |document: &str| {
        let input = json!({ "RoleName": "node", "PolicyDocument": document });
        desk.refused("iam:UpdateAssumeRolePolicy", input).1
    };
    assert_eq!(trust(&allowing("sts:AssumeRole", "*")), "Has prohibited field Resource");
    assert_eq!(trust(&trusting("eks")), "Invalid principal in policy: \"SERVICE\":\"eks\"");
    let nobody = "arn:aws:iam::123456789012:role/nobody";
    let of = json!({ "Effect": "Allow", "Principal": { "AWS": nobody }, "Action": "sts:AssumeRole" });
    let of = json!({ "Version": "2012-10-17", "Statement": of }).to_string();
    assert_eq!(trust(&of), format!("Invalid principal in policy: \"AWS\":\"{nobody}\""));
}

#[test]
fn roles_are_listed_by_path_and_in_pages() {
    let mut desk = Desk::of(Scenario::parse("lagMs: 5000").unwrap());
    for name in ["a", "b", "c"] {
        role(&mut desk, name);
    }
    assert_eq!(desk.code("iam:GetRole", json!({ "RoleName": "a" })), "NoSuchEntity", "reads lag behind");
    desk.wait(6);
    let first = desk.ok("iam:ListRoles", json!({ "PathPrefix": "/infer-stack/", "MaxItems": 2 }));
    assert_eq!(first["Roles"].as_array().unwrap().len(), 2);
    assert_eq!(first["IsTruncated"], true);
    assert!(first["Roles"][0].get("Tags").is_none(), "lists leave tags out");
    let rest = json!({ "PathPrefix": "/infer-stack/", "MaxItems": 2, "Marker": first["Marker"] });
    let rest = desk.ok("iam:ListRoles", rest);
    assert_eq!((rest["Roles"].as_array().unwrap().len(), &rest["IsTruncated"]), (1, &json!(false)));
    let caller = desk.ok("iam:ListRoles", json!({ "PathPrefix": "/platform/" }));
    assert_eq!(caller["Roles"][0]["RoleName"], "ci");
}

#[test]
fn a_role_is_seen_by_services_some_seconds_later() {
    let mut desk = Desk::new();
    let arn = role(&mut desk, "cluster");
    let act = ["sts:AssumeRole"];
    assert_eq!(desk.world.assumable(&arn, EKS, &act), Err(Unfit::Missing), "a new one is not seen");
    desk.wait(10);
    desk.ok("sts:GetCallerIdentity", json!({}));
    assert_eq!(desk.world.assumable(&arn, EKS, &act), Ok(()));
    assert_eq!(desk.world.assumable(&arn, EKS, &["sts:AssumeRole", "sts:TagSession"]), Err(Unfit::Distrusting));
    assert_eq!(desk.world.assumable(&arn, "ec2.amazonaws.com", &act), Err(Unfit::Distrusting));
    let other = "arn:aws:iam::123456789012:role/cluster";
    assert_eq!(desk.world.assumable(other, EKS, &act), Err(Unfit::Missing), "the path is part of the ARN");
    // A changed trust is seen late too.
    let changed = json!({ "RoleName": "cluster", "PolicyDocument": trusting("ec2.amazonaws.com") });
    desk.ok("iam:UpdateAssumeRolePolicy", changed);
    assert_eq!(desk.world.assumable(&arn, EKS, &act), Ok(()));
    desk.wait(10);
    desk.ok("sts:GetCallerIdentity", json!({}));
    assert_eq!(desk.world.assumable(&arn, EKS, &act), Err(Unfit::Distrusting));
}

#[test]
fn a_role_that_was_deleted_does_not_appear_by_itself() {
    let mut desk = Desk::new();
    let brought = "arn:aws:iam::123456789012:role/brought";
    assert_eq!(desk.world.assumable(brought, EKS, &["sts:AssumeRole"]), Ok(()));
    let arn = role(&mut desk, "own");
    desk.ok("iam:DeleteRole", json!({ "RoleName": "own" }));
    assert_eq!(desk.world.assumable(&arn, EKS, &["sts:AssumeRole"]), Err(Unfit::Missing));
    let mut strict = Desk::of(Scenario::parse("broughtAppears: false").unwrap());
    assert_eq!(strict.world.assumable(brought, EKS, &["sts:AssumeRole"]), Err(Unfit::Missing));
}

#[test]
fn a_profile_serves_machines_once_ec2_sees_it_and_its_role() {
    let mut desk = Desk::new();
    role(&mut desk, "node");
    let arn = desk.id("iam:CreateInstanceProfile", json!({ "InstanceProfileName": "node" }), "/InstanceProfile/Arn");
    let refused = |desk: &Desk| desk.world.instance_profile(Some("node"), None).unwrap_err().message;
    let invisible = "Value (node) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name";
    assert_eq!(refused(&desk), invisible);
    desk.wait(10);
    desk.ok("iam:AddRoleToInstanceProfile", json!({ "InstanceProfileName": "node", "RoleName": "node" }));
    assert_eq!(refused(&desk), format!("IAM Instance Profile \"{arn}\" has no associated IAM Roles"));
    desk.wait(10);
    let of = desk.ok("iam:ListInstanceProfilesForRole", json!({ "RoleName": "node" }));
    assert_eq!(of["InstanceProfiles"][0]["Roles"][0]["RoleName"], "node");
    assert_eq!(desk.world.instance_profile(None, Some(&arn)).unwrap(), arn);
}

#[test]
fn service_roles_are_made_once_and_changed_by_nobody() {
    let mut desk = Desk::new();
    let spot = json!({ "AWSServiceName": "spot.amazonaws.com" });
    let arn = desk.id("iam:CreateServiceLinkedRole", spot.clone(), "/Role/Arn");
    assert!(arn.ends_with("role/aws-service-role/spot.amazonaws.com/AWSServiceRoleForEC2Spot"));
    let (code, message) = desk.refused("iam:CreateServiceLinkedRole", spot);
    assert_eq!(code, "InvalidInput");
    assert!(message.contains("has been taken in this account"), "{message}");
    let name = json!({ "RoleName": "AWSServiceRoleForEC2Spot" });
    assert_eq!(desk.code("iam:DeleteRole", name), "UnmodifiableEntity");
}

fn token(claims: &Value) -> String {
    format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims.to_string()))
}

#[test]
fn a_token_opens_a_session_where_provider_audience_and_trust_fit() {
    let mut desk = Desk::new();
    let host = "oidc.eks.us-west-2.amazonaws.com/id/ABC";
    let provider = json!({ "Url": format!("https://{host}"), "ClientIDList": ["sts.amazonaws.com"] });
    let provider =
        |desk: &mut Desk| desk.id("iam:CreateOpenIDConnectProvider", provider.clone(), "/OpenIDConnectProviderArn");
    let arn = provider(&mut desk);
    let again = json!({ "Url": format!("https://{host}") });
    assert_eq!(desk.code("iam:CreateOpenIDConnectProvider", again), "EntityAlreadyExists");
    let condition = json!({ "StringEquals": { (format!("{host}:sub")): "system:serviceaccount:a:b" } });
    let trust = json!({ "Version": "2012-10-17", "Statement": [{
        "Effect": "Allow", "Principal": { "Federated": arn }, "Action": "sts:AssumeRoleWithWebIdentity", "Condition": condition,
    }] });
    let made = json!({ "RoleName": "pod", "AssumeRolePolicyDocument": trust.to_string() });
    let role = desk.id("iam:CreateRole", made, "/Role/Arn");
    let claims =
        |subject: &str, audience: &str| json!({ "iss": format!("https://{host}"), "sub": subject, "aud": audience });
    let ask = |claims: Value| json!({ "RoleArn": role, "RoleSessionName": "pod", "WebIdentityToken": token(&claims) });
    let fitting = ask(claims("system:serviceaccount:a:b", "sts.amazonaws.com"));
    assert_eq!(desk.code("sts:AssumeRoleWithWebIdentity", fitting.clone()), "AccessDenied", "STS does not see it yet");
    desk.wait(10);
    let session = desk.ok("sts:AssumeRoleWithWebIdentity", fitting);
    assert_eq!(session["AssumedRoleUser"]["Arn"], "arn:aws:sts::123456789012:assumed-role/pod/pod");
    let stranger = ask(claims("system:serviceaccount:a:c", "sts.amazonaws.com"));
    assert_eq!(desk.code("sts:AssumeRoleWithWebIdentity", stranger), "AccessDenied");
    let elsewhere = ask(claims("system:serviceaccount:a:b", "other"));
    assert_eq!(desk.code("sts:AssumeRoleWithWebIdentity", elsewhere), "InvalidIdentityToken");
    desk.ok("iam:DeleteOpenIDConnectProvider", json!({ "OpenIDConnectProviderArn": arn }));
    let gone = ask(claims("system:serviceaccount:a:b", "sts.amazonaws.com"));
    assert_eq!(desk.code("sts:AssumeRoleWithWebIdentity", gone), "InvalidIdentityToken");
}

#[test]
fn the_caller_is_a_session_of_the_scenario_s_role_and_may_open_others() {
    let mut desk = Desk::new();
    let caller = desk.ok("sts:GetCallerIdentity", json!({}));
    assert_eq!(caller["Arn"], "arn:aws:sts::123456789012:assumed-role/ci/sandbox");
    assert_eq!(desk.code("iam:GetUser", json!({})), "ValidationError");
    let eks = role(&mut desk, "cluster");
    desk.wait(10);
    let ask = |arn: &str, seconds: i64| json!({ "RoleArn": arn, "RoleSessionName": "me", "DurationSeconds": seconds });
    assert_eq!(desk.code("sts:AssumeRole", ask(&eks, 900)), "AccessDenied", "it trusts a service only");
    let own = "arn:aws:iam::123456789012:role/platform/ci";
    assert_eq!(desk.code("sts:AssumeRole", ask(own, 7_200)), "ValidationError", "a session opens an hour at most");
    let opened = desk.ok("sts:AssumeRole", ask(own, 900));
    assert_eq!(opened["AssumedRoleUser"]["Arn"], "arn:aws:sts::123456789012:assumed-role/ci/me");
    let mut user = Desk::of(Scenario::parse("principal: arn:aws:iam::ACCOUNT:user/ops/jane").unwrap());
    assert_eq!(user.ok("sts:GetCallerIdentity", json!({}))["Arn"], "arn:aws:iam::123456789012:user/ops/jane");
    assert_eq!(user.ok("iam:GetUser", json!({}))["User"]["UserName"], "jane");
}

#[test]
fn simulation_tells_allowed_from_silent_and_denied() {
    let mut desk = Desk::new();
    let arn = role(&mut desk, "reader");
    let statements = json!([
        { "Effect": "Allow", "Action": "s3:Get*", "Resource": "arn:aws:s3:::weights/*" },
        { "Effect": "Allow", "Action": "s3:ListBucket", "Resource": "*",
          "Condition": { "StringEquals": { "aws:RequestedRegion": "us-west-2" } } },
        { "Effect": "Deny", "Action": "s3:GetObjectAcl", "Resource": "*" },
    ]);
    let policy = json!({ "Version": "2012-10-17", "Statement": statements }).to_string();
    desk.ok("iam:PutRolePolicy", json!({ "RoleName": "reader", "PolicyName": "p", "PolicyDocument": policy }));
    let mut say = |action: &str, resource: &str, region: Option<&str>| {
        let mut input = json!({ "PolicySourceArn": arn, "ActionNames": [action], "ResourceArns": [resource] });
        if let Some(region) = region {
            let entry = json!({ "ContextKeyName": "aws:RequestedRegion", "ContextKeyValues": [region], "ContextKeyType": "string" });
            input["ContextEntries"] = json!([entry]);
        }
        desk.ok("iam:SimulatePrincipalPolicy", input)["EvaluationResults"][0].clone()
    };
    assert_eq!(say("s3:GetObject", "arn:aws:s3:::weights/a", None)["EvalDecision"], "allowed");
    assert_eq!(say("s3:GetObject", "arn:aws:s3:::other/a", None)["EvalDecision"], "implicitDeny");
    assert_eq!(say("s3:GetObjectAcl", "arn:aws:s3:::weights/a", None)["EvalDecision"], "explicitDeny");
    let lacking = say("s3:ListBucket", "*", None);
    assert_eq!(
        (&lacking["EvalDecision"], &lacking["MissingContextValues"][0]),
        (&json!("implicitDeny"), &json!("aws:RequestedRegion"))
    );
    assert_eq!(say("s3:ListBucket", "*", Some("us-west-2"))["EvalDecision"], "allowed");
    let ci = "arn:aws:iam::123456789012:role/platform/ci";
    let all =
        desk.ok("iam:SimulatePrincipalPolicy", json!({ "PolicySourceArn": ci, "ActionNames": ["eks:CreateCluster"] }));
    assert_eq!(all["EvaluationResults"][0]["EvalDecision"], "allowed");
    let session = json!({ "PolicySourceArn": "arn:aws:sts::123456789012:assumed-role/ci/x", "ActionNames": ["eks:CreateCluster"] });
    assert_eq!(desk.code("iam:SimulatePrincipalPolicy", session), "InvalidInput");
}

#[test]
fn policies_of_aws_are_there_with_their_documents() {
    let mut desk = Desk::new();
    for name in [
        "AmazonEKSClusterPolicy",
        "AmazonEKSWorkerNodePolicy",
        "AmazonEKS_CNI_Policy",
        "service-role/AmazonEBSCSIDriverPolicy",
    ] {
        let arn = published(name);
        let version = desk.id("iam:GetPolicy", json!({ "PolicyArn": arn }), "/Policy/DefaultVersionId");
        let document = desk.ok("iam:GetPolicyVersion", json!({ "PolicyArn": arn, "VersionId": version }));
        let document = document["PolicyVersion"]["Document"].as_str().unwrap();
        assert!(document.starts_with("%7B%22Statement%22"), "{document}");
    }
    assert_eq!(
        desk.code("iam:GetPolicy", json!({ "PolicyArn": published("AmazonEBSCSIDriverPolicy") })),
        "NoSuchEntity"
    );
}

#[test]
fn tags_keep_one_key_whatever_its_case() {
    let mut desk = Desk::new();
    role(&mut desk, "node");
    let tag = |key: &str, value: &str| json!({ "RoleName": "node", "Tags": [{ "Key": key, "Value": value }] });
    desk.ok("iam:TagRole", tag("team", "a"));
    desk.ok("iam:TagRole", tag("Team", "b"));
    let tags = desk.ok("iam:ListRoleTags", json!({ "RoleName": "node" }));
    assert_eq!(tags["Tags"], json!([{ "Key": "Team", "Value": "b" }]));
    assert_eq!(desk.code("iam:TagRole", tag("aws:x", "")), "InvalidInput");
    desk.ok("iam:UntagRole", json!({ "RoleName": "node", "TagKeys": ["team"] }));
    assert_eq!(desk.ok("iam:ListRoleTags", json!({ "RoleName": "node" }))["Tags"], json!([]));
}
