//! Where weights are. Must never say how large they are: sizing does.

use super::{Field, Object, Shape, formats};

pub(super) static WEIGHTS: Object = Object {
    name: "Weights",
    doc: "Where the model's weights are, and how they reach the nodes.",
    fields: &[
        Field::optional(
            "source",
            Shape::Word(&[
                ("s3Stream", "streamed from S3 into the accelerators' memory"),
                ("fsx", "an FSx for Lustre file system linked to the bucket"),
                ("mountpoint", "the bucket mounted by Mountpoint for Amazon S3"),
                ("image", "inside the container image"),
            ]),
            "s3Stream",
            "s3Stream",
            "How weights reach a node.",
        ),
        Field::optional(
            "bucket",
            Shape::Object(&BUCKET),
            "one made for the stack; none with source image",
            "{ name: my-weights, prefix: llama-3.1-70b/ }",
            "The S3 bucket that holds them.",
        ),
        Field::optional(
            "fsx",
            Shape::Object(&FSX),
            "none; with source fsx 1200Gi at 250 MB/s a TiB",
            "{ capacity: 4800Gi, throughput: 250 }",
            "The file system; read only with source fsx.",
        ),
        Field::optional(
            "populate",
            Shape::Object(&POPULATE),
            "nothing: the weights are there already",
            "{ from: \"hf:meta-llama/Llama-3.1-70B-Instruct\", tokenSecret: hf-token }",
            "A job that fills an empty prefix.",
        ),
        Field::optional(
            "onDestroy",
            Shape::Word(&[
                ("keep", "the bucket stays, and is listed as kept"),
                ("delete", "the bucket goes, with what is in it"),
            ]),
            "keep",
            "keep",
            "What `destroy` does with a bucket that the stack made. A file system always goes.",
        ),
    ],
};

static BUCKET: Object = Object {
    name: "Bucket",
    doc: "An S3 bucket.",
    fields: &[
        Field::optional(
            "name",
            Shape::Text(&formats::BUCKET),
            "derived from stack, account and region",
            "my-weights",
            "Name of the bucket.",
        ),
        Field::optional(
            "create",
            Shape::Bool,
            "false for a named bucket, true for a derived name",
            "true",
            "Make the bucket with the stack.",
        ),
        Field::optional(
            "prefix",
            Shape::Text(&formats::PREFIX),
            "the whole bucket",
            "llama-3.1-70b/",
            "Where in the bucket the weights are.",
        ),
    ],
};

static FSX: Object = Object {
    name: "Fsx",
    doc: "An FSx for Lustre file system (PERSISTENT_2, SSD).",
    fields: &[
        Field::optional(
            "capacity",
            Shape::Text(&formats::SIZE),
            "1200Gi, or the first step that EFA allows",
            "4800Gi",
            "1200Gi, 2400Gi, then steps of 2400Gi; with EFA steps by throughput.",
        ),
        Field::optional(
            "throughput",
            Shape::Whole { min: 125, max: 1000 },
            "250",
            "250",
            "MB a second for each TiB: 125, 250, 500 or 1000.",
        ),
        Field::optional("efa", Shape::Bool, "false", "true", "Reach it through EFA; can't be changed later."),
        Field::optional(
            "autoImport",
            Shape::List(&Shape::Word(&[
                ("new", "objects that appear"),
                ("changed", "objects that change"),
                ("deleted", "objects that go"),
            ])),
            "[new, changed, deleted]",
            "[new, changed, deleted]",
            "Changes of the bucket that show in the file system by themselves.",
        ),
    ],
};

static POPULATE: Object = Object {
    name: "Populate",
    doc: "A job that fills an empty prefix once.",
    fields: &[
        Field::required(
            "from",
            Shape::Text(&formats::POPULATE),
            "\"hf:meta-llama/Llama-3.1-70B-Instruct\"",
            "A model of the Hugging Face hub, or another bucket.",
        ),
        Field::optional(
            "revision",
            Shape::Text(&formats::ANY),
            "the default branch",
            "main",
            "Branch, tag or commit on the hub.",
        ),
        Field::optional(
            "tokenSecret",
            Shape::Text(&formats::OBJECT_NAME),
            "none",
            "hf-token",
            "Kubernetes secret with the hub's token under the key `token`; gated models need one.",
        ),
    ],
};
