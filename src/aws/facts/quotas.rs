//! Limits of the account, and what counts against them. Must never take a default for an applied value.

use super::count;
use crate::{
    aws::{Aws, failed},
    cloud::QuotaValue,
    contract::{Class, CloudError},
};
use aws_sdk_ec2::types::Filter;
use aws_sdk_fsx::types::LustreDeploymentType;
use futures::future::try_join_all;
use std::collections::BTreeMap;

pub(super) async fn values(aws: &Aws, codes: &[(String, String)]) -> Result<BTreeMap<String, QuotaValue>, CloudError> {
    let mut services = BTreeMap::<&str, Vec<&str>>::new();
    for (code, service) in codes {
        services.entry(service).or_default().push(code);
    }
    let asked = services.into_iter().map(|(service, codes)| of_service(aws, service, codes));
    Ok(try_join_all(asked).await?.into_iter().flatten().collect())
}

/// Service Quotas answers five single questions a second, but lists a hundred quotas at once.
async fn of_service(aws: &Aws, service: &str, codes: Vec<&str>) -> Result<Vec<(String, QuotaValue)>, CloudError> {
    let applied = applied(aws, service).await?;
    let asked = codes.into_iter().map(|code| {
        let applied = applied.get(code).copied();
        async move {
            let value = match applied {
                Some(value) => Some(QuotaValue { value, applied: true }),
                None => default(aws, service, code).await?.map(|value| QuotaValue { value, applied: false }),
            };
            Ok::<_, CloudError>(value.map(|value| (code.to_owned(), value)))
        }
    });
    Ok(try_join_all(asked).await?.into_iter().flatten().collect())
}

/// Every quota of a service that has an applied value, by code.
async fn applied(aws: &Aws, service: &str) -> Result<BTreeMap<String, f64>, CloudError> {
    let call = "service-quotas:ListServiceQuotas";
    let request = aws.quotas().list_service_quotas().service_code(service).max_results(100);
    let mut pages = request.into_paginator().items().send();
    let mut values = BTreeMap::new();
    loop {
        match pages.try_next().await.map_err(failed(call)) {
            Ok(Some(quota)) => values.extend(quota.quota_code.zip(quota.value)),
            Ok(None) => return Ok(values),
            // The service has none here.
            Err(error) if error.class == Class::NotFound => return Ok(values),
            Err(error) => return Err(error),
        }
    }
}

/// AWS's own value; `None`: Service Quotas knows no such quota here.
async fn default(aws: &Aws, service: &str, code: &str) -> Result<Option<f64>, CloudError> {
    let call = "service-quotas:GetAWSDefaultServiceQuota";
    let request = aws.quotas().get_aws_default_service_quota().service_code(service).quota_code(code);
    match request.send().await.map_err(failed(call)) {
        Ok(answer) => Ok(answer.quota.and_then(|quota| quota.value)),
        Err(error) if error.class == Class::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Counts, in the region, things whose quota holds for a region or for its zones together; those of one VPC or one cluster
/// are counted where that is looked at.
pub(super) async fn counts(aws: &Aws) -> Result<BTreeMap<String, u32>, CloudError> {
    let (vpcs, gateways, addresses, nats, endpoints, groups, placements, clusters, lustre) = futures::try_join!(
        vpcs(aws),
        internet_gateways(aws),
        addresses(aws),
        nat_gateways(aws),
        gateway_endpoints(aws),
        security_groups(aws),
        placement_groups(aws),
        clusters(aws),
        lustre(aws),
    )?;
    let counts = [
        ("vpc", vpcs),
        ("internetGateway", gateways),
        ("elasticIp", addresses),
        ("natGateway", nats),
        ("gatewayEndpoint", endpoints),
        ("securityGroup", groups),
        ("placementGroup", placements),
        ("cluster", clusters),
        ("fsxPersistent2", lustre.0),
        ("fsxPersistent2Gib", lustre.1),
    ];
    Ok(counts.into_iter().map(|(of, n)| (of.to_owned(), n)).collect())
}

/// Counts the items of a paged call.
macro_rules! paged {
    ($call:literal, $request:expr) => {{
        let mut pages = $request.into_paginator().items().send();
        let mut n = 0;
        while pages.try_next().await.map_err(failed($call))?.is_some() {
            n += 1;
        }
        Ok(n)
    }};
}

async fn vpcs(aws: &Aws) -> Result<u32, CloudError> {
    paged!("ec2:DescribeVpcs", aws.ec2().describe_vpcs())
}

async fn internet_gateways(aws: &Aws) -> Result<u32, CloudError> {
    paged!("ec2:DescribeInternetGateways", aws.ec2().describe_internet_gateways())
}

async fn security_groups(aws: &Aws) -> Result<u32, CloudError> {
    paged!("ec2:DescribeSecurityGroups", aws.ec2().describe_security_groups().max_results(1000))
}

async fn nat_gateways(aws: &Aws) -> Result<u32, CloudError> {
    // One that is being deleted counts until it is gone; one that failed does not.
    let states = ["pending", "available", "deleting"].map(str::to_owned).to_vec();
    let filter = Filter::builder().name("state").set_values(Some(states)).build();
    paged!("ec2:DescribeNatGateways", aws.ec2().describe_nat_gateways().filter(filter))
}

async fn gateway_endpoints(aws: &Aws) -> Result<u32, CloudError> {
    let filter = Filter::builder().name("vpc-endpoint-type").values("Gateway").build();
    paged!("ec2:DescribeVpcEndpoints", aws.ec2().describe_vpc_endpoints().filters(filter))
}

async fn clusters(aws: &Aws) -> Result<u32, CloudError> {
    paged!("eks:ListClusters", aws.eks().list_clusters())
}

async fn addresses(aws: &Aws) -> Result<u32, CloudError> {
    let call = "ec2:DescribeAddresses";
    let answer = aws.ec2().describe_addresses().send().await.map_err(failed(call))?;
    Ok(u32::try_from(answer.addresses().len()).unwrap_or(u32::MAX))
}

async fn placement_groups(aws: &Aws) -> Result<u32, CloudError> {
    let call = "ec2:DescribePlacementGroups";
    let answer = aws.ec2().describe_placement_groups().send().await.map_err(failed(call))?;
    Ok(u32::try_from(answer.placement_groups().len()).unwrap_or(u32::MAX))
}

/// File systems of the type that stacks have, and their GiB.
async fn lustre(aws: &Aws) -> Result<(u32, u32), CloudError> {
    let call = "fsx:DescribeFileSystems";
    let mut pages = aws.fsx().describe_file_systems().into_paginator().send();
    let (mut systems, mut gib) = (0, 0_u32);
    while let Some(page) = pages.try_next().await.map_err(failed(call))? {
        for system in page.file_systems.unwrap_or_default() {
            let lustre = system.lustre_configuration.as_ref().and_then(|lustre| lustre.deployment_type.as_ref());
            if lustre == Some(&LustreDeploymentType::Persistent2) {
                systems += 1;
                gib = gib.saturating_add(count(system.storage_capacity));
            }
        }
    }
    Ok((systems, gib))
}
