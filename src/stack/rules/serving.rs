//! The serving by what the file says of it: names, bounds, ingress, engine. Must never compute memory: `fit` asks sizing.

use super::cluster::did_you_mean;
use super::{Judge, count};
use crate::sizing::Budget;
use crate::stack::diagnostic::Diagnostic;
use crate::stack::fit;
use crate::stack::read::accelerated;
use crate::stack::suggest;
use crate::stack::{Efa, Ingress, IngressScheme, Model, NodeClass, Routing, Serving};

/// Seconds of an Application Load Balancer's idle timeout at most.
const LONGEST_IDLE: u64 = 4_000;

/// Flags of `vllm serve` that fields of the file set.
const MANAGED: &[(&str, &str)] = &[
    ("--model", "serving.model"),
    ("--served-model-name", "serving.model"),
    ("--tensor-parallel-size", "serving.parallelism"),
    ("-tp", "serving.parallelism"),
    ("--pipeline-parallel-size", "serving.parallelism"),
    ("-pp", "serving.parallelism"),
    ("--max-model-len", "serving.maxModelLen"),
    ("--gpu-memory-utilization", "serving.gpuMemoryUtilization"),
    ("--kv-cache-dtype", "serving.kvCache"),
    ("--load-format", "weights.source"),
    ("--api-key", "serving.ingress.apiKeySecret"),
    ("--port", "the stack itself"),
    ("--host", "the stack itself"),
];

impl<'a> Judge<'a> {
    pub(super) fn serving(&mut self) {
        let Some(serving) = &self.spec.serving else { return };
        self.model(serving);
        let replicas = serving.replicas;
        if replicas.min > replicas.max {
            let message = format!("min {} is above max {}", replicas.min, replicas.max);
            self.error("replicas-order", "/serving/replicas/min", message, "min ≤ max");
        }
        if replicas.min == 0 {
            let label = "keep one, so that nobody waits for a node and for weights";
            self.warn("replicas-zero", "/serving/replicas/min", "from 0 the first request waits for minutes", label);
        }
        if let Some((path, class)) = self.class_of(serving)
            && let Some(budget) = self.fit(serving, class, &path)
        {
            self.several_nodes(serving, class, &budget, &path);
            self.room_for_replicas(serving, class, &budget, &path);
        }
        self.engine_args(serving);
        if let Some(ingress) = &serving.ingress {
            self.ingress(ingress, serving);
        }
    }

    fn model(&mut self, serving: &Serving) {
        const LENGTH: &str = "/serving/maxModelLen";
        if !self.sound(&["/serving/model"]) {
            return;
        }
        match (fit::shape_of(self.catalog, &serving.model), &serving.model) {
            (Some(shape), _) => {
                if serving.max_model_len > shape.max_context && self.sound(&[LENGTH]) {
                    let message = format!("{} tokens are more than the model holds", serving.max_model_len);
                    self.error("model-length", LENGTH, message, format!("at most {}", shape.max_context));
                }
            }
            (None, Model::Named(name)) => {
                let other = "any other model: `model: { config: path/to/config.json }`";
                let label = match self.catalog.nearest_model(name) {
                    Some(near) => format!("did you mean `{near}`? {other}"),
                    None => other.to_owned(),
                };
                self.error("model-unknown", "/serving/model", format!("the catalogue knows no model `{name}`"), label);
            }
            // A text that is no config was refused when it was read.
            (None, Model::Config { .. }) => {}
        }
    }

    /// The class that serves, with its path, where it is one that can.
    fn class_of(&mut self, serving: &Serving) -> Option<(String, &'a NodeClass)> {
        const PATH: &str = "/serving/nodeClass";
        if !self.sound(&[PATH]) {
            return None;
        }
        let spec = self.spec;
        let name = &serving.node_class;
        let Some(index) = spec.node_classes.iter().position(|class| class.name == *name) else {
            // A class whose name was refused may be the one.
            if self.sound(&["/nodeClasses"]) {
                let known = spec.node_classes.iter().map(|class| class.name.as_str());
                let label = did_you_mean(name, known, "add it under `nodeClasses`");
                self.error("class-unknown", PATH, format!("no node class `{name}` in this file"), label);
            }
            return None;
        };
        let (path, class) = (format!("/nodeClasses/{index}"), &spec.node_classes[index]);
        if !self.sound(&[&format!("{path}/instanceTypes")]) {
            return None;
        }
        if !accelerated(self.catalog, &class.instance_types) {
            let able = spec.node_classes.iter().filter(|class| accelerated(self.catalog, &class.instance_types));
            let able = able.map(|class| format!("`{}`", class.name)).collect::<Vec<_>>();
            let label = match able.as_slice() {
                [] => "add a class with accelerators, like g6e.xlarge".to_owned(),
                some => format!("with accelerators: {}", some.join(", ")),
            };
            self.error("class-plain", PATH, format!("the nodes of `{name}` have no accelerators"), label);
            return None;
        }
        Some((path, class))
    }

