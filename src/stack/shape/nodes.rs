//! Placement groups and node classes. Must never say what an instance type can do: the catalogue does.

use super::{Field, Object, Shape, formats};

pub(super) static PLACEMENT_GROUP: Object = Object {
    name: "PlacementGroup",
    doc: "An EC2 placement group.",
    fields: &[
        Field::required("name", Shape::Text(&formats::NAME), "p5", "What node classes call it."),
        Field::required(
            "strategy",
            Shape::Word(&[
                ("cluster", "close together in one zone: for EFA"),
                ("partition", "in partitions that share no hardware"),
                ("spread", "each on hardware of its own, at most 7 a zone"),
            ]),
            "cluster",
            "How instances are placed.",
        ),
        Field::optional(
            "partitions",
            Shape::Whole { min: 1, max: 7 },
            "none: only for `partition`, which needs it",
            "3",
            "Number of partitions a zone.",
        ),
    ],
};

pub(in crate::stack) static NODE_CLASS: Object = Object {
    name: "NodeClass",
    doc: "A kind of nodes: what they are, where they stand, how many.",
    fields: &[
        Field::required("name", Shape::Text(&formats::NAME), "p5", "Name of the class, and of its node group."),
        Field::optional(
            "provisioner",
            Shape::Word(&[
                ("managed", "an EKS managed node group"),
                ("karpenter", "Karpenter starts and stops nodes as pods need them"),
            ]),
            "managed",
            "managed",
            "Who starts the nodes.",
        ),
        Field::required(
            "instanceTypes",
            Shape::List(&Shape::Text(&formats::INSTANCE_TYPE)),
            "[p5.48xlarge]",
            "EC2 instance types. One alone in a class with EFA.",
        ),
        Field::optional(
            "capacity",
            Shape::Either(&[
                Shape::Word(&[
                    ("onDemand", "as capacity is there"),
                    ("spot", "cheaper, taken back with two minutes' notice"),
                ]),
                Shape::Object(&CAPACITY),
            ]),
            "onDemand",
            "{ capacityBlock: cr-0abc1234def567890 }",
            "How capacity is bought.",
        ),
        Field::optional(
            "zone",
            Shape::Text(&formats::ZONE),
            "chosen",
            "usw2-az2",
            "Zone id that all nodes of the class stand in.",
        ),
        Field::optional(
            "placementGroup",
            Shape::Text(&formats::NAME),
            "none",
            "p5",
            "Name of one of `placementGroups`.",
        ),
        Field::optional(
            "efa",
            Shape::Either(&[
                Shape::Word(&[("all", "as many as the type has"), ("none", "plain networking")]),
                Shape::Whole { min: 1, max: 64 },
            ]),
            "all where the type has it, else none",
            "all",
            "Elastic Fabric Adapter interfaces a node.",
        ),
        Field::optional(
            "nodes",
            Shape::Object(&NODES),
            "{ min: 0, desired: 1, max: 1 }; with Karpenter { min: 0, desired: 0, max: 1 }",
            "{ min: 0, desired: 2, max: 8 }",
            "How many nodes.",
        ),
        Field::optional(
            "volume",
            Shape::Object(&VOLUME),
            "100Gi gp3; 500Gi on accelerated classes",
            "{ size: 500Gi, type: gp3 }",
            "The node's root volume: operating system, images, containers.",
        ),
        Field::optional(
            "localStorage",
            Shape::Word(&[
                ("raid0", "the instance store as one volume for containers"),
                ("none", "the instance store stays unused"),
            ]),
            "raid0 where every type has instance store, else none",
            "raid0",
            "What becomes of the instance store.",
        ),
        Field::optional(
            "ami",
            Shape::Object(&AMI),
            "the newest Amazon Linux 2023",
            "{ family: al2023 }",
            "The machine image.",
        ),
        Field::optional(
            "labels",
            Shape::Map(&formats::LABEL_KEY, &Shape::Text(&formats::LABEL_VALUE)),
            "none",
            "{ team: platform }",
            "Kubernetes labels of the nodes.",
        ),
        Field::optional(
            "taints",
            Shape::List(&Shape::Object(&TAINT)),
            "by accelerator: nvidia.com/gpu or aws.amazon.com/neuron with NoSchedule; else none",
            "[{ key: nvidia.com/gpu, effect: NoSchedule }]",
            "Kubernetes taints of the nodes.",
        ),
    ],
};

