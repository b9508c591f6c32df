//! Laws of the planner over random stacks and random accidents.

use super::{
    toys::{Desired, Item},
    world::{World, address, graph, wish},
};
use infer_stack::{
    contract::{Ownership, Readiness},
    desired::DesiredGraph,
    model::{Address, Doc, Link, STACK},
    plan::{Action, Options, critical_path},
};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Everything a random stack may wish for.
const PLACES: &[&str] = &[
    "net.a",
    "net.b",
    "group.a",
    "group.b",
    "group.c",
    "role.a",
    "role.b",
    "template.a",
    "template.b",
    "pool.a",
    "pool.b",
    "log.a",
    "part.a",
    "data.a",
    "bill.a",
];

/// One wish: whether it is there, its values, and which of the earlier places it links to.
#[derive(Clone, Debug)]
struct Draw {
    there: bool,
    rank: u8,
    fixed: u8,
    loose: u8,
    size: u32,
    links: [Option<u8>; 5],
    after: Option<u8>,
}

fn draw() -> impl Strategy<Value = Draw> {
    let link = || prop::option::weighted(0.4, any::<u8>());
    let links = [link(), link(), link(), link(), link()];
    (
        prop::bool::weighted(0.8),
        any::<u8>(),
        0_u8..2,
        0_u8..3,
        0_u32..3,
        links,
        prop::option::weighted(0.1, any::<u8>()),
    )
        .prop_map(|(there, rank, fixed, loose, size, links, after)| Draw {
            there,
            rank,
            fixed,
            loose,
            size,
            links,
            after,
        })
}

fn draws() -> impl Strategy<Value = Vec<Draw>> {
    prop::collection::vec(draw(), PLACES.len())
}

/// Links go to places of a lower rank, so that no stack leans on itself; ranks differ from stack to stack, so that a change may
/// turn every link round.
fn stack(draws: &[Draw]) -> DesiredGraph {
    let mut graph = graph();
    let mut places: Vec<(u8, &str, &Draw)> = PLACES
        .iter()
        .zip(draws)
        .filter(|(_, draw)| draw.there)
        .map(|(place, draw)| (draw.rank, *place, draw))
        .collect();
    places.sort_by_key(|(rank, place, _)| (*rank, *place));
    for (i, (_, place, draw)) in places.iter().enumerate() {
        let earlier: Vec<Address> = places[..i]
            .iter()
            .map(|(_, place, _)| address(place))
            .filter(|a| !["data", "bill"].contains(&a.kind()))
            .collect();
        let to = |n: usize, output: &str| {
            let at = draw.links[n].filter(|_| !earlier.is_empty())?;
            Some(Link::to(pick(at, &earlier), output))
        };
        let desired = Desired {
            name: place.replace('.', "-"),
            fixed: draw.fixed.to_string(),
            loose: draw.loose.to_string(),
            size: draw.size,
            parent: to(0, "id"),
            grip: to(1, "id"),
            glance: to(2, "id"),
            version: to(3, "version"),
            items: to(4, "id").map(|peer| Item { port: 1, peer: Some(peer) }).into_iter().collect(),
            once: "x".to_owned(),
            ..Desired::default()
        };
        let kept = ["data", "bill"].contains(&address(place).kind());
        // What is never deleted can't be replaced either: no immutable part of it changes.
        let desired =
            if kept { Desired { name: desired.name, loose: desired.loose, ..Desired::default() } } else { desired };
        let wish = wish(&mut graph, place, desired);
        if let Some(at) = draw.after.filter(|_| !earlier.is_empty()) {
            wish.after(pick(at, &earlier).clone(), "asked");
        }
    }
    graph
}

fn pick(at: u8, from: &[Address]) -> &Address {
    &from[usize::from(at) % from.len()]
}

