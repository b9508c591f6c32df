//! The top of the file, and its network. Must never describe a node class or the serving: those have tables of their own.

use super::{Field, Object, Shape, cluster, formats, nodes, serving, weights};

pub(in crate::stack) static STACK: Object = Object {
    name: "Stack",
    doc: "Everything one stack is. `name`, `region`, one GPU node class and a model are enough; \
          `infer-stack validate --explain` prints the rest.",
    fields: &[
        Field::optional(
            "apiVersion",
            Shape::Word(&[("infer-stack/v1", "the only version there is")]),
            "infer-stack/v1",
            "infer-stack/v1",
            "Version of this format.",
        ),
        Field::required(
            "name",
            Shape::Text(&formats::NAME),
            "llama-70b",
            "Name of the stack and of its cluster; part of every derived name. Account, region and name are its identity.",
        ),
        Field::required("region", Shape::Text(&formats::REGION), "us-west-2", "AWS region."),
        Field::optional(
            "account",
            Shape::Text(&formats::ACCOUNT),
            "any account",
            "\"123456789012\"",
            "A guard: with any other account's credentials every command refuses (exit 6).",
        ),
        Field::optional(
            "expires",
            Shape::Text(&formats::EXPIRES),
            "72h",
            "72h",
            "When the stack may be swept: a duration from the first `up`, an RFC 3339 time, or `never`.",
        ),
        Field::optional(
            "protect",
            Shape::Bool,
            "false",
            "true",
            "Refuse `destroy`, and any replacement that interrupts.",
        ),
        Field::optional(
            "tags",
            Shape::Map(&formats::TAG_KEY, &Shape::Text(&formats::TAG_VALUE)),
            "none",
            "{ workload: llm-inference, environment: staging }",
            "Tags on everything that can carry one, instances and volumes included. At most 40.",
        ),
        Field::optional(
            "costAllocation",
            Shape::Object(&COST_ALLOCATION),
            "nothing activated",
            "{ activate: [workload], backfillMonths: 0 }",
            "Which tags billing groups costs by.",
        ),
        Field::optional(
            "budget",
            Shape::Object(&BUDGET),
            "none",
            "{ maxHourlyUsd: 500 }",
            "A limit on what the stack may cost an hour.",
        ),
        Field::optional(
            "network",
            Shape::Object(&NETWORK),
            "a VPC made for the stack",
            "{ cidr: 10.64.0.0/16 }",
            "A VPC made for the stack, or one brought along.",
        ),
        Field::optional(
            "cluster",
            Shape::Object(&cluster::CLUSTER),
            "all defaults",
            "{ version: \"1.35\" }",
            "The EKS cluster.",
        ),
        Field::optional(
            "iam",
            Shape::Object(&cluster::IAM),
            "roles made for the stack",
            "{ path: /platform/ }",
            "IAM roles.",
        ),
        Field::optional(
            "placementGroups",
            Shape::List(&Shape::Object(&nodes::PLACEMENT_GROUP)),
            "none",
            "[{ name: p5, strategy: cluster }]",
            "Placement groups that node classes can name.",
        ),
        Field::required(
            "nodeClasses",
            Shape::List(&Shape::Object(&nodes::NODE_CLASS)),
            "[{ name: p5, instanceTypes: [p5.48xlarge] }]",
            "Kinds of nodes. A file without a class free of accelerators gets one more, `system`, for the controllers.",
        ),
        Field::optional(
            "weights",
            Shape::Object(&weights::WEIGHTS),
            "streamed from a bucket made for the stack, where there is `serving`",
            "{ source: s3Stream, bucket: { name: my-weights } }",
            "Where the model's weights are, and how they reach the nodes.",
        ),
        Field::optional(
            "serving",
            Shape::Object(&serving::SERVING),
            "none: only infrastructure is made",
            "{ model: meta-llama/Llama-3.1-70B-Instruct }",
            "The model, how it is split and scaled, and how it is reached.",
        ),
    ],
};

static COST_ALLOCATION: Object = Object {
    name: "CostAllocation",
    doc: "Cost allocation tags: account-wide, and known to billing only up to 24 hours after their first use.",
    fields: &[
        Field::optional(
            "activate",
            Shape::List(&Shape::Text(&formats::TAG_KEY)),
            "none",
            "[workload, environment]",
            "Keys of `tags` that billing shall group by.",
        ),
        Field::optional(
            "backfillMonths",
            Shape::Whole { min: 0, max: 12 },
            "0",
            "3",
            "Months back for which billing fills the tags in, once.",
        ),
    ],
};

static BUDGET: Object = Object {
    name: "Budget",
    doc: "A limit on cost.",
    fields: &[Field::required(
        "maxHourlyUsd",
        Shape::Number { above: 0.0, max: f64::MAX },
        "500",
        "`up` is refused (exit 6) when the plan's price at the largest scale is above this many US dollars an hour.",
    )],
};

static NETWORK: Object = Object {
    name: "Network",
    doc: "Either made (`cidr`, `zones`, `natGateways`) or brought along (`vpc`, `subnets`); nothing that was brought \
          along is ever changed or deleted.",
    fields: &[
        Field::optional(
            "cidr",
            Shape::Text(&formats::CIDR),
            "10.64.0.0/16",
            "10.64.0.0/16",
            "Addresses of the VPC that is made, /16 to /28 and large enough for the nodes.",
        ),
        Field::optional(
            "zones",
            Shape::List(&Shape::Text(&formats::ZONE)),
            "chosen so that GPU nodes, file system and control plane all fit",
            "[usw2-az1, usw2-az2]",
            "Zone ids of the VPC that is made: at least two that EKS takes for a control plane.",
        ),
        Field::optional(
            "natGateways",
            Shape::Word(&[
                ("one", "one for all zones"),
                ("perZone", "one in each zone"),
                ("regional", "one regional gateway that follows the zones"),
                ("none", "none: interface endpoints are made instead"),
            ]),
            "one",
            "one",
            "How private nodes reach the internet.",
        ),
        Field::optional(
            "vpc",
            Shape::Text(&formats::VPC),
            "one is made",
            "vpc-0abc1234def567890",
            "A VPC that is brought along.",
        ),
        Field::optional(
            "subnets",
            Shape::Either(&[Shape::List(&Shape::Text(&formats::SUBNET)), Shape::Object(&SUBNETS)]),
            "made with the VPC",
            "[subnet-0abc1234def567890, subnet-0def1234abc567890]",
            "Subnets of the VPC that is brought along. A plain list serves nodes, control plane and load balancers.",
        ),
    ],
};

static SUBNETS: Object = Object {
    name: "Subnets",
    doc: "Subnets brought along, by what they are for.",
    fields: &[
        Field::required(
            "nodes",
            Shape::List(&Shape::Text(&formats::SUBNET)),
            "[subnet-0abc1234def567890]",
            "Private subnets for nodes.",
        ),
        Field::required(
            "controlPlane",
            Shape::List(&Shape::Text(&formats::SUBNET)),
            "[subnet-0abc1234def567890, subnet-0def1234abc567890]",
            "Two or more, in different zones, for the control plane's interfaces.",
        ),
        Field::optional(
            "loadBalancers",
            Shape::List(&Shape::Text(&formats::SUBNET)),
            "those of `nodes`",
            "[subnet-0abc1234def567890, subnet-0def1234abc567890]",
            "For the load balancer of the ingress.",
        ),
    ],
};
