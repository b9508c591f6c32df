//! What a right file means: defaults, units, variables, anchors, documents.

use super::{one, read};
use infer_stack::catalog::Catalog;
use infer_stack::stack::*;

const GPU: &str = "name: x\nregion: us-west-2\nnodeClasses:\n  - name: gpu\n    instanceTypes: [g6e.xlarge]\n";

fn with(more: &str) -> Spec {
    one(&format!("{GPU}{more}")).spec
}

fn class(more: &str) -> NodeClass {
    with(more).node_classes.remove(0)
}

#[test]
fn the_contracts_own_example_is_read_as_it_says() {
    let parsed = one(include_str!("contract.yaml"));
    let spec = parsed.spec;
    assert_eq!(spec.account.as_deref(), Some("123456789012"));
    assert_eq!(spec.expires, Expires::After(72 * 3600));
    let p5 = &spec.node_classes[1];
    assert_eq!((p5.efa, p5.nodes), (Efa::All, Nodes { min: 0, desired: 2, max: 8 }));
    assert_eq!(p5.taints, [Taint { key: "nvidia.com/gpu".into(), value: None, effect: TaintEffect::NoSchedule }]);
    let serving = spec.serving.unwrap();
    assert_eq!(serving.replicas, Replicas { min: 2, max: 8 });
    assert_eq!(serving.autoscaling, Some(Autoscaling { waiting_requests: 5, scale_down_after: 600 }));
    // The block that only source fsx reads is shown there beside s3Stream.
    assert_eq!(parsed.warnings.iter().map(|found| found.rule).collect::<Vec<_>>(), ["unread"]);
    assert_eq!(spec.weights.unwrap().fsx, None);
}

#[test]
fn what_a_file_does_not_say_is_the_contracts_default() {
    let spec = with("serving: { model: meta-llama/Llama-3.1-8B-Instruct }\n");
    assert_eq!(spec.expires, Expires::After(259_200));
    assert_eq!((spec.protect, spec.budget, spec.placement_groups.len()), (false, None, 0));
    let Network::Made { cidr, zones, nat_gateways } = spec.network else { panic!() };
    assert_eq!((cidr.to_string().as_str(), zones, nat_gateways), ("10.64.0.0/16", None, NatGateways::One));
    assert_eq!(spec.cluster.endpoint.public_cidrs, ["caller"]);
    let [gpu, system] = spec.node_classes.as_slice() else { panic!("{:?}", spec.node_classes) };
    assert_eq!((gpu.nodes, gpu.volume.size, gpu.efa), (Nodes { min: 0, desired: 1, max: 1 }, 500, Efa::None));
    assert_eq!(gpu.local_storage, LocalStorage::Raid0);
    assert_eq!((system.name.as_str(), system.nodes), ("system", Nodes { min: 2, desired: 2, max: 3 }));
    assert_eq!((system.volume.size, system.taints.len(), system.local_storage), (100, 0, LocalStorage::None));
    let weights = spec.weights.unwrap();
    assert_eq!(weights.source, WeightSource::S3Stream);
    assert_eq!(weights.bucket, Some(Bucket { name: None, create: true, prefix: String::new() }));
    assert_eq!(weights.on_destroy, OnDestroy::Keep);
    let serving = spec.serving.unwrap();
    assert_eq!((serving.max_model_len, serving.node_class.as_str(), serving.precision), (8192, "gpu", None));
    assert_eq!((serving.replicas, serving.autoscaling), (Replicas { min: 1, max: 1 }, None));
    assert_eq!((serving.routing, serving.ingress, serving.monitoring), (Routing::Service, None, false));
}

#[test]
fn without_serving_there_are_no_weights() {
    assert_eq!((with("").weights, with("").serving), (None, None));
}

#[test]
fn defaults_follow_the_instance_type() {
    let of = |types: &str| {
        let text = format!("name: x\nregion: us-west-2\nnodeClasses:\n  - name: a\n    instanceTypes: [{types}]\n");
        one(&text).spec.node_classes.remove(0)
    };
    assert_eq!(
        (of("p5.48xlarge").efa, of("g5.xlarge").efa, of("g6e.xlarge, g6e.8xlarge").efa),
        (Efa::All, Efa::None, Efa::None)
    );
    let key = |class: NodeClass| class.taints.first().map(|taint| taint.key.clone());
    assert_eq!(key(of("inf2.8xlarge")).as_deref(), Some("aws.amazon.com/neuron"));
    assert_eq!(key(of("p9.48xlarge")).as_deref(), Some("nvidia.com/gpu"), "by its letters");
    assert_eq!((key(of("m6i.xlarge")), of("m6i.xlarge").volume.size), (None, 100));
    assert_eq!((of("p9.48xlarge").volume.size, of("inf2.8xlarge").local_storage), (500, LocalStorage::None));
}