#[derive(Clone, Debug)]
enum Accident {
    Deleted,
    Broken,
    Going,
    Pending,
    Drifted,
    TagLost(&'static str),
    Twin,
}

fn accidents() -> impl Strategy<Value = Vec<(u8, Accident)>> {
    let accident = prop_oneof![
        Just(Accident::Deleted),
        Just(Accident::Broken),
        Just(Accident::Going),
        Just(Accident::Pending),
        Just(Accident::Drifted),
        Just(Accident::TagLost("team")),
        Just(Accident::TagLost("infer-stack/resource")),
        Just(Accident::Twin),
    ];
    prop::collection::vec((any::<u8>(), accident), 0..4)
}

fn happen(world: &mut World, accidents: &[(u8, Accident)]) {
    for (at, accident) in accidents {
        if world.objects.is_empty() {
            return;
        }
        let n = usize::from(*at) % world.objects.len();
        let (kind, doc) = world.objects[n].clone();
        let kind = super::world::kind(&kind);
        let kept = matches!(kind.ownership(), Ownership::Retained | Ownership::Shared);
        let state = |ready: &Readiness| serde_json::to_value(ready).unwrap();
        match accident {
            Accident::Deleted => {
                world.objects.remove(n);
            }
            Accident::Broken if !kept => {
                world.objects[n].1["ready"] = state(&Readiness::Broken("CREATE_FAILED".into()))
            }
            Accident::Going if !kept => world.objects[n].1["going"] = Doc::from(true),
            Accident::Pending => world.objects[n].1["ready"] = state(&Readiness::Pending("CREATING".into())),
            Accident::Drifted => world.objects[n].1["is"]["loose"] = Doc::from("drift"),
            Accident::TagLost(key) if kind.tagged() => {
                world.objects[n].1["tags"].as_object_mut().unwrap().remove(*key);
            }
            // Kinds with names can't have one.
            Accident::Twin if kind.look(&doc).unwrap().name.is_none() => {
                let mut twin = doc;
                twin["id"] = Doc::from(format!("twin-{n}-{}", world.objects.len()));
                world.objects.push((kind.name().to_owned(), twin));
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn after_apply_nothing_is_left_to_do(draws in draws()) {
        let graph = stack(&draws);
        let mut world = World::default();
        let plan = world.plan(&graph, &Options::default());
        prop_assert!(plan.steps.iter().all(|step| step.action == Action::Create && !step.reason.is_empty()));
        prop_assert_eq!(plan.tasks.len(), graph.wishes.len());
        world.apply(&plan);
        let again = world.plan(&graph, &Options::default());
        prop_assert!(again.is_settled(), "{:#?}", again);
        prop_assert!(again.steps.iter().all(|step| step.action == Action::Keep && !step.reason.is_empty()));
    }

    #[test]
    fn any_stack_becomes_any_other_through_any_accident(
        first in draws(), second in draws(), accidents in accidents(),
    ) {
        let mut world = World::default();
        world.bring(&stack(&first), &Options::default(), 1).unwrap();
        happen(&mut world, &accidents);
        let graph = stack(&second);
        if let Err(plan) = world.bring(&graph, &Options::default(), 4) {
            prop_assert!(false, "does not settle: {:#?}", plan);
        }
        let settled = world.plan(&graph, &Options::default());
        prop_assert!(settled.is_settled(), "{:#?}", settled);
        let lives: BTreeSet<Address> = world.lives().into_iter().filter_map(|live| live.look.claims).collect();
        prop_assert!(graph.wishes.keys().all(|address| lives.contains(address)));
    }

    #[test]
    fn destroy_leaves_what_it_says_it_keeps(draws in draws(), accidents in accidents(), data in any::<bool>()) {
        let mut world = World::default();
        world.bring(&stack(&draws), &Options::default(), 1).unwrap();
        happen(&mut world, &accidents);
        let nothing = DesiredGraph::empty(super::world::identity());
        let options = Options { delete_data: data, ..Options::default() };
        let plan = world.plan(&nothing, &options);
        prop_assert!(plan.tasks.iter().all(|task| task.want.is_none()));
        world.apply(&plan);
        let kept: BTreeSet<String> =
            plan.steps.iter().filter(|step| step.action == Action::Keep).filter_map(|step| step.id.clone()).collect();
        for live in world.lives() {
            // What lost the tag that says whose it is has to be found by the teardown's finders.
            let ours = live.look.tags.contains_key(STACK) || live.look.claims.is_some();
            prop_assert!(!ours || kept.contains(&live.look.id), "{:#?} is left", live);
        }
    }

    #[test]
    fn same_input_same_bytes(first in draws(), second in draws(), accidents in accidents()) {
        let mut world = World::default();
        world.bring(&stack(&first), &Options::default(), 1).unwrap();
        happen(&mut world, &accidents);
        let text = || serde_json::to_string(&world.plan(&stack(&second), &Options::default())).unwrap();
        prop_assert_eq!(text(), text());
    }

    #[test]
    fn the_critical_path_bounds_every_chain(draws in draws(), weights in prop::collection::vec(0_u64..100, PLACES.len())) {
        let plan = World::default().plan(&stack(&draws), &Options::default());
        let (total, path) = critical_path(&plan, &|task| weights[task.id]);
        prop_assert!(total <= weights.iter().sum::<u64>());
        let on_path: u64 = plan.tasks.iter().filter(|task| path.contains(&task.address)).map(|task| weights[task.id]).sum();
        prop_assert_eq!(total, on_path);
    }
}
