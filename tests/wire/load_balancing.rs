//! Load balancers and target groups that a controller made: found by tag, by cluster or by VPC, and deleted in order.

use super::{
    desk::{Desk, IN},
    network::{subnet, vpc},
};
use infer_stack::{
    contract::Class,
    model::{STACK, Tags},
    resources::{
        load_balancer::LoadBalancer,
        security_group::SecurityGroup,
        subnet::{ROLE_INTERNAL_ELB, Subnet},
        target_group::TargetGroup,
        vpc::Vpc,
    },
    sandbox::world::load_balancing::Exposed,
};

#[tokio::test(start_paused = true)]
async fn what_a_controller_left_is_found_and_deleted() {
    let mut desk = Desk::new();
    let vpc = desk.make::<Vpc>("main", &vpc()).await;
    let subnets = [
        desk.make::<Subnet>("1", &subnet(&vpc, 1, ROLE_INTERNAL_ELB)).await,
        desk.make::<Subnet>("2", &subnet(&vpc, 2, ROLE_INTERNAL_ELB)).await,
    ];
    let expose = |cluster: &str, name: &str, tags: Tags| {
        desk.sandbox.with(|world| {
            let exposed = Exposed {
                cluster,
                namespace: "serving",
                name,
                kind: "application",
                scheme: "internal",
                vpc: &vpc,
                subnets: &subnets,
                port: 8000,
                node_group: None,
                tags,
            };
            world.expose(IN, &exposed).unwrap()
        })
    };
    let ours = expose("llama", "vllm", Tags::from([(STACK.to_owned(), "llama".to_owned())]));
    let untagged = expose("llama", "gateway", Tags::new());
    let other = expose("mistral", "vllm", Tags::new());
    let mut both = [ours.clone(), untagged.clone()];
    both.sort();
    assert_eq!(desk.list::<LoadBalancer>().await, both, "by the stack's tag or by the cluster's");
    desk.scope.vpc = Some(vpc.clone());
    assert_eq!(desk.list::<LoadBalancer>().await.len(), 3, "and by the VPC");
    let live = desk.seen::<LoadBalancer>(&ours).await;
    assert_eq!((live.state.as_str(), live.subnet_ids.len()), ("provisioning", 2));
    desk.ready::<LoadBalancer>(&ours).await;
    let groups = desk.list::<TargetGroup>().await;
    assert_eq!(groups.len(), 3);
    let in_use = desk.delete::<TargetGroup>(&groups[0]).await.unwrap_err();
    assert_eq!(in_use.class, Class::InUse);
    for balancer in [&ours, &untagged, &other] {
        desk.end::<LoadBalancer>(balancer).await;
        desk.delete::<LoadBalancer>(balancer).await.unwrap();
    }
    for group in &groups {
        desk.end::<TargetGroup>(group).await;
    }
    let held = desk.list::<SecurityGroup>().await;
    assert_eq!(desk.delete::<SecurityGroup>(&held[0]).await.unwrap_err().class, Class::InUse, "interfaces outlive");
    desk.wait(60).await;
    for group in &held {
        desk.end::<SecurityGroup>(group).await;
    }
}

#[tokio::test(start_paused = true)]
async fn tags_of_many_are_asked_for_twenty_at_a_time() {
    let mut desk = Desk::new();
    let vpc = desk.make::<Vpc>("main", &vpc()).await;
    for n in 0..45 {
        let group = desk.aws.load_balancing().create_target_group().name(format!("web-{n}")).vpc_id(&vpc).port(80);
        group.protocol("HTTP".into()).send().await.unwrap();
    }
    desk.scope.vpc = Some(vpc);
    assert_eq!(desk.list::<TargetGroup>().await.len(), 45);
    let asked = desk.sandbox.heard().iter().filter(|heard| heard.call == "elbv2:DescribeTags").count();
    assert_eq!(asked, 3);
}
