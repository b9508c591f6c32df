//! Commands that need no cloud, and ways to name a stack.

use super::desk::Desk;

/// Two stacks in one file.
fn two(desk: &Desk) -> String {
    let minimal = desk.read("stacks/minimal.yaml");
    let text = format!("{minimal}\n---\n{}", minimal.replace("name: minimal", "name: second"));
    desk.write("two.yaml", &text);
    text
}

#[test]
fn validate_says_what_a_file_holds_and_explains_it() {
    let desk = Desk::new();
    let ran = desk.run("validate stacks/minimal.yaml stacks/llama-70b.yaml").exits(0);
    assert_eq!(ran.out.lines().count(), 2, "{}", ran.out);
    let explained = desk.run("validate stacks/minimal.yaml --explain").exits(0);
    desk.write("explained.yaml", &explained.out);
    let again = desk.run("validate explained.yaml --explain").exits(0);
    assert_eq!(again.out, explained.out, "a file with every default is a file");
    let json = desk.run("validate stacks/minimal.yaml --json").exits(0).json();
    assert_eq!(json["files"][0]["stacks"][0], "minimal");
}

#[test]
fn a_stack_may_come_from_standard_input() {
    let desk = Desk::new();
    let text = desk.read("stacks/minimal.yaml");
    for command in ["validate -", "plan -", "preflight -", "size -"] {
        desk.with(command, &[], &text).exits(0);
    }
    desk.with("validate -", &[], "name: [").exits(65).says(&["-->"]);
}

#[test]
fn one_of_several_stacks_is_named() {
    let desk = Desk::new();
    two(&desk);
    desk.run("validate two.yaml").exits(0).says(&["minimal, second"]);
    desk.run("plan two.yaml").exits(64).says(&["--stack minimal"]);
    desk.run("plan two.yaml --stack third").exits(64).says(&["minimal, second"]);
    let plan = desk.run("plan two.yaml --stack second --json").exits(0).json();
    assert_eq!(plan["stack"], "second");
}

#[test]
fn two_stacks_of_a_file_live_beside_each_other_and_go_alone() {
    let desk = Desk::with_minimal_up();
    let text = two(&desk).replace("name: second", "name: second\nnetwork: { cidr: 10.99.0.0/16 }");
    desk.write("two.yaml", &text);
    desk.run("up two.yaml --stack second --yes").exits(0);
    desk.run("plan two.yaml --stack minimal --detailed-exitcode").exits(0);
    desk.run("destroy two.yaml --yes --confirm minimal").exits(64).says(&["--stack"]);
    desk.run("destroy two.yaml --stack second --yes --confirm second").exits(0);
    desk.run("plan two.yaml --stack minimal --detailed-exitcode").exits(0);
    desk.run("verify --name second --region us-west-2").exits(0);
}

#[test]
fn only_what_is_asked_for_and_what_it_needs() {
    let desk = Desk::new();
    desk.run("up stacks/minimal.yaml --yes --only subnet.private-usw2-az1").exits(0);
    let mut made = desk.census();
    made.sort();
    made.retain(|kind| !["security-group", "route-table"].contains(&kind.as_str()));
    assert_eq!(made, ["subnet", "vpc"]);
    desk.run("destroy --name minimal --region us-west-2 --yes --confirm minimal").exits(0);
    assert_eq!(desk.census(), [""; 0]);
}

#[test]
fn a_model_that_is_not_known_is_named_nearly() {
    let desk = Desk::new();
    let ran = desk.run("size --model llama-3.1-70b --instance-type p5.48xlarge").exits(64);
    assert!(ran.err.contains("did you mean meta-llama/Llama-3.1-70B"), "{}", ran.err);
    desk.run("size --model meta-llama/Llama-3.1-70B-Instruct --instance-type p5.49xlarge")
        .exits(64)
        .says(&["did you mean p5.4"]);
    desk.run("size --model meta-llama/Llama-3.1-70B-Instruct --instance-type m6i.xlarge").exits(64);
    desk.run("size --model meta-llama/Llama-3.1-70B-Instruct --instance-type g6.xlarge --context 131072")
        .exits(0)
        .says(&["does not fit", "would hold it on one node"]);
}

#[test]
fn completions_and_the_sandbox_speak() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        desk.run(&format!("completions {shell}")).exits(0).says(&["infer-stack", "also-json"]);
    }
    desk.run("sandbox reset --sandbox=other/world.json --scenario no-capacity").exits(0);
    assert!(desk.path("other/world.json").exists() && !desk.path(".infer-stack/sandbox.json").exists());
    desk.run("sandbox status --sandbox=other/world.json").exits(0).says(&["nothing exists in it"]);
    desk.write("mine.yaml", "quotas: { L-417A185B: 0 }");
    desk.run("sandbox reset --scenario mine.yaml").exits(0);
    desk.run("preflight stacks/llama-70b.yaml").exits(3);
    desk.write("wrong.yaml", "quota: {}");
    desk.run("sandbox reset --scenario wrong.yaml").exits(64).says(&["quota"]);
}

#[test]
fn an_account_that_can_not_be_read_is_started_over() {
    let desk = Desk::new();
    desk.write(".infer-stack/sandbox.json", "not a world");
    desk.run("plan stacks/minimal.yaml").exits(1).says(&["sandbox reset"]);
    desk.run("sandbox reset").exits(0);
    desk.run("plan stacks/minimal.yaml").exits(0);
}
