//! An internet gateway with its attachment, the VPC's door to public addresses. Must never be detached while something behind
//! it holds a public address.

use crate::{
    contract::{Demand, Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Link, Outputs, PhysicalId, Stamp, Tags},
};
use serde::{Deserialize, Serialize};

pub struct InternetGateway;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Desired {
    /// `None` only in what lives: CreateInternetGateway attaches nothing, AttachInternetGateway follows as the first update.
    pub vpc: Option<Link>,
}

/// DescribeInternetGateways.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Observed {
    pub internet_gateway_id: String,
    pub attachments: Vec<Attachment>,
    pub tags: Tags,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Attachment {
    pub vpc_id: String,
    /// `attaching`, `attached`, `detaching`, `detached`; EC2 says `available` where its model says `attached`.
    pub state: String,
}

impl Observed {
    fn attachment(&self) -> Option<&Attachment> {
        self.attachments.iter().find(|attachment| !["detaching", "detached"].contains(&attachment.state.as_str()))
    }
}

impl Kind for InternetGateway {
    const NAME: &'static str = "internet-gateway";
    const AWS_NAME: &'static str = "ec2:internet-gateway";
    const LAYER: Layer = Layer::Network;
    const OWNERSHIP: Ownership = Ownership::ByTag;
    // Attached, it keeps its VPC from being deleted.
    const FIELDS: &'static [Field] = &[Field::in_place("/vpc").holds()];
    const PATIENCE: Patience = Patience::INSTANT;
    /// DetachInternetGateway is refused (DependencyViolation) while a public address is mapped behind it.
    const DELETED_AFTER: &'static [&'static str] = &["nat-gateway", "load-balancer", "elastic-ip", "instance"];

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.internet_gateway_id.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        Outputs::from([("id".to_owned(), live.internet_gateway_id.clone())])
    }
    fn project(live: &Observed) -> Desired {
        Desired { vpc: live.attachment().map(|attachment| Link::is(&attachment.vpc_id)) }
    }
    /// Ready while unattached: the attachment is the update that follows creation.
    fn ready(live: &Observed) -> Readiness {
        match live.attachment() {
            Some(attachment) if attachment.state == "attaching" => {
                Readiness::Pending(format!("attaching to {}", attachment.vpc_id))
            }
            _ => Readiness::Ready,
        }
    }
    fn headline(want: &Desired) -> String {
        match &want.vpc {
            Some(vpc) => format!("attached to {}", vpc.target()),
            None => "attached to nothing".to_owned(),
        }
    }
    fn demand(_: &Desired) -> Vec<Demand> {
        vec![Demand::one("internetGateway")]
    }
    fn check(want: &Desired) -> Vec<String> {
        let unattached = || "an internet gateway without a VPC does nothing".to_owned();
        if want.vpc.is_none() { vec![unattached()] } else { vec![] }
    }
    fn samples() -> Vec<Desired> {
        vec![Desired { vpc: Some(Link::to(&Address::new("vpc", "main"), "id")) }]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, phase: Phase) -> Observed {
        let state = match phase {
            Phase::Coming | Phase::Changing => "attaching",
            Phase::There => "available",
            Phase::Going => "detaching",
        };
        let attachment = |vpc: &Link| Attachment { vpc_id: vpc.target().to_owned(), state: state.to_owned() };
        Observed {
            internet_gateway_id: id.to_owned(),
            attachments: want.vpc.iter().map(attachment).collect(),
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(_: &Desired, serial: &str) -> PhysicalId {
        format!("igw-0{serial}")
    }
}

#[cfg(feature = "aws")]
mod live {
    use super::{Attachment, Desired, InternetGateway, Observed};
    use crate::{
        aws::{
            Aws,
            answers::{deleted, field, found},
            ec2::{changes, in_vpc, listed, of_stack, retag, stamped, tags},
            failed,
        },
        contract::{CloudError, Live},
        model::{Link, PhysicalId, Scope, Stamp},
    };
    use aws_sdk_ec2::types::{self, Filter, ResourceType};
    use std::iter::once;

    const DESCRIBE: &str = "ec2:DescribeInternetGateways";

    fn attachment(attachment: types::InternetGatewayAttachment) -> Result<Attachment, CloudError> {
        Ok(Attachment {
            vpc_id: field(DESCRIBE, "vpcId", attachment.vpc_id)?,
            state: field(DESCRIBE, "state", attachment.state)?.as_str().to_owned(),
        })
    }

    fn observe(gateway: types::InternetGateway) -> Result<Observed, CloudError> {
        Ok(Observed {
            internet_gateway_id: field(DESCRIBE, "internetGatewayId", gateway.internet_gateway_id)?,
            attachments: gateway.attachments.into_iter().flatten().map(attachment).collect::<Result<_, _>>()?,
            tags: tags(gateway.tags),
        })
    }

    async fn look(aws: &Aws, filter: Filter) -> Result<Vec<Observed>, CloudError> {
        let pages = aws.ec2().describe_internet_gateways().filters(filter).into_paginator().items().send();
        let gateways = pages.collect::<Result<Vec<_>, _>>().await.map_err(failed(DESCRIBE))?;
        gateways.into_iter().map(observe).collect()
    }

    /// The VPC that a gateway is attached to now, whatever the state of the attachment.
    async fn attached_to(aws: &Aws, id: &str) -> Result<Option<String>, CloudError> {
        let live = InternetGateway::read(aws, id).await?;
        Ok(live.and_then(|live| Some(live.attachment()?.vpc_id.clone())))
    }

    async fn detach(aws: &Aws, id: &str, vpc: &str) -> Result<(), CloudError> {
        let request = aws.ec2().detach_internet_gateway().internet_gateway_id(id).vpc_id(vpc);
        deleted(request.send().await.map_err(failed("ec2:DetachInternetGateway")))
    }

    impl Live<Aws> for InternetGateway {
        async fn list(aws: &Aws, scope: &Scope) -> Result<Vec<Observed>, CloudError> {
            // One that is attached to nothing is found by its tag alone.
            let filters = once(of_stack(scope)).chain(in_vpc(scope, "attachment.vpc-id"));
            listed::<Self, _>(filters, |filter| look(aws, filter)).await
        }

        async fn read(aws: &Aws, id: &str) -> Result<Option<Observed>, CloudError> {
            let request = aws.ec2().describe_internet_gateways().internet_gateway_ids(id);
            let answer = found(request.send().await.map_err(failed(DESCRIBE)))?;
            answer.and_then(|answer| answer.internet_gateways?.pop()).map(observe).transpose()
        }

        async fn create(aws: &Aws, _: &Desired, stamp: &Stamp) -> Result<PhysicalId, CloudError> {
            let call = "ec2:CreateInternetGateway";
            let tags = stamped(ResourceType::InternetGateway, &stamp.tags);
            let request = aws.ec2().create_internet_gateway().tag_specifications(tags);
            let answer = request.send().await.map_err(failed(call))?;
            field(call, "internetGatewayId", answer.internet_gateway.and_then(|gateway| gateway.internet_gateway_id))
        }

        async fn update(
            aws: &Aws,
            id: &str,
            want: &Desired,
            changed: &[String],
            stamp: &Stamp,
        ) -> Result<(), CloudError> {
            if changes(changed, "/vpc") {
                let (have, want) = (attached_to(aws, id).await?, want.vpc.as_ref().map(Link::target));
                if let Some(vpc) = have.as_deref().filter(|vpc| Some(*vpc) != want) {
                    detach(aws, id, vpc).await?;
                }
                if let Some(vpc) = want.filter(|vpc| have.as_deref() != Some(*vpc)) {
                    let request = aws.ec2().attach_internet_gateway().internet_gateway_id(id).vpc_id(vpc);
                    request.send().await.map_err(failed("ec2:AttachInternetGateway"))?;
                }
            }
            retag(aws, id, changed, stamp).await
        }

        async fn delete(aws: &Aws, id: &str) -> Result<(), CloudError> {
            if let Some(vpc) = attached_to(aws, id).await? {
                detach(aws, id, &vpc).await?;
            }
            let request = aws.ec2().delete_internet_gateway().internet_gateway_id(id);
            deleted(request.send().await.map_err(failed("ec2:DeleteInternetGateway")))
        }
    }
}