static CAPACITY: Object = Object {
    name: "Capacity",
    doc: "Capacity that was reserved: one of the two.",
    fields: &[
        Field::optional(
            "reservation",
            Shape::Text(&formats::RESERVATION),
            "none",
            "cr-0abc1234def567890",
            "Id of an on-demand capacity reservation.",
        ),
        Field::optional(
            "capacityBlock",
            Shape::Text(&formats::RESERVATION),
            "none",
            "cr-0abc1234def567890",
            "Id of a capacity block.",
        ),
    ],
};

static NODES: Object = Object {
    name: "Nodes",
    doc: "Sizes of a class: min ≤ desired ≤ max, 1 ≤ max.",
    fields: &[
        Field::optional("min", Shape::Whole { min: 0, max: 10_000 }, "0", "0", "Never fewer."),
        Field::optional(
            "desired",
            Shape::Whole { min: 0, max: 10_000 },
            "1, or what min and max leave; with Karpenter 0",
            "2",
            "Where it starts. Afterwards any live size from min to max is right; an edit of this number is one update.",
        ),
        Field::optional(
            "max",
            Shape::Whole { min: 1, max: 10_000 },
            "1, or as many as min and desired ask for",
            "8",
            "Never more. In a Karpenter class, its limit.",
        ),
    ],
};

static VOLUME: Object = Object {
    name: "Volume",
    doc: "An EBS volume.",
    fields: &[
        Field::optional(
            "size",
            Shape::Text(&formats::SIZE),
            "100Gi; 500Gi on accelerated classes",
            "500Gi",
            "Size of the volume.",
        ),
        Field::optional(
            "type",
            Shape::Word(&[
                ("gp3", "general purpose"),
                ("gp2", "general purpose, the older kind"),
                ("io1", "provisioned IOPS"),
                ("io2", "provisioned IOPS, more durable"),
            ]),
            "gp3",
            "gp3",
            "EBS volume type.",
        ),
        Field::optional(
            "iops",
            Shape::Whole { min: 100, max: 256_000 },
            "the type's own",
            "6000",
            "I/O operations a second: gp3, io1 and io2 only; io1 and io2 need it.",
        ),
        Field::optional(
            "throughput",
            Shape::Whole { min: 125, max: 2_000 },
            "the type's own",
            "500",
            "MiB a second: gp3 only.",
        ),
        Field::optional(
            "kmsKey",
            Shape::Text(&formats::KMS_KEY),
            "the account's default",
            "\"arn:aws:kms:us-west-2:123456789012:key/0abc\"",
            "KMS key of the volume.",
        ),
    ],
};

static AMI: Object = Object {
    name: "Ami",
    doc: "The machine image of a class.",
    fields: &[
        Field::optional(
            "family",
            Shape::Word(&[("al2023", "Amazon Linux 2023"), ("bottlerocket", "Bottlerocket")]),
            "al2023",
            "al2023",
            "Operating system.",
        ),
        Field::optional(
            "release",
            Shape::Text(&formats::AMI_RELEASE),
            "the newest when made, then kept; a newer one is offered, never forced",
            "1.35.2-20261120",
            "Release of the EKS AMI.",
        ),
    ],
};

static TAINT: Object = Object {
    name: "Taint",
    doc: "A Kubernetes taint.",
    fields: &[
        Field::required("key", Shape::Text(&formats::LABEL_KEY), "nvidia.com/gpu", "Key of the taint."),
        Field::optional("value", Shape::Text(&formats::LABEL_VALUE), "none", "present", "Value of the taint."),
        Field::required(
            "effect",
            Shape::Word(&[
                ("NoSchedule", "no new pods that don't tolerate it"),
                ("PreferNoSchedule", "rather none"),
                ("NoExecute", "and running ones leave"),
            ]),
            "NoSchedule",
            "What it does to pods that don't tolerate it.",
        ),
    ],
};