#[test]
fn sizes_that_are_not_said_follow_from_those_that_are() {
    let nodes = |text: &str| {
        let Nodes { min, desired, max } = class(&format!("    nodes: {text}\n")).nodes;
        (min, desired, max)
    };
    assert_eq!(nodes("{ max: 8 }"), (0, 1, 8));
    assert_eq!(nodes("{ desired: 2 }"), (0, 2, 2));
    assert_eq!(nodes("{ min: 3 }"), (3, 3, 3));
    assert_eq!(nodes("{ min: 2, max: 5 }"), (2, 2, 5));
    assert_eq!(nodes("{ desired: 0 }"), (0, 0, 1));
    let karpenter = class("    provisioner: karpenter\n").nodes;
    assert_eq!(karpenter, Nodes { min: 0, desired: 0, max: 1 });
}

#[test]
fn replicas_are_as_many_as_the_most_nodes_hold() {
    let replicas = |types: &str, serving: &str| {
        let text = format!(
            "name: x\nregion: us-west-2\nnodeClasses:\n  - name: a\n    instanceTypes: [{types}]\n    nodes: {{ max: 4 }}\nserving:\n{serving}"
        );
        let Replicas { min, max } = one(&text).spec.serving.unwrap().replicas;
        (min, max)
    };
    let small = "  model: meta-llama/Llama-3.1-8B-Instruct\n";
    assert_eq!(replicas("g6e.xlarge", small), (1, 4));
    assert_eq!(replicas("g6e.12xlarge", small), (1, 16), "one device each");
    assert_eq!(
        replicas("g6e.12xlarge", "  model: meta-llama/Llama-3.1-8B-Instruct\n  parallelism: { tensor: 2 }\n"),
        (1, 8)
    );
    let large =
        "  model: meta-llama/Llama-3.1-405B-Instruct\n  precision: bf16\n  engine: { image: \"a:1\", ofiNccl: true }\n";
    assert_eq!(replicas("p5.48xlarge", large), (1, 2), "two nodes each");
    assert_eq!(replicas("g6e.xlarge", "  model: meta-llama/Llama-3.1-8B-Instruct\n  replicas: { min: 2 }\n"), (2, 4));
}

#[test]
fn a_system_class_is_made_only_where_controllers_have_no_other() {
    let count = |more: &str| with(more).node_classes.len();
    assert_eq!(count(""), 2);
    assert_eq!(count("  - { name: cpu, instanceTypes: [m6i.xlarge], nodes: { desired: 2 } }\n"), 2);
    // Karpenter itself can't run on nodes that Karpenter has yet to start.
    assert_eq!(count("  - { name: cpu, instanceTypes: [m6i.xlarge], provisioner: karpenter }\n"), 3);
}

#[test]
fn units_are_aws_and_kubernetes_ones() {
    assert_eq!(class("    volume: { size: 2Ti }\n").volume.size, 2048);
    assert_eq!(with("expires: 1h30m\n").expires, Expires::After(5_400));
    assert_eq!(with("expires: 2027-01-31T18:00:00+02:00\n").expires, Expires::At("2027-01-31T18:00:00+02:00".into()));
    assert_eq!(with("cluster: { version: 1.30 }\n").cluster.version.as_deref(), Some("1.30"), "as it is written");
    assert_eq!(with("tags: { answer: no }\n").tags["answer"], "no");
    assert_eq!(class("    nodes: { max: 0x10 }\n").nodes.max, 16);
}

