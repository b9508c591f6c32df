//! The syntax of every kind of text in a stack file. Must never accept a text that a later room would have to repair.

use super::Format;
use std::sync::OnceLock;

const fn format(what: &'static str, pattern: &'static str, way_out: &'static str) -> Format {
    Format { what, pattern, way_out, compiled: OnceLock::new() }
}

pub(super) static ANY: Format = format("a text", "", "");
pub(super) static NAME: Format = format(
    "1–32 of a–z, 0–9 and `-`, starting with a letter",
    "^[a-z][a-z0-9-]{0,31}$",
    "it becomes part of every derived name, so it stays inside the narrowest limit of AWS",
);
pub(super) static REGION: Format = format("a region", "^[a-z]{2}(-[a-z]+){1,2}-[0-9]+$", "write it like `us-west-2`");
pub(super) static ACCOUNT: Format =
    format("an account id, 12 digits", "^[0-9]{12}$", "quote it, so that leading zeros stay: \"012345678901\"");
pub(super) static DURATION: Format =
    format("a duration", "^([0-9]{1,6}[smhd]){1,4}$", "a number and a unit: `30s`, `10m`, `72h`, `7d`, `1h30m`");
pub(super) static EXPIRES: Format = format(
    "a duration, an RFC 3339 time, or `never`",
    "^(never|([0-9]{1,6}[smhd]){1,4}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2}))$",
    "write `72h`, `2027-01-31T18:00:00Z`, or `never`",
);
pub(super) static SIZE: Format =
    format("a size in Gi or Ti", "^[0-9]{1,7}(Gi|Ti)$", "AWS sells whole GiB: write `500Gi` or `2Ti`");
pub(super) static CIDR: Format = format(
    "an IPv4 block",
    "^[0-9]{1,3}(\\.[0-9]{1,3}){3}/[0-9]{1,2}$",
    "an address and a prefix length: `10.64.0.0/16`",
);
pub(super) static CIDR_OR_CALLER: Format = format(
    "an IPv4 block or `caller`",
    "^(caller|[0-9]{1,3}(\\.[0-9]{1,3}){3}/[0-9]{1,2})$",
    "`203.0.113.0/24`, or `caller` for the address of the machine that runs `up`",
);
pub(super) static ZONE: Format = format(
    "a zone id",
    "^[a-z]{3,6}[0-9]+-az[1-7]$",
    "zone letters differ from account to account, ids don't: `usw2-az2`",
);
pub(super) static VPC: Format = format("a VPC id", "^vpc-[0-9a-z]+$", "like `vpc-0abc1234def567890`");
pub(super) static SUBNET: Format = format("a subnet id", "^subnet-[0-9a-z]+$", "like `subnet-0abc1234def567890`");
pub(super) static RESERVATION: Format = format(
    "the id of a capacity reservation",
    "^cr-[0-9a-z]+$",
    "like `cr-0abc1234def567890`; `infer-stack capacity find` lists them",
);
pub(super) static VERSION: Format =
    format("a Kubernetes version", "^1\\.[0-9]{2}$", "two numbers, in quotes: \"1.35\"");
pub(super) static PRINCIPAL: Format = format(
    "the ARN of an IAM role or user",
    "^arn:aws[a-z-]*:iam::[0-9]{12}:(role|user)/.+$",
    "for an SSO or assumed role, the ARN of the role itself with its path: `arn:aws:iam::123456789012:role/aws-reserved/sso.amazonaws.com/…`",
);
pub(super) static ROLE: Format = format(
    "the ARN of an IAM role",
    "^arn:aws[a-z-]*:iam::[0-9]{12}:role/.+$",
    "like `arn:aws:iam::123456789012:role/eks-nodes`",
);
pub(super) static POLICY: Format = format(
    "the ARN of an IAM policy",
    "^arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/.+$",
    "like `arn:aws:iam::123456789012:policy/boundary`",
);
pub(super) static IAM_PATH: Format =
    format("an IAM path", "^/([A-Za-z0-9+=,.@_-]{1,64}/){0,6}$", "it begins and ends with a slash: `/platform/`");
pub(super) static KMS_KEY: Format =
    format("the ARN of a KMS key", "^arn:aws[a-z-]*:kms:.+$", "like `arn:aws:kms:us-west-2:123456789012:key/…`");
