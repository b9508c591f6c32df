//! The serving, with the defaults that depend on the model and on what its class holds. Must never choose a class among several.

use super::{Reader, accelerated};
use crate::catalog;
use crate::stack::fit;
use crate::stack::value::Fields;
use crate::stack::*;

/// The contract's default, where the model can hold as many.
const MAX_MODEL_LEN: u32 = 8192;
/// vLLM's own since 0.29.
const UTILIZATION: f64 = 0.92;

impl Reader<'_> {
    pub(super) fn serving(&mut self, fields: &Fields, classes: &[NodeClass]) -> Serving {
        let model = self.model(fields);
        let longest = fit::shape_of(self.catalog, &model).map_or(MAX_MODEL_LEN, |shape| shape.max_context);
        let engine = fields.object("engine");
        let mut serving = Serving {
            model,
            precision: fields.word("precision"),
            kv_cache: fields.word("kvCache").unwrap_or(KvCache::Auto),
            max_model_len: fields.whole("maxModelLen").unwrap_or(longest.min(MAX_MODEL_LEN)),
            node_class: self.node_class_of(fields, classes),
            engine: engine.map_or_else(Engine::default, |engine| Engine {
                image: engine.owned("image"),
                ofi_nccl: engine.bool("ofiNccl").unwrap_or(false),
                args: engine.texts("args").unwrap_or_default(),
                env: engine.text_map("env"),
                secret_refs: engine.texts("secretRefs").unwrap_or_default(),
                image_pull_secrets: engine.texts("imagePullSecrets").unwrap_or_default(),
            }),
            gpu_memory_utilization: fields.number("gpuMemoryUtilization").unwrap_or(UTILIZATION),
            parallelism: match fields.object("parallelism") {
                Some(split) => Parallelism::Fixed {
                    tensor: split.whole("tensor").unwrap_or(1),
                    pipeline: split.whole("pipeline").unwrap_or(1),
                },
                None => Parallelism::Auto,
            },
            replicas: Replicas { min: 1, max: 1 },
            autoscaling: None,
            routing: fields.word("routing").unwrap_or(Routing::Service),
            ingress: fields.object("ingress").map(|ingress| self.ingress(ingress)),
            monitoring: fields.bool("monitoring").unwrap_or(false),
        };
        serving.replicas = self.replicas(fields.object("replicas"), &serving, classes);
        serving.autoscaling = self.autoscaling(fields.object("autoscaling"), serving.replicas);
        serving
    }

    fn model(&mut self, fields: &Fields) -> Model {
        let Some(config) = fields.object("model") else {
            return Model::Named(fields.owned("model").unwrap_or_default());
        };
        let path = config.owned("config").unwrap_or_default();
        let text = match (self.read_config)(&path) {
            _ if path.is_empty() => String::new(),
            Ok(text) => {
                if let Err(error) = catalog::model_from_config(&path, &text) {
                    let label = "expected the config.json of a language model, as on the Hugging Face hub".to_owned();
                    self.refuse("/serving/model/config", "model-config", format!("`{path}` {error}"), label);
                }
                text
            }
            Err(error) => {
                let label = "a path from the directory of the stack file to a Hugging Face config.json".to_owned();
                self.refuse("/serving/model/config", "model-config", format!("can't read `{path}`: {error}"), label);
                String::new()
            }
        };
        Model::Config { path, text }
    }

    fn node_class_of(&mut self, fields: &Fields, classes: &[NodeClass]) -> String {
        if let Some(name) = fields.owned("nodeClass") {
            return name;
        }
        let able = classes.iter().filter(|class| accelerated(self.catalog, &class.instance_types)).collect::<Vec<_>>();
        match able.as_slice() {
            [only] => only.name.clone(),
            // A class that was refused may be the one.
            _ if self.broken.touches("/nodeClasses") || self.broken.touches("/serving/nodeClass") => String::new(),
            [] => {
                let label =
                    "serving needs a class of instances with accelerators, like g6e.xlarge or p5.48xlarge".to_owned();
                self.refuse(
                    "/serving/nodeClass",
                    "no-accelerators",
                    "no node class has accelerators".to_owned(),
                    label,
                );
                String::new()
            }
            several => {
                let names = several.iter().map(|class| format!("`{}`", class.name)).collect::<Vec<_>>().join(" or ");
                let message = format!("{} classes have accelerators", several.len());
                self.refuse("/serving/nodeClass", "node-class-open", message, format!("say which one serves: {names}"));
                String::new()
            }
        }
    }

    fn replicas(&mut self, fields: Option<&Fields>, serving: &Serving, classes: &[NodeClass]) -> Replicas {
        let said = |key| fields.and_then(|fields| fields.whole::<u32>(key));
        let held = classes
            .iter()
            .find(|class| class.name == serving.node_class)
            .and_then(|class| Some(fit::replicas_held(&fit::budget(self.catalog, serving, class)?, class.nodes.max)));
        let max = said("max").unwrap_or_else(|| held.unwrap_or(1).max(said("min").unwrap_or(1)).max(1));
        Replicas { min: said("min").unwrap_or(max.min(1)), max }
    }

    fn autoscaling(&mut self, fields: Option<&Fields>, replicas: Replicas) -> Option<Autoscaling> {
        if fields.is_none() && replicas.min == replicas.max {
            return None;
        }
        Some(Autoscaling {
            waiting_requests: fields.and_then(|f| f.whole("waitingRequests")).unwrap_or(5),
            scale_down_after: fields
                .and_then(|f| self.seconds(f, "/serving/autoscaling", "scaleDownAfter"))
                .unwrap_or(600),
        })
    }

    fn ingress(&mut self, fields: &Fields) -> Ingress {
        Ingress {
            hostname: fields.owned("hostname").unwrap_or_default(),
            certificate: fields.owned("certificate"),
            idle_timeout: self.seconds(fields, "/serving/ingress", "idleTimeout").unwrap_or(600),
            scheme: fields.word("scheme").unwrap_or(IngressScheme::Internal),
            allowed_cidrs: fields.texts("allowedCidrs").unwrap_or_default(),
            api_key_secret: fields.owned("apiKeySecret"),
        }
    }
}