fn env(text: &str) -> Result<Vec<Parsed>, Diagnostics> {
    let env = |name: &str| match name {
        "NAME" => Some("from-env".to_owned()),
        "MAX" => Some("7".to_owned()),
        "YES" => Some("true".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    };
    let no_file = |_: &str| Err(std::io::Error::from(std::io::ErrorKind::NotFound));
    parse(text, "stack.yaml", &env, &no_file, &Catalog::compiled())
}

#[test]
fn variables_are_expanded_before_values_have_types() {
    let text = "name: ${env:NAME}\nregion: us-${env:WEST:-west-2}\nprotect: ${env:YES}\nnodeClasses:\n  - name: 'a-${env:EMPTY:-b}'\n    instanceTypes: [g6e.xlarge]\n    nodes:\n      max: ${env:MAX}\n    labels: { max: \"${env:MAX}\", on: \"${env:YES}\", odd: a }\n    volume: { iops: \"${env:IOPS:-4000}\" }\n";
    let spec = env(text).unwrap().remove(0).spec;
    assert_eq!((spec.name.as_str(), spec.region.as_str(), spec.protect), ("from-env", "us-west-2", true));
    let class = &spec.node_classes[0];
    assert_eq!((class.name.as_str(), class.nodes.max, class.volume.iops), ("a-b", 7, Some(4000)));
    assert_eq!((class.labels["max"].as_str(), class.labels["on"].as_str()), ("7", "true"));
}

#[test]
fn a_missing_variable_has_the_place_it_stands_at() {
    let found = env(&GPU.replace("name: x", "name: a-${env:NAME}-${env:GONE}")).unwrap_err();
    let [only] = found.list.as_slice() else { panic!("{found:?}") };
    assert_eq!((only.rule, only.place.line, only.place.column), ("env-missing", 1, 21));
    let text = GPU.replace("[g6e.xlarge]", "[g6e.xlarge]\n    nodes: { max: ${env:MAX} }");
    assert!(env(&text).unwrap_err().list[0].notes[0].contains("quote an expansion"));
    // Keys and comments are no values.
    assert!(env(&format!("# ${{env:GONE}}\n{GPU}")).is_ok());
}

#[test]
fn anchors_and_merge_keys_spare_repetition() {
    let text = "name: x\nregion: us-west-2\nnodeClasses:\n  - &base\n    name: one\n    instanceTypes: [g6e.xlarge]\n    nodes: &sizes { max: 3 }\n  - <<: *base\n    name: two\n    efa: none\n  - { <<: [{ nodes: { max: 9 } }, *base], name: three }\n";
    let classes = one(text).spec.node_classes;
    let of = |i: usize| (classes[i].name.as_str(), classes[i].nodes.max);
    assert_eq!((of(0), of(1), of(2)), (("one", 3), ("two", 3), ("three", 9)));
}

#[test]
fn a_file_may_hold_several_stacks() {
    let text = format!("{GPU}---\n{}...\n---\n", GPU.replace("name: x", "name: y"));
    let names = read(&text).unwrap().into_iter().map(|parsed| parsed.spec.name).collect::<Vec<_>>();
    assert_eq!(names, ["x", "y"]);
}

#[test]
fn a_network_that_is_brought_along_may_serve_with_one_list_or_three() {
    let Network::Brought { nodes, control_plane, load_balancers, .. } =
        with("network: { vpc: vpc-0a, subnets: [subnet-0a, subnet-0b] }\n").network
    else {
        panic!()
    };
    assert_eq!((&nodes, &control_plane), (&load_balancers, &nodes));
    let three = "network:\n  vpc: vpc-0a\n  subnets: { nodes: [subnet-0a], controlPlane: [subnet-0b, subnet-0c], loadBalancers: [subnet-0d] }\n";
    let Network::Brought { nodes, control_plane, load_balancers, .. } = with(three).network else { panic!() };
    assert_eq!((nodes[0].as_str(), control_plane.len(), load_balancers[0].as_str()), ("subnet-0a", 2, "subnet-0d"));
}

#[test]
fn a_models_config_is_read_beside_the_file() {
    let config = r#"{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
        "max_position_embeddings": 4096, "torch_dtype": "bfloat16"}"#;
    let text = format!("{GPU}serving:\n  model: {{ config: mine/config.json }}\n");
    let read_config = |answer: &'static str| {
        move |path: &str| {
            assert_eq!(path, "mine/config.json");
            Ok(answer.to_owned())
        }
    };
    let parsed = parse(
        &text,
        "stack.yaml",
        &|_| None,
        &read_config(Box::leak(config.to_owned().into_boxed_str())),
        &Catalog::compiled(),
    );
    let serving = parsed.unwrap().remove(0).spec.serving.unwrap();
    assert_eq!(serving.max_model_len, 4096, "the model's own is smaller");
    let found = parse(&text, "stack.yaml", &|_| None, &read_config("no json"), &Catalog::compiled()).unwrap_err();
    assert_eq!((found.list[0].rule, found.list[0].place.line), ("model-config", 7));
}

#[test]
fn later_messages_can_point_into_the_file() {
    let places = one(&format!("{GPU}    efa: none\n")).places;
    let efa = places.of("/nodeClasses/0/efa");
    assert_eq!((efa.line, efa.column, efa.end - efa.start), (6, 5, "efa: none".len()));
    assert_eq!(places.of("/nodeClasses/0/volume/size").line, 4, "a default has its parent's place");
    assert_eq!(places.of("/cluster/version").line, 1);
}