pub(super) static CERTIFICATE: Format = format(
    "the ARN of an ACM certificate",
    "^arn:aws[a-z-]*:acm:.+$",
    "like `arn:aws:acm:us-west-2:123456789012:certificate/…`",
);
pub(super) static TAG_KEY: Format = format(
    "a tag key, 1–128 letters, digits, spaces and `+ - = . _ : / @`",
    "^[^\"'<>\\\\!#$%&*(){}\\[\\]|;,?`^~]{1,128}$",
    "AWS takes letters, digits, spaces and `+ - = . _ : / @`",
);
pub(super) static TAG_VALUE: Format = format(
    "a tag value, up to 256 letters, digits, spaces and `+ - = . _ : / @`",
    "^[^\"'<>\\\\!#$%&*(){}\\[\\]|;,?`^~]{0,256}$",
    "AWS takes letters, digits, spaces and `+ - = . _ : / @`",
);
pub(super) static ADDON: Format = format(
    "the name of an EKS add-on",
    "^[a-z0-9]([a-z0-9_-]{0,98}[a-z0-9])?$",
    "`aws eks describe-addon-versions` lists them",
);
pub(super) static ADDON_VERSION: Format = format(
    "the version of an EKS add-on",
    "^v?[0-9]+\\.[0-9]+\\.[0-9]+(-[A-Za-z0-9.-]+)?$",
    "like `v1.20.4-eksbuild.1`",
);
pub(super) static INSTANCE_TYPE: Format =
    format("an EC2 instance type", "^[a-z0-9-]+\\.[a-z0-9-]+$", "a family and a size: `p5.48xlarge`");
pub(super) static AMI_RELEASE: Format = format(
    "the release of an EKS AMI",
    "^[0-9]+\\.[0-9]+(\\.[0-9]+)?-[A-Za-z0-9.-]+$",
    "like `1.35.2-20261120`; leave it out for the newest when made, then kept",
);
pub(super) static LABEL_KEY: Format = format(
    "the key of a Kubernetes label",
    "^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$",
    "a name of up to 63 letters, digits and `- _ .`, after a DNS name and a slash if need be",
);
pub(super) static LABEL_VALUE: Format = format(
    "the value of a Kubernetes label",
    "^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$",
    "up to 63 letters, digits and `- _ .`, starting and ending with a letter or digit",
);
pub(super) static OBJECT_NAME: Format = format(
    "the name of a Kubernetes object",
    "^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$",
    "a–z, 0–9, `-` and `.`, starting and ending with a letter or digit",
);
pub(super) static VARIABLE: Format = format(
    "the name of an environment variable",
    "^[A-Za-z_][A-Za-z0-9_.-]*$",
    "letters, digits and `_`, not starting with a digit",
);
/// The lengths and the characters of S3's rules; `rules` has the rest.
pub(super) static BUCKET: Format = format(
    "the name of an S3 bucket, 3–63 of a–z, 0–9, `-` and `.`",
    "^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$",
    "start and end with a letter or digit; no capitals, no `_`",
);
pub(super) static PREFIX: Format =
    format("a key prefix that ends in `/`", "^([^/].*/)?$", "no slash in front, one at the end: `llama-3.1-70b/`");
pub(super) static POPULATE: Format = format(
    "where weights come from",
    "^(hf:[A-Za-z0-9._-]+/[A-Za-z0-9._-]+|s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/.*)?)$",
    "`hf:meta-llama/Llama-3.1-70B-Instruct`, or `s3://bucket/prefix/`",
);
pub(super) static MODEL: Format = format(
    "the name of a model",
    "^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$",
    "as on the Hugging Face hub: `meta-llama/Llama-3.1-70B-Instruct`; for another model `{ config: path/to/config.json }`",
);
pub(super) static PATH: Format = format("a path", "^.+$", "relative to the directory of the stack file");
pub(super) static IMAGE: Format = format(
    "a container image",
    "^[^ @]+(:[A-Za-z0-9._-]+|@sha256:[0-9a-f]{64})$",
    "pin it with a tag or a digest: `vllm/vllm-openai:v0.29.0`",
);
pub(super) static HOSTNAME: Format = format(
    "a DNS name",
    "^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$",
    "like `llm.example.com`",
);