    fn several_nodes(&mut self, serving: &Serving, class: &NodeClass, budget: &Budget, path: &str) {
        let nodes = budget.nodes_per_replica;
        if nodes < 2 {
            return;
        }
        let at = ["/serving/engine", "/serving/parallelism", "/serving/model"];
        let at = at.into_iter().find(|path| self.places.says(path)).unwrap_or("/serving");
        let engine = &serving.engine;
        if self.sound(&["/serving/engine"]) && (engine.image.is_none() || !engine.ofi_nccl) {
            let label = match engine.image {
                None => "add `engine: { image: …, ofiNccl: true }`: the default image lacks aws-ofi-nccl",
                Some(_) => "say `ofiNccl: true` once the image holds aws-ofi-nccl",
            };
            let message = format!("a replica of {nodes} nodes needs an image with aws-ofi-nccl");
            let note = "without it NCCL falls back to sockets in silence, slower than one node";
            self.found.push(Diagnostic::error("several-nodes-engine", self.at(at), message, label).note(note));
        }
        if class.efa == Efa::None && self.sound(&[&format!("{path}/efa")]) {
            let message = format!("a replica spans {nodes} nodes of `{}` without EFA", class.name);
            let label = "take a type with EFA and `efa: all`: over plain networking it is slower than one node";
            let at = if self.places.says(&format!("{path}/efa")) { format!("{path}/efa") } else { path.to_owned() };
            self.warn("several-nodes-efa", &at, message, label);
        }
    }

    fn room_for_replicas(&mut self, serving: &Serving, class: &NodeClass, budget: &Budget, path: &str) {
        if !self.sound(&["/serving/replicas", &format!("{path}/nodes")]) {
            return;
        }
        let (replicas, most) = (serving.replicas.max, class.nodes.max);
        let taken = fit::nodes_taken(budget, replicas);
        if taken <= most {
            return;
        }
        let at = ["/serving/replicas/max", "/serving/replicas", "/serving/parallelism"];
        let at = at.into_iter().find(|path| self.places.says(path)).unwrap_or("/serving/nodeClass");
        let message = format!(
            "{} {} {}, and `{}` has at most {most}",
            count(replicas, "replica"),
            if replicas == 1 { "takes" } else { "take" },
            count(taken, "node"),
            class.name,
        );
        let raise = format!("raise `nodes.max` of `{}` to {taken}", class.name);
        let label = match fit::replicas_held(budget, most) {
            0 => raise,
            held => format!("lower `replicas.max` to {held}, or {raise}"),
        };
        self.error("replicas-nodes", at, message, label);
    }

    fn engine_args(&mut self, serving: &Serving) {
        for (index, arg) in serving.engine.args.iter().enumerate() {
            let flag = arg.split(['=', ' ']).next().unwrap_or_default();
            if let Some((_, field)) = MANAGED.iter().find(|(managed, _)| *managed == flag) {
                let path = format!("/serving/engine/args/{index}");
                self.error("engine-arg", &path, format!("`{flag}` is set by {field}"), "set it there alone");
            } else if let Some(image) = &serving.engine.image {
                self.engine_flag(index, flag, image);
            }
        }
    }

    /// A warning only: an image may carry a vLLM of its owner's making.
    fn engine_flag(&mut self, index: usize, flag: &str, image: &str) {
        let Some(known) = self.catalog.engine_flags(image) else { return };
        // vLLM reads `--a_b` as `--a-b`, `--a.b` as a member of `--a`, and `--no-a` as the switch `--a` turned off.
        let plain = flag.split('.').next().unwrap_or_default().replace('_', "-");
        let on = plain.replacen("--no-", "--", 1);
        if !plain.starts_with("--") || known.contains(&plain) || known.contains(&on) {
            return;
        }
        let label = match suggest::nearest(&plain, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "leave it out, or take an image whose vLLM has it".to_owned(),
        };
        let path = format!("/serving/engine/args/{index}");
        self.warn("engine-flag", &path, format!("the vLLM of this image has no flag `{flag}`"), label);
    }

    fn ingress(&mut self, ingress: &Ingress, serving: &Serving) {
        const PATH: &str = "/serving/ingress";
        if !self.sound(&[PATH]) {
            return;
        }
        if serving.routing == Routing::None && self.sound(&["/serving/routing"]) {
            let label = "set `routing: service`, or leave `ingress` out";
            self.error("ingress-routing", "/serving/routing", "an ingress with nothing behind it", label);
        }
        if ingress.idle_timeout > LONGEST_IDLE {
            let message = format!("{} seconds are too long", ingress.idle_timeout);
            let label = format!("a load balancer waits at most {LONGEST_IDLE}s");
            self.error("idle-timeout", "/serving/ingress/idleTimeout", message, label);
        }
        let cidrs = &ingress.allowed_cidrs;
        let public = ingress.scheme == IngressScheme::InternetFacing;
        let anybody = cidrs.is_empty() || cidrs.iter().any(|cidr| cidr.ends_with("/0"));
        if public && ingress.api_key_secret.is_none() && anybody {
            let label = "add `apiKeySecret`, or `allowedCidrs` that name who may connect";
            let message = "anybody on the internet could use this model at your expense";
            self.error("ingress-open", "/serving/ingress/scheme", message, label);
        } else {
            self.cidrs("/serving/ingress/allowedCidrs", cidrs, "the model");
        }
        if public && ingress.certificate.is_none() {
            let label = "add `certificate`, the ARN of an ACM certificate for the hostname";
            self.warn("ingress-http", PATH, "without a certificate prompts and keys travel in clear text", label);
        }
    }
}
