//! The storage layer: the bucket of weights and the file system that shows it. Must never wish a bucket that was brought along.

use crate::{
    catalog::Catalog,
    choose::{Choice, Choices},
    desired::{DesiredGraph, network},
    model::Link,
    resources::{
        bucket::{self, Bucket},
        data_repository::{self, DataRepository, Event},
        file_system::{self, FileSystem},
    },
    stack::{AutoImport, Fsx, OnDestroy, Spec, Weights, names},
};

/// Days after which the parts of an upload that broke off are thrown away.
const ABORT_DAYS: u32 = 7;

/// Adds the wishes of the layer.
pub fn storage(graph: &mut DesiredGraph, spec: &Spec, choices: &Choices, _catalog: &Catalog) {
    let Some(weights) = &spec.weights else { return };
    weights_bucket(graph, weights, choices);
    if let (Some(fsx), Some(zone)) = (&weights.fsx, &choices.file_system_zone) {
        file_system(graph, spec, choices, fsx, zone);
        data_repository(graph, weights, choices, fsx);
    }
}

fn is_made_here(weights: &Weights) -> bool {
    weights.bucket.as_ref().is_some_and(|bucket| bucket.create)
}

fn weights_bucket(graph: &mut DesiredGraph, weights: &Weights, choices: &Choices) {
    let Some(name) = choices.bucket.as_ref().filter(|_| is_made_here(weights)) else { return };
    let want = bucket::Desired {
        name: name.value.clone(),
        region: graph.identity.region.clone(),
        encryption: "AES256".to_owned(),
        public_access_blocked: true,
        tls_only: true,
        ownership: "BucketOwnerEnforced".to_owned(),
        abort_incomplete_days: Some(ABORT_DAYS),
    };
    let because = format!("weights.bucket, named so because {}", name.because);
    let wish = graph.wish(&Bucket, &names::weights_bucket(), &want, because);
    wish.delete_with_stack = weights.on_destroy == OnDestroy::Delete;
}

fn file_system(graph: &mut DesiredGraph, spec: &Spec, choices: &Choices, fsx: &Fsx, zone: &Choice<String>) {
    let Some(subnet) = network::node_subnets(spec, choices, &zone.value).into_iter().next() else { return };
    let mut security_groups = vec![Link::to(&names::fsx_group(), "id")];
    if fsx.efa {
        security_groups.push(Link::to(&names::efa_group(), "id"));
    }
    let want = file_system::Desired {
        // Left out, FSx makes SCRATCH_1 with Lustre 2.10, which takes no link to S3.
        deployment: "PERSISTENT_2".to_owned(),
        storage: "SSD".to_owned(),
        version: "2.15".to_owned(),
        subnet,
        security_groups,
        capacity: fsx.capacity,
        throughput: fsx.throughput,
        metadata_iops: None,
        efa: fsx.efa,
        compression: "LZ4".to_owned(),
        backup_days: 0,
    };
    let because = format!("weights.fsx, in {} because {}", zone.value, zone.because);
    graph.wish(&FileSystem, &names::file_system(), &want, because);
}

fn data_repository(graph: &mut DesiredGraph, weights: &Weights, choices: &Choices, fsx: &Fsx) {
    let (Some(bucket), Some(name)) = (&weights.bucket, &choices.bucket) else { return };
    let want = data_repository::Desired {
        file_system: Link::to(&names::file_system(), "id"),
        path: "/".to_owned(),
        bucket: match is_made_here(weights) {
            true => Link::to(&names::weights_bucket(), "name"),
            false => Link::is(&name.value),
        },
        prefix: bucket.prefix.clone(),
        import: fsx.auto_import.iter().map(event).collect(),
        import_at_creation: true,
    };
    graph.wish(&DataRepository, &names::data_repository(), &want, "weights.fsx: it shows weights.bucket");
}

fn event(import: &AutoImport) -> Event {
    match import {
        AutoImport::New => Event::New,
        AutoImport::Changed => Event::Changed,
        AutoImport::Deleted => Event::Deleted,
    }
}
