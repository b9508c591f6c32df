//! How long a plan takes, and whether its cost a node stays the same as stacks grow: `cargo bench --bench planning`.
//!
//! Three plans a size: of a stack that does not exist, of one that is as wished, and its destruction. The stack is made of real
//! kinds: one network and cluster, and as many blocks of subnet, template, node group and so on as it takes; what AWS would
//! show of it is imagined.

use infer_stack::{
    contract::Phase,
    desired::DesiredGraph,
    model::{Doc, Identity, Link, REGION, STACK, Scope, Stamp, Tags, as_link, resolve},
    observed::{Live, Sight, Snapshot, live},
    plan::{Action, Options, Plan, plan, tags_of},
    resources::{KINDS, kind},
};
use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

/// What a stack has once, each after what it links to.
const HUB: &[&str] = &["vpc", "internet-gateway", "role", "log-group", "cluster"];

/// What it has many times. A sample of the kind is wished, its links turned to the hub and to this block's objects.
const BLOCK: &[&str] = &[
    "subnet",
    "security-group",
    "elastic-ip",
    "nat-gateway",
    "route-table",
    "vpc-endpoint",
    "instance-profile",
    "placement-group",
    "launch-template",
    "node-group",
    "queue",
    "event-rule",
    "file-system",
];

const SIZES: [usize; 3] = [200, 2_000, 20_000];

fn main() {
    println!("{:>8} {:>14} {:>14} {:>14}   per node against {}", "nodes", "create", "keep", "destroy", SIZES[0]);
    let mut first: Option<[f64; 3]> = None;
    for nodes in SIZES {
        let graph = stack(nodes);
        let empty = snapshot(&graph, BTreeMap::new());
        let full = snapshot(&graph, imagined(&graph));
        let nothing = DesiredGraph::empty(graph.identity.clone());
        let times = [
            timed(&graph, &empty, |plan| plan.summary().create == nodes),
            timed(&graph, &full, |plan| plan.is_settled()),
            timed(&nothing, &full, |plan| plan.steps.iter().all(|s| matches!(s.action, Action::Delete | Action::Keep))),
        ];
        let per_node = times.map(|time| time.as_secs_f64() / nodes as f64);
        let ratios = first.get_or_insert(per_node);
        let ratios: Vec<String> =
            per_node.iter().zip(*ratios).map(|(now, then)| format!("{:.2}", now / then)).collect();
        let [create, keep, destroy] = times.map(|time| format!("{:.1} ms", time.as_secs_f64() * 1e3));
        println!("{nodes:>8} {create:>14} {keep:>14} {destroy:>14}   {}", ratios.join("  "));
    }
}

/// The best of several: what else the machine does only adds.
fn timed(graph: &DesiredGraph, snapshot: &Snapshot, right: impl Fn(&Plan) -> bool) -> Duration {
    let once = || {
        #[expect(clippy::disallowed_methods, reason = "a benchmark measures this machine's time")]
        let start = Instant::now();
        let plan = plan(graph, snapshot, &Options::default());
        let took = start.elapsed();
        assert!(right(&plan), "not the plan that is measured: {:?}", plan.summary());
        took
    };
    (0..5).map(|_| once()).min().unwrap_or_default()
}

fn stack(nodes: usize) -> DesiredGraph {
    let identity = Identity { account: "123456789012".into(), region: "us-west-2".into(), stack: "bench".into() };
    let mut graph = DesiredGraph::empty(identity);
    graph.tags = Tags::from([(STACK.into(), "bench".into()), (REGION.into(), "us-west-2".into())]);
    let names = [HUB, BLOCK].concat();
    for n in 0..nodes {
        let (block, at) = match n.checked_sub(HUB.len()) {
            None => (0, n),
            Some(n) => (n / BLOCK.len(), HUB.len() + n % BLOCK.len()),
        };
        let kind = kind(names[at]).expect("a kind of the benchmark is registered");
        let mut doc = kind.samples().swap_remove(0);
        turn(&mut doc, block, &names[..at]);
        graph.add(kind, &block.to_string(), doc, "benchmark");
    }
    graph
}

/// Links to the hub and to this block's earlier objects, else to something brought along; names carry the block.
fn turn(doc: &mut Doc, block: usize, earlier: &[&str]) {
    if let Some(Link::To { address, output }) = as_link(doc) {
        let kind = address.kind();
        *doc = match (HUB.contains(&kind), earlier.contains(&kind)) {
            (true, true) => serde_json::json!({ "$link": format!("{kind}.0#{output}") }),
            (false, true) => serde_json::json!({ "$link": format!("{kind}.{block}#{output}") }),
            (_, false) => serde_json::json!({ "$id": format!("given-{output}") }),
        };
        return;
    }
    match doc {
        Doc::Object(map) => {
            for (key, value) in map.iter_mut() {
                match value {
                    Doc::String(name) if key == "name" => *name = format!("{name}-{block}"),
                    value => turn(value, block, earlier),
                }
            }
        }
        Doc::Array(items) => items.iter_mut().for_each(|item| turn(item, block, earlier)),
        _ => {}
    }
}

/// What AWS would show once every wish is applied.
fn imagined(graph: &DesiredGraph) -> BTreeMap<String, Vec<Live>> {
    let mut lives: BTreeMap<String, Vec<Live>> = BTreeMap::new();
    let mut outputs: HashMap<String, String> = HashMap::new();
    for name in HUB.iter().chain(BLOCK) {
        let kind = kind(name).expect("a kind of the benchmark is registered");
        for (n, wish) in graph.wishes.values().filter(|wish| wish.address.kind() == *name).enumerate() {
            let mut want = wish.doc.clone();
            let known = resolve(&mut want, &|address, output| outputs.get(&format!("{address}#{output}")).cloned());
            assert!(known, "{}: links to a later kind of the block", wish.address);
            let stamp = Stamp {
                address: wish.address.clone(),
                tags: tags_of(graph, kind, &wish.address),
                token: String::new(),
            };
            let shown = kind.imagine_id(&want, &format!("{n:016x}"));
            let shown = shown.and_then(|id| kind.imagine(&want, &id, &stamp, Phase::There));
            let object = shown.and_then(|doc| live(kind, doc)).expect("a sample is of its kind's shape");
            outputs.extend(
                object.look.outputs.iter().map(|(output, v)| (format!("{}#{output}", wish.address), v.clone())),
            );
            lives.entry((*name).to_owned()).or_default().push(object);
        }
    }
    lives
}

fn snapshot(graph: &DesiredGraph, mut lives: BTreeMap<String, Vec<Live>>) -> Snapshot {
    let sights =
        KINDS.iter().map(|kind| (kind.name().to_owned(), Sight::Seen(lives.remove(kind.name()).unwrap_or_default())));
    let scope = Scope { identity: graph.identity.clone(), cluster: "bench".into(), vpc: None, names: BTreeMap::new() };
    Snapshot { taken_at: "2026-12-01T00:00:00Z".into(), scope, sights: sights.collect() }
}
