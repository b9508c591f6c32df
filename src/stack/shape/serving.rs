//! The model and its serving. Must never say what fits: sizing does.

use super::{Field, Object, Shape, formats};

pub(super) static SERVING: Object = Object {
    name: "Serving",
    doc: "The model, how it is split and scaled, and how it is reached.",
    fields: &[
        Field::required(
            "model",
            Shape::Either(&[Shape::Text(&formats::MODEL), Shape::Object(&MODEL)]),
            "meta-llama/Llama-3.1-70B-Instruct",
            "A name of the catalogue, or the config.json of any other model.",
        ),
        Field::optional(
            "precision",
            Shape::Word(&[
                ("fp16", "two bytes a parameter"),
                ("bf16", "two bytes a parameter"),
                ("fp8", "one byte a parameter"),
                ("int4", "half a byte a parameter (AWQ, GPTQ)"),
            ]),
            "as the model is published",
            "fp16",
            "Precision of the weights.",
        ),
        Field::optional(
            "kvCache",
            Shape::Word(&[("auto", "as the model computes"), ("fp8", "one byte an element")]),
            "auto",
            "auto",
            "Precision of the KV cache.",
        ),
        Field::optional(
            "maxModelLen",
            Shape::Whole { min: 1, max: 100_000_000 },
            "the smaller of 8192 and the model's",
            "16384",
            "Tokens of the longest conversation.",
        ),
        Field::optional(
            "nodeClass",
            Shape::Text(&formats::NAME),
            "the only class with accelerators",
            "p5",
            "Name of the node class that serves.",
        ),
        Field::optional(
            "engine",
            Shape::Object(&ENGINE),
            "vLLM as pinned",
            "{ image: \"vllm/vllm-openai:v0.29.0\" }",
            "The vLLM server.",
        ),
        Field::optional(
            "gpuMemoryUtilization",
            Shape::Number { above: 0.0, max: 1.0 },
            "0.92",
            "0.92",
            "Share of each accelerator's memory that the engine takes.",
        ),
        Field::optional(
            "parallelism",
            Shape::Either(&[Shape::Word(&[("auto", "the smallest split that fits")]), Shape::Object(&PARALLELISM)]),
            "auto",
            "{ tensor: 8, pipeline: 1 }",
            "How one replica is split over accelerators and nodes.",
        ),
        Field::optional(
            "replicas",
            Shape::Object(&REPLICAS),
            "1 to what the class's max nodes hold",
            "{ min: 2, max: 8 }",
            "How many whole copies of the model serve.",
        ),
        Field::optional(
            "autoscaling",
            Shape::Object(&AUTOSCALING),
            "none where replicas can't vary, else { waitingRequests: 5, scaleDownAfter: 10m }",
            "{ waitingRequests: 5, scaleDownAfter: 10m }",
            "When replicas come and go.",
        ),
        Field::optional(
            "routing",
            Shape::Word(&[
                ("inferenceExtension", "by queue and shared prefixes (Gateway API Inference Extension)"),
                ("service", "a plain Kubernetes service"),
                ("none", "nothing in front of the pods"),
            ]),
            "service",
            "inferenceExtension",
            "How requests are spread over replicas.",
        ),
        Field::optional(
            "ingress",
            Shape::Object(&INGRESS),
            "none",
            "{ hostname: llm.example.com }",
            "A load balancer in front.",
        ),
        Field::optional("monitoring", Shape::Bool, "false", "true", "Prometheus rules and the Grafana dashboard."),
    ],
};

static MODEL: Object = Object {
    name: "ModelConfig",
    doc: "A model that the catalogue lacks.",
    fields: &[Field::required(
        "config",
        Shape::Text(&formats::PATH),
        "models/mine/config.json",
        "Path of its Hugging Face config.json, from the directory of the stack file.",
    )],
};

