//! Roles, each from its making to its end, with drift in between.

use super::desk::Desk;
use infer_stack::{
    model::{Policy, Statement, aws_policy},
    resources::role::{self, Role, trust_pods, trust_service},
};

fn role() -> role::Desired {
    let read = Statement::allow("Read").actions(&["s3:GetObject"]).on(["arn:aws:s3:::weights/*"]);
    role::Desired {
        name: "llama-us-west-2-weights".to_owned(),
        path: "/platform/infer-stack/us-west-2/llama/".to_owned(),
        description: "reads the weights".to_owned(),
        trust: trust_pods(),
        managed: [aws_policy("us-west-2", "AmazonSSMManagedInstanceCore")].into(),
        inline: [("weights".to_owned(), Policy::of([read]))].into(),
        boundary: Some("arn:aws:iam::123456789012:policy/boundary".to_owned()),
        max_session: 3_600,
    }
}

#[tokio::test(start_paused = true)]
async fn a_role_is_made_found_by_its_path_changed_and_deleted() {
    let desk = Desk::new();
    let want = role();
    let id = desk.make::<Role>("weights", &want).await;
    assert_eq!(desk.list::<Role>().await, [id.as_str()], "the caller's own role is not ours");
    let other = role::Desired {
        description: String::new(),
        trust: trust_service("ec2.amazonaws.com"),
        managed: [aws_policy("us-west-2", "AmazonEKS_CNI_Policy")].into(),
        inline: Default::default(),
        boundary: None,
        max_session: 7_200,
        ..want.clone()
    };
    let all = ["/boundary", "/description", "/inline", "/managed", "/maxSession", "/trust"];
    let mut changed = desk.bring::<Role>("weights", &id, &other).await;
    changed.sort();
    assert_eq!(changed, all);
    let mut changed = desk.bring::<Role>("weights", &id, &want).await;
    changed.sort();
    assert_eq!(changed, all);
    desk.aws.iam().untag_role().role_name(&id).tag_keys("team").send().await.unwrap();
    assert_eq!(desk.bring::<Role>("weights", &id, &want).await, ["/tags"]);
    desk.end::<Role>(&id).await;
    assert!(desk.list::<Role>().await.is_empty());
    desk.delete::<Role>(&id).await.unwrap();
}
