//! The cluster and its IAM roles. Must never describe nodes.

use super::{Field, Object, Shape, formats};

pub(super) static CLUSTER: Object = Object {
    name: "Cluster",
    doc: "The EKS cluster.",
    fields: &[
        Field::optional(
            "version",
            Shape::Text(&formats::VERSION),
            "the live cluster's, else the newest that the pinned charts admit",
            "\"1.35\"",
            "Kubernetes version.",
        ),
        Field::optional(
            "supportType",
            Shape::Word(&[
                ("standard", "upgraded by AWS when standard support ends"),
                ("extended", "kept, at $0.60 an hour once standard support ends"),
            ]),
            "standard",
            "standard",
            "What happens when the version's standard support ends.",
        ),
        Field::optional(
            "endpoint",
            Shape::Object(&ENDPOINT),
            "public for the caller, and private",
            "{ public: true, private: true, publicCidrs: [caller] }",
            "Who can reach the Kubernetes API.",
        ),
        Field::optional(
            "logs",
            Shape::List(&Shape::Word(&[
                ("api", "API server"),
                ("audit", "who did what"),
                ("authenticator", "IAM authentication"),
                ("controllerManager", "controller manager"),
                ("scheduler", "scheduler"),
            ])),
            "none",
            "[api, audit]",
            "Control-plane logs that go to CloudWatch.",
        ),
        Field::optional(
            "access",
            Shape::List(&Shape::Object(&ACCESS)),
            "the caller alone",
            "[{ principal: \"arn:aws:iam::123456789012:role/ci\", policy: admin }]",
            "Who may use the cluster, besides whoever ran the first `up`.",
        ),
        Field::optional(
            "addons",
            Shape::Map(&formats::ADDON, &Shape::Object(&ADDON)),
            "the needed set is derived",
            "{ metrics-server: {} }",
            "EKS add-ons beyond the needed ones, or versions and settings of those.",
        ),
        Field::optional(
            "secretsKey",
            Shape::Text(&formats::KMS_KEY),
            "AWS's own key",
            "\"arn:aws:kms:us-west-2:123456789012:key/0abc\"",
            "KMS key for Kubernetes secrets.",
        ),
    ],
};

static ENDPOINT: Object = Object {
    name: "Endpoint",
    doc: "The endpoint of the Kubernetes API.",
    fields: &[
        Field::optional("public", Shape::Bool, "true", "true", "Reachable from the internet, for `publicCidrs`."),
        Field::optional("private", Shape::Bool, "true", "true", "Reachable from inside the VPC."),
        Field::optional(
            "publicCidrs",
            Shape::List(&Shape::Text(&formats::CIDR_OR_CALLER)),
            "[caller]",
            "[caller, 203.0.113.0/24]",
            "Blocks that may use the public endpoint; `caller` is this machine's address, resolved at `up`.",
        ),
    ],
};

static ACCESS: Object = Object {
    name: "Access",
    doc: "An access entry of the cluster.",
    fields: &[
        Field::required(
            "principal",
            Shape::Text(&formats::PRINCIPAL),
            "\"arn:aws:iam::123456789012:role/ci\"",
            "ARN of an IAM role (with its path) or user.",
        ),
        Field::required(
            "policy",
            Shape::Word(&[("admin", "everything"), ("edit", "change workloads"), ("view", "look")]),
            "admin",
            "What the principal may do.",
        ),
    ],
};

static ADDON: Object = Object {
    name: "Addon",
    doc: "An EKS add-on.",
    fields: &[
        Field::optional(
            "version",
            Shape::Text(&formats::ADDON_VERSION),
            "the live add-on's, else EKS's default for the cluster version",
            "v1.20.4-eksbuild.1",
            "Version of the add-on.",
        ),
        Field::optional(
            "configuration",
            Shape::Json,
            "EKS's",
            "{ replicaCount: 2 }",
            "`configurationValues` as EKS takes them; `aws eks describe-addon-configuration` shows their schema.",
        ),
    ],
};

pub(super) static IAM: Object = Object {
    name: "Iam",
    doc: "IAM roles: made for the stack under a path of its own, or brought along.",
    fields: &[
        Field::optional(
            "permissionsBoundary",
            Shape::Text(&formats::POLICY),
            "none",
            "\"arn:aws:iam::123456789012:policy/boundary\"",
            "Boundary of every role that is made.",
        ),
        Field::optional(
            "path",
            Shape::Text(&formats::IAM_PATH),
            "the root, `/`",
            "/platform/",
            "Path in front of `infer-stack/<region>/<stack>/`.",
        ),
        Field::optional(
            "clusterRole",
            Shape::Text(&formats::ROLE),
            "one is made",
            "\"arn:aws:iam::123456789012:role/eks-cluster\"",
            "Role of the control plane, brought along.",
        ),
        Field::optional(
            "nodeRole",
            Shape::Text(&formats::ROLE),
            "one is made",
            "\"arn:aws:iam::123456789012:role/eks-nodes\"",
            "Role of the nodes, brought along.",
        ),
    ],
};