static ENGINE: Object = Object {
    name: "Engine",
    doc: "The vLLM server.",
    fields: &[
        Field::optional(
            "image",
            Shape::Text(&formats::IMAGE),
            "the default image for the accelerator",
            "\"vllm/vllm-openai:v0.29.0\"",
            "Container image, pinned by tag or digest.",
        ),
        Field::optional(
            "ofiNccl",
            Shape::Bool,
            "false",
            "true",
            "The image holds aws-ofi-nccl, without which NCCL can't use EFA. The default image does not.",
        ),
        Field::optional(
            "args",
            Shape::List(&Shape::Text(&formats::ANY)),
            "none",
            "[--enable-prefix-caching]",
            "Further arguments of `vllm serve`.",
        ),
        Field::optional(
            "env",
            Shape::Map(&formats::VARIABLE, &Shape::Text(&formats::ANY)),
            "none",
            "{ NCCL_DEBUG: INFO }",
            "Environment variables of the engine.",
        ),
        Field::optional(
            "secretRefs",
            Shape::List(&Shape::Text(&formats::OBJECT_NAME)),
            "none",
            "[hf-token]",
            "Kubernetes secrets whose keys become environment variables.",
        ),
        Field::optional(
            "imagePullSecrets",
            Shape::List(&Shape::Text(&formats::OBJECT_NAME)),
            "none",
            "[registry]",
            "Kubernetes secrets for a private registry.",
        ),
    ],
};

static PARALLELISM: Object = Object {
    name: "Parallelism",
    doc: "A fixed split.",
    fields: &[
        Field::required(
            "tensor",
            Shape::Whole { min: 1, max: 1024 },
            "8",
            "Accelerators that share each layer, inside one node.",
        ),
        Field::optional(
            "pipeline",
            Shape::Whole { min: 1, max: 1024 },
            "1",
            "2",
            "Nodes that share the layers of a replica.",
        ),
    ],
};

static REPLICAS: Object = Object {
    name: "Replicas",
    doc: "Bounds of the number of replicas.",
    fields: &[
        Field::optional("min", Shape::Whole { min: 0, max: 10_000 }, "1", "2", "Never fewer."),
        Field::optional(
            "max",
            Shape::Whole { min: 1, max: 10_000 },
            "what the class's max nodes hold",
            "8",
            "Never more.",
        ),
    ],
};

static AUTOSCALING: Object = Object {
    name: "Autoscaling",
    doc: "Scaling on the queue, never on CPU.",
    fields: &[
        Field::optional(
            "waitingRequests",
            Shape::Whole { min: 1, max: 100_000 },
            "5",
            "5",
            "Waiting requests for each replica above which one more is started.",
        ),
        Field::optional(
            "scaleDownAfter",
            Shape::Text(&formats::DURATION),
            "10m",
            "10m",
            "How long the queue must stay short before a replica goes.",
        ),
    ],
};

static INGRESS: Object = Object {
    name: "Ingress",
    doc: "An Application Load Balancer in front.",
    fields: &[
        Field::required("hostname", Shape::Text(&formats::HOSTNAME), "llm.example.com", "DNS name that clients use."),
        Field::optional(
            "certificate",
            Shape::Text(&formats::CERTIFICATE),
            "none: plain HTTP",
            "\"arn:aws:acm:us-west-2:123456789012:certificate/0abc\"",
            "ACM certificate for HTTPS.",
        ),
        Field::optional(
            "idleTimeout",
            Shape::Text(&formats::DURATION),
            "10m",
            "10m",
            "How long a connection may stay silent: longer than the longest pause of an answer.",
        ),
        Field::optional(
            "scheme",
            Shape::Word(&[("internal", "inside the VPC"), ("internetFacing", "from the internet")]),
            "internal",
            "internal",
            "Who can reach the load balancer.",
        ),
        Field::optional(
            "allowedCidrs",
            Shape::List(&Shape::Text(&formats::CIDR)),
            "any that can reach it",
            "[203.0.113.0/24]",
            "Blocks that may connect.",
        ),
        Field::optional(
            "apiKeySecret",
            Shape::Text(&formats::OBJECT_NAME),
            "none",
            "api-key",
            "Kubernetes secret with the API key that the engine asks for.",
        ),
    ],
};
