//! `size`: the memory budget of a model on an instance type, from a file or from flags. Must never ask a cloud.

use crate::{
    catalog::{Catalog, InstanceType, ModelShape, Precision, model_from_config},
    cli::{
        Exit, Failure,
        app::App,
        args::{self, Size},
        input,
    },
    contract::Purchase,
    report::{self, Header, SizeDocument},
    sizing::{self, Ask, Parallelism},
    stack::{self, Model, Serving, Spec},
};

/// A model on a type, and how it is asked for.
struct Question {
    stack: String,
    region: String,
    shape: ModelShape,
    instance_type: &'static InstanceType,
    precision: Option<Precision>,
    kv: Precision,
    max_model_len: u32,
    utilization: f64,
    parallelism: Parallelism,
}

impl Question {
    fn ask(&self) -> Ask<'_> {
        Ask {
            shape: &self.shape,
            precision: self.precision,
            kv: self.kv,
            max_model_len: self.max_model_len,
            utilization: self.utilization,
            parallelism: self.parallelism,
        }
    }
}

pub fn run(app: &App, args: &Size) -> Result<Exit, Failure> {
    let catalog = Catalog::compiled();
    let question = match &args.file {
        Some(file) => of_spec(&input::one(app, file, args.stack.as_deref())?.parsed.spec, &catalog)?,
        None => of_flags(args, &catalog)?,
    };
    let ask = question.ask();
    let budget = sizing::budget(&ask, question.instance_type);
    let nearest = if budget.fits() {
        None
    } else {
        sizing::nearest_fitting_class(&ask, question.instance_type, &question.region, &catalog)
    };
    let hourly = catalog.instance_price(&question.instance_type.name, Purchase::OnDemand, &question.region);
    let nodes = f64::from(budget.nodes_per_replica.max(1));
    let share = f64::from(budget.replicas_per_node.max(1));
    let replica_hourly = hourly.map(|price| price.usd * nodes / share);
    let document = SizeDocument {
        header: Header::new("size", &question.stack, None, &question.region, &crate::clock::Clock::system().text()),
        model: question.shape.id.clone(),
        instance_type: question.instance_type.name.clone(),
        precision: budget.precision.name().to_owned(),
        max_model_len: question.max_model_len,
        memory_bytes: budget.memory_bytes,
        weights_bytes: budget.weights_bytes,
        kv_bytes_per_token: budget.kv_bytes_per_token,
        overhead_bytes: budget.overhead_bytes,
        overhead_fraction: budget.overhead_fraction,
        kv_budget_bytes: budget.kv_budget_bytes,
        kv_tokens: budget.kv_tokens,
        max_concurrency: budget.max_concurrency,
        sequences: budget.sequences,
        tensor_parallel: budget.tensor,
        pipeline_parallel: budget.pipeline,
        nodes_per_replica: budget.nodes_per_replica,
        replicas_per_node: budget.replicas_per_node,
        verdict: budget.verdict.to_string(),
        fits: budget.fits(),
        notes: budget.notes.iter().map(ToString::to_string).collect(),
        nearest_fitting: nearest.map(|(instance_type, _)| instance_type.name.clone()),
        weight_load_seconds: question.instance_type.ip_gbps().and_then(|gbps| {
            sizing::load_seconds(budget.weights_bytes / u64::from(budget.nodes_per_replica.max(1)), gbps)
        }),
        replica_hourly_usd: replica_hourly,
        usd_per_million_tokens: replica_hourly
            .zip(args.tokens_per_second)
            .and_then(|(usd, rate)| sizing::usd_per_million_tokens(rate, usd)),
        seed_table: if args.seed_rounding {
            sizing::seed::table(&question.shape, budget.precision, question.instance_type).map(report::SeedColumn::from)
        } else {
            None
        },
    };
    app.result(&document, |style| report::human::size(&document, style))?;
    Ok(Exit::Done)
}

