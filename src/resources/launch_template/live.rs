//! Launch templates over EC2. Must never leave out of a new version what the wish holds: a version is whole or wrong.

use super::{Desired, LaunchTemplate, Observed};
use crate::{
    aws::{
        Aws,
        answers::{count, deleted, field, found},
        ec2::{filter, of_stack, retag, stamped, tags},
        failed,
    },
    contract::{CloudError, Kind, Live, TAGS},
    model::{PhysicalId, Scope, Stamp, Tags},
};
use aws_sdk_ec2::types::{self, Filter, ResourceType};
use futures::future::try_join;
use std::collections::BTreeMap;

const DESCRIBE: &str = "ec2:DescribeLaunchTemplates";
const VERSIONS: &str = "ec2:DescribeLaunchTemplateVersions";

/// One version of a template, as EC2 shows it.
pub struct Version {
    pub template: String,
    pub number: u64,
    pub data: Desired,
}

fn version(found: types::LaunchTemplateVersion) -> Result<Version, CloudError> {
    let name = field(VERSIONS, "launchTemplateName", found.launch_template_name)?;
    let data = field(VERSIONS, "launchTemplateData", found.launch_template_data)?;
    let number = field(VERSIONS, "versionNumber", found.version_number)?;
    Ok(Version {
        template: field(VERSIONS, "launchTemplateId", found.launch_template_id)?,
        number: u64::try_from(number).unwrap_or(0),
        data: super::data::read(name, data),
    })
}

/// The latest version of every template of the region, in one paged call: EC2 has no filter by tag here.
pub async fn latest(aws: &Aws) -> Result<Vec<Version>, CloudError> {
    let request = aws.ec2().describe_launch_template_versions().versions("$Latest");
    let pages = request.into_paginator().page_size(200).items().send();
    let versions = pages.collect::<Result<Vec<_>, _>>().await.map_err(failed(VERSIONS))?;
    versions.into_iter().map(version).collect()
}

/// One version; `None` where there is no such template or version.
pub async fn one(aws: &Aws, id: &str, number: &str) -> Result<Option<Version>, CloudError> {
    let request = aws.ec2().describe_launch_template_versions().launch_template_id(id).versions(number);
    let answer = found(request.send().await.map_err(failed(VERSIONS)))?;
    answer.and_then(|answer| answer.launch_template_versions?.pop()).map(version).transpose()
}

/// A template without its data.
struct Head {
    id: String,
    latest: u64,
    tags: Tags,
}

fn head(found: types::LaunchTemplate) -> Result<Head, CloudError> {
    let latest = field(DESCRIBE, "latestVersionNumber", found.latest_version_number)?;
    Ok(Head {
        id: field(DESCRIBE, "launchTemplateId", found.launch_template_id)?,
        latest: u64::try_from(latest).unwrap_or(0),
        tags: tags(found.tags),
    })
}

async fn heads(aws: &Aws, filter: Filter) -> Result<Vec<Head>, CloudError> {
    let pages = aws.ec2().describe_launch_templates().filters(filter).into_paginator().items().send();
    let templates = pages.collect::<Result<Vec<_>, _>>().await.map_err(failed(DESCRIBE))?;
    templates.into_iter().map(head).collect()
}

fn joined(head: Head, version: Version) -> Observed {
    Observed {
        launch_template_id: head.id,
        latest_version: head.latest.max(version.number),
        latest: version.data,
        tags: head.tags,
    }
}

impl Live<Aws> for LaunchTemplate {
    async fn list(aws: &Aws, scope: &Scope) -> Result<Vec<Observed>, CloudError> {
        let (ours, versions) = try_join(heads(aws, of_stack(scope)), latest(aws)).await?;
        let mut ours: BTreeMap<String, Head> = ours.into_iter().map(|head| (head.id.clone(), head)).collect();
        // One under a name of ours that lacks our tag: a lost tag, or somebody else's.
        let names = scope.names.get(Self::NAME);
        let taken = |version: &&Version| names.is_some_and(|names| names.contains(&version.data.name));
        let untagged: Vec<_> =
            versions.iter().filter(taken).filter(|version| !ours.contains_key(&version.template)).collect();
        for version in untagged {
            let also = heads(aws, filter("launch-template-name", &version.data.name)).await?;
            ours.extend(also.into_iter().map(|head| (head.id.clone(), head)));
        }
        let pair = |version: Version| Some(joined(ours.remove(&version.template)?, version));
        Ok(versions.into_iter().filter_map(pair).collect())
    }

    async fn read(aws: &Aws, id: &str) -> Result<Option<Observed>, CloudError> {
        let request = aws.ec2().describe_launch_templates().launch_template_ids(id);
        let described = async { found(request.send().await.map_err(failed(DESCRIBE))) };
        let (described, version) = try_join(described, one(aws, id, "$Latest")).await?;
        let Some(template) = described.and_then(|answer| answer.launch_templates?.pop()) else { return Ok(None) };
        let head = head(template)?;
        Ok(version.map(|version| joined(head, version)))
    }

    async fn create(aws: &Aws, want: &Desired, stamp: &Stamp) -> Result<PhysicalId, CloudError> {
        let call = "ec2:CreateLaunchTemplate";
        let request = aws
            .ec2()
            .create_launch_template()
            .client_token(&stamp.token)
            .launch_template_name(&want.name)
            .launch_template_data(super::data::write(want))
            .tag_specifications(stamped(ResourceType::LaunchTemplate, &stamp.tags));
        let answer = request.send().await.map_err(failed(call))?;
        field(call, "launchTemplateId", answer.launch_template.and_then(|template| template.launch_template_id))
    }

    async fn update(aws: &Aws, id: &str, want: &Desired, changed: &[String], stamp: &Stamp) -> Result<(), CloudError> {
        if changed.iter().any(|path| path != TAGS) {
            let request = aws
                .ec2()
                .create_launch_template_version()
                .launch_template_id(id)
                .launch_template_data(super::data::write(want));
            request.send().await.map_err(failed("ec2:CreateLaunchTemplateVersion"))?;
        }
        retag(aws, id, changed, stamp).await
    }

    async fn delete(aws: &Aws, id: &str) -> Result<(), CloudError> {
        let request = aws.ec2().delete_launch_template().launch_template_id(id);
        deleted(request.send().await.map_err(failed("ec2:DeleteLaunchTemplate")))
    }
}

/// How many, in the SDK's signed numbers.
pub(super) fn signed(n: u32) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

pub(super) fn unsigned(n: Option<i32>) -> Option<u32> {
    n.map(|n| count(Some(n)))
}
