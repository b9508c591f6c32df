//! Whether the model fits its class, with the numbers and the nearest class that does. Must never count bytes itself.

use super::{Judge, count};
use crate::sizing::{self, Ask, Budget, Parallelism, Verdict, gigabytes, nearest_fitting_class};
use crate::stack::diagnostic::Diagnostic;
use crate::stack::{Efa, NodeClass, Serving, fit};

/// Fields that the budget hangs on.
const ASKED: &[&str] = &[
    "/serving/model",
    "/serving/precision",
    "/serving/kvCache",
    "/serving/maxModelLen",
    "/serving/gpuMemoryUtilization",
    "/serving/parallelism",
];

impl Judge<'_> {
    /// The budget of a replica that fits; `None` where it does not, or where model or type are not known.
    pub(super) fn fit(&mut self, serving: &Serving, class: &NodeClass, path: &str) -> Option<Budget> {
        if !self.sound(ASKED) || !self.sound(&[&format!("{path}/instanceTypes")]) {
            return None;
        }
        let shape = fit::shape_of(self.catalog, &serving.model)?;
        if serving.max_model_len > shape.max_context {
            return None;
        }
        let node = fit::weakest(self.catalog, class)?;
        let ask = fit::ask(serving, &shape);
        let mut budget = sizing::budget(&ask, node);
        // Nodes that can't work together, or of which there are too few, leave one node: say what that one lacks.
        let several = budget.nodes_per_replica;
        let alone = class.efa == Efa::None || class.nodes.max < several;
        let over_nodes = serving.parallelism == crate::stack::Parallelism::Auto && several > 1;
        if over_nodes && alone {
            let one = Parallelism::Fixed { tensor: budget.tensor, pipeline: 1 };
            budget = sizing::budget(&Ask { parallelism: one, ..ask }, node);
        }
        let said = |path: &&str| self.places.says(path);
        match &budget.verdict {
            Verdict::Fits => return Some(budget),
            Verdict::Refused(refusal) => {
                let at = ["/serving/parallelism", "/serving/nodeClass", "/serving/model"];
                let at = at.into_iter().find(said).unwrap_or("/serving");
                let auto = sizing::budget(&Ask { parallelism: Parallelism::Auto, ..ask }, node);
                let label = match auto.fits() {
                    true => format!("`auto` would take tensor {} × pipeline {}", auto.tensor, auto.pipeline),
                    false => format!("`{}` can't hold it in any split", class.name),
                };
                let diagnostic = Diagnostic::error("split", self.at(at), "the model can't be split so", label);
                self.found.push(diagnostic.note(refusal.to_string()));
            }
            Verdict::TooLarge { missing_bytes } => {
                let at = ["/serving/nodeClass", "/serving/model"].into_iter().find(said).unwrap_or("/serving");
                let devices = u64::from(budget.tensor) * u64::from(budget.pipeline);
                let name = node.accelerator.as_ref().map_or("accelerators", |accelerator| accelerator.name.as_str());
                let message = format!("{} does not fit `{}` ({})", shape.id, class.name, node.name);
                let label = format!("{} too little", gigabytes(*missing_bytes));
                let sizes = format!(
                    "{} of weights, {} of overhead and {} for one sequence of {} are more than the {} of {devices} × {name}",
                    gigabytes(budget.weights_bytes),
                    gigabytes(budget.overhead_bytes),
                    gigabytes(budget.sequence_bytes),
                    count(serving.max_model_len, "token"),
                    gigabytes(budget.memory_bytes),
                );
                let nearest = match nearest_fitting_class(&ask, node, &self.spec.region, self.catalog) {
                    Some((fits, with)) => {
                        format!("the nearest type that holds it is {}, tensor {}", fits.name, with.tensor)
                    }
                    None => "no single node holds it: use `parallelism` with pipeline stages".to_owned(),
                };
                let nearest = match over_nodes && node.efa_max > 0 {
                    true => format!(
                        "{nearest}; or {several} nodes a replica, with EFA and `nodes.max` of {several} at least"
                    ),
                    false => nearest,
                };
                let smaller = "a smaller `precision`, `kvCache: fp8` or a smaller `maxModelLen` take less";
                let diagnostic = Diagnostic::error("too-large-model", self.at(at), message, label);
                self.found.push(diagnostic.note(sizes).note(nearest).note(smaller));
            }
        }
        None
    }
}