fn of_spec(spec: &Spec, catalog: &Catalog) -> Result<Question, Failure> {
    let serving: &Serving = spec.serving.as_ref().ok_or_else(|| {
        Failure::new(Exit::Usage, format!("{} has no `serving` section: there is no model to size", spec.name))
            .hint("go on", "add one, or name --model and --instance-type")
    })?;
    let class = spec.node_classes.iter().find(|class| class.name == serving.node_class);
    let instance_type = class.and_then(|class| stack::fit::weakest(catalog, class)).ok_or_else(|| {
        Failure::new(Exit::Usage, format!("the catalogue lacks an instance type of class {}", serving.node_class))
    })?;
    let shape = shape(&serving.model, catalog)?;
    let Ask { precision, kv, max_model_len, utilization, parallelism, .. } = stack::fit::ask(serving, &shape);
    Ok(Question {
        stack: spec.name.clone(),
        region: spec.region.clone(),
        instance_type,
        precision,
        kv,
        max_model_len,
        utilization,
        parallelism,
        shape,
    })
}

fn of_flags(args: &Size, catalog: &Catalog) -> Result<Question, Failure> {
    let usage = |text: String| Failure::new(Exit::Usage, text);
    let name = args.model.as_deref().unwrap_or_default();
    let model = if std::path::Path::new(name).extension().is_some_and(|extension| extension == "json") {
        let text = std::fs::read_to_string(name).map_err(|error| usage(format!("can't read {name}: {error}")))?;
        Model::Config { path: name.to_owned(), text }
    } else {
        Model::Named(name.to_owned())
    };
    let shape = shape(&model, catalog)?;
    if !(args.utilization > 0.0 && args.utilization <= 1.0) {
        return Err(usage(format!("--utilization {} is not above 0 and at most 1", args.utilization)));
    }
    let context = args.context.unwrap_or_else(|| shape.max_context.min(8192));
    if context == 0 || context > shape.max_context {
        return Err(usage(format!("--context {context} is not between 1 and the model's {}", shape.max_context)));
    }
    Ok(Question {
        stack: String::new(),
        region: args.region.clone(),
        instance_type: instance_type(args.instance_type.as_deref().unwrap_or_default(), catalog)?,
        precision: args.precision.map(|precision| match precision {
            args::Precision::Fp16 => Precision::Fp16,
            args::Precision::Bf16 => Precision::Bf16,
            args::Precision::Fp8 => Precision::Fp8,
            args::Precision::Int4 => Precision::Int4,
        }),
        kv: match args.kv_cache {
            args::KvCache::Auto => Precision::Bf16,
            args::KvCache::Fp8 => Precision::Fp8,
        },
        max_model_len: context,
        utilization: args.utilization,
        parallelism: Parallelism::Auto,
        shape,
    })
}

fn shape(model: &Model, catalog: &Catalog) -> Result<ModelShape, Failure> {
    match model {
        Model::Named(name) => catalog.model(name).cloned().ok_or_else(|| {
            let hint = catalog.nearest_model(name).map_or_else(
                || "name a model as Hugging Face does, or the path of its config.json".to_owned(),
                |near| format!("did you mean {near}? else name the path of its config.json"),
            );
            Failure::new(Exit::Usage, format!("the catalogue has no model {name}")).hint("go on", hint)
        }),
        Model::Config { path, text } => model_from_config(path, text)
            .map_err(|error| Failure::new(Exit::Usage, format!("{path} does not describe a model: {error}"))),
    }
}

fn instance_type(name: &str, catalog: &Catalog) -> Result<&'static InstanceType, Failure> {
    let found = catalog.instance_type(name).ok_or_else(|| {
        let hint = catalog.nearest(name).map_or_else(String::new, |near| format!("did you mean {near}?"));
        Failure::new(Exit::Usage, format!("the catalogue has no instance type {name}")).hint("go on", hint)
    })?;
    if found.accelerator.is_none() {
        return Err(Failure::new(Exit::Usage, format!("{name} has no accelerator to size a model for")));
    }
    Ok(found)
}
