//! Weights: bucket, file system, filling. Must never ask whether a bucket is there.

use super::Judge;
use crate::catalog::fsx;
use crate::stack::{Bucket, OnDestroy, WeightSource};

impl Judge<'_> {
    pub(super) fn weights(&mut self) {
        let Some(weights) = self.spec.weights.as_ref().filter(|_| self.places.says("/weights")) else { return };
        if !self.sound(&["/weights/source"]) {
            return;
        }
        if let Some(bucket) = &weights.bucket {
            self.bucket(bucket);
            if weights.on_destroy == OnDestroy::Delete && !bucket.create && self.sound(&["/weights/bucket"]) {
                let label = "`destroy` deletes only what the stack made: say `create: true` if it did";
                let message = "the bucket is brought along, so it stays whatever `onDestroy` says";
                self.warn("bucket-stays", "/weights/onDestroy", message, label);
            }
        }
        let image = weights.source == WeightSource::Image;
        for (path, unread) in [
            ("/weights/bucket", image),
            ("/weights/populate", image),
            ("/weights/fsx", weights.source != WeightSource::Fsx),
        ] {
            if unread && self.places.says(path) {
                let key = path.rsplit('/').next().unwrap_or_default();
                let word = match weights.source {
                    WeightSource::S3Stream => "s3Stream",
                    WeightSource::Fsx => "fsx",
                    WeightSource::Mountpoint => "mountpoint",
                    WeightSource::Image => "image",
                };
                let message = format!("`{key}` is not read with source {word}");
                self.warn("unread", path, message, "leave it out, or change `source`");
            }
        }
        if image
            && let Some(serving) = &self.spec.serving
            && serving.engine.image.is_none()
            && self.sound(&["/serving/engine"])
        {
            let label = "add `serving.engine.image`, the image that holds them";
            self.error("image-weights", "/weights/source", "the default image holds no weights", label);
        }
        if let Some(size) = weights.fsx.as_ref().filter(|_| self.sound(&["/weights/fsx"]))
            && let Err(refused) = fsx::check(size.capacity, size.throughput, size.efa)
        {
            let key = if matches!(refused, fsx::FsxSize::Throughput(_)) { "throughput" } else { "capacity" };
            let path = format!("/weights/fsx/{key}");
            self.error("fsx-size", &path, format!("no file system has this {key}"), refused.to_string());
        }
        self.populate();
    }

    fn bucket(&mut self, bucket: &Bucket) {
        const NAME: &str = "/weights/bucket/name";
        if !self.sound(&["/weights/bucket"]) {
            return;
        }
        let Some(name) = &bucket.name else {
            if !bucket.create {
                let label = "add `name`, or leave `create` out to have one made";
                self.error(
                    "bucket-unnamed",
                    "/weights/bucket/create",
                    "a bucket that is not made needs its name",
                    label,
                );
            }
            return;
        };
        if name.ends_with("--x-s3") {
            let label = "Lustre, Mountpoint's CSI driver and the streamer here want a general-purpose bucket";
            return self.error("bucket-express", NAME, format!("`{name}` is a directory bucket's name"), label);
        }
        let wrong = if name.contains("..") {
            Some("two dots in a row")
        } else if name.contains(".-") || name.contains("-.") {
            Some("a dot beside a hyphen")
        } else if name.parse::<std::net::Ipv4Addr>().is_ok() {
            Some("it reads as an IP address")
        } else if ["xn--", "sthree-", "amzn-s3-demo-"].iter().any(|prefix| name.starts_with(prefix)) {
            Some("S3 keeps names that begin so")
        } else if ["-s3alias", "--ol-s3", ".mrap", "--table-s3"].iter().any(|suffix| name.ends_with(suffix)) {
            Some("S3 keeps names that end so")
        } else {
            None
        };
        if let Some(why) = wrong {
            self.error(
                "bucket-name",
                NAME,
                format!("`{name}` can't name a bucket: {why}"),
                "a–z, 0–9 and `-` are safe",
            );
        }
    }

    fn populate(&mut self) {
        let Some(weights) = &self.spec.weights else { return };
        let Some(populate) = weights.populate.as_ref().filter(|_| self.sound(&["/weights/populate"])) else { return };
        if let (Some(rest), Some(bucket)) = (populate.from.strip_prefix("s3://"), &weights.bucket) {
            let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
            if bucket.name.as_deref() == Some(name)
                && prefix.trim_end_matches('/') == bucket.prefix.trim_end_matches('/')
            {
                let label = "name another bucket or prefix, or leave `populate` out";
                self.error(
                    "populate-itself",
                    "/weights/populate/from",
                    "the prefix would be filled from itself",
                    label,
                );
            }
            if populate.revision.is_some() {
                let message = "`revision` is for the hub: a bucket has none";
                self.warn("unread", "/weights/populate/revision", message, "leave it out");
            }
        }
        let hub = populate.from.strip_prefix("hf:").and_then(|id| self.catalog.model(id));
        if let Some(gated) = hub.filter(|model| model.gated == Some(true) && populate.token_secret.is_none()) {
            let label = "add `tokenSecret`, the Kubernetes secret with the hub's token";
            let message = format!("{} is gated: the hub asks for a token", gated.id);
            self.warn("populate-gated", "/weights/populate/from", message, label);
        }
    }
}
