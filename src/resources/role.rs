//! An IAM role with all that hangs on it: trust, attached and inline policies, boundary. Must never know who assumes it for what.

use crate::{
    contract::{Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Doc, Outputs, PhysicalId, Policy, Stamp, Statement, Tags, iam_arn, imagined_region},
    model::{IMAGINED_ACCOUNT, aws_policy},
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// IAM: characters of the inline policies of a role together, white space left out.
pub const INLINE_LIMIT: usize = 10_240;
/// IAM: characters of a trust policy, unless the account's quota is raised.
pub const TRUST_LIMIT: usize = 2_048;
/// IAM: managed policies on a role, unless the account's quota is raised.
pub const MANAGED_LIMIT: usize = 10;

pub struct Role;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Desired {
    pub name: String,
    /// With both slashes.
    pub path: String,
    pub description: String,
    pub trust: Policy,
    /// ARNs.
    pub managed: BTreeSet<String>,
    pub inline: BTreeMap<String, Policy>,
    /// ARN of the permissions boundary.
    pub boundary: Option<String>,
    /// Seconds.
    pub max_session: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Observed {
    pub name: String,
    pub path: String,
    pub arn: String,
    /// `AROA…`: another one when a role is made again under the same name, which breaks access entries silently.
    pub unique_id: String,
    pub description: Option<String>,
    /// Documents as IAM gives them, URL-decoded.
    pub trust: Doc,
    pub inline: BTreeMap<String, Doc>,
    pub managed: Vec<String>,
    pub boundary: Option<String>,
    pub max_session: u32,
    pub tags: Tags,
}

/// Trust of a service that assumes the role by itself: `eks.amazonaws.com`, `ec2.amazonaws.com`.
pub fn trust_service(service: &str) -> Policy {
    Policy::of([Statement::allow("").service(service).actions(&["sts:AssumeRole"])])
}

/// Trust of EKS Pod Identity, which tags the session with cluster, namespace and service account.
pub fn trust_pods() -> Policy {
    Policy::of([Statement::allow("").service("pods.eks.amazonaws.com").actions(&["sts:AssumeRole", "sts:TagSession"])])
}

impl Kind for Role {
    const NAME: &'static str = "role";
    const AWS_NAME: &'static str = "iam:role";
    const LAYER: Layer = Layer::Identity;
    // GetResources returns no roles: they are listed by their path, whose last parts are the stack's.
    const OWNERSHIP: Ownership = Ownership::ByName;
    const PATIENCE: Patience = Patience::INSTANT;
    // Controllers clean up with it until their association goes, and that waits for the nodes.
    const DELETED_AFTER: &'static [&'static str] = &["pod-identity"];
    const FIELDS: &'static [Field] = &[
        Field::immutable("/name"),
        // IAM has no call that moves a role.
        Field::immutable("/path"),
        Field::in_place("/description"),
        Field::in_place("/trust").set(),
        Field::in_place("/managed").set(),
        Field::in_place("/inline"),
        Field::in_place("/boundary"),
        Field::in_place("/maxSession"),
    ];

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.name.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        [("id", &live.name), ("name", &live.name), ("arn", &live.arn)].map(|(k, v)| (k.to_owned(), v.clone())).into()
    }
    fn project(live: &Observed) -> Desired {
        Desired {
            name: live.name.clone(),
            path: live.path.clone(),
            description: live.description.clone().unwrap_or_default(),
            trust: Policy::parse(&live.trust),
            managed: live.managed.iter().cloned().collect(),
            inline: live.inline.iter().map(|(name, policy)| (name.clone(), Policy::parse(policy))).collect(),
            boundary: live.boundary.clone(),
            max_session: live.max_session,
        }
    }
    fn ready(_live: &Observed) -> Readiness {
        // It is there; that a service may assume it is seen some seconds later, by whoever is refused (`NotYet`).
        Readiness::Ready
    }
    fn wished_name(want: &Desired) -> Option<String> {
        Some(want.name.clone())
    }
    fn live_name(live: &Observed) -> Option<String> {
        Some(live.name.clone())
    }
    fn headline(want: &Desired) -> String {
        if want.description.is_empty() { want.name.clone() } else { want.description.clone() }
    }
    fn check(want: &Desired) -> Vec<String> {
        let mut broken = vec![];
        let inline: usize = want.inline.values().map(Policy::size).sum();
        if inline > INLINE_LIMIT {
            broken.push(format!("inline policies take {inline} characters, IAM allows {INLINE_LIMIT}"));
        }
        if want.trust.size() > TRUST_LIMIT {
            broken.push(format!("the trust policy takes {} characters, IAM allows {TRUST_LIMIT}", want.trust.size()));
        }
        if want.managed.len() > MANAGED_LIMIT {
            broken.push(format!("{} managed policies, IAM allows {MANAGED_LIMIT}", want.managed.len()));
        }
        if want.name.is_empty() || want.name.len() > 64 {
            broken.push(format!("a role's name has 1–64 characters, `{}` has {}", want.name, want.name.len()));
        }
        if !(want.path.starts_with('/') && want.path.ends_with('/') && want.path.len() <= 512) {
            broken.push(format!(
                "an IAM path starts and ends with a slash and has at most 512 characters: `{}`",
                want.path
            ));
        }
        if !(3_600..=43_200).contains(&want.max_session) {
            broken.push(format!("a session lasts 3600–43200 s, not {}", want.max_session));
        }
        broken
    }
    fn samples() -> Vec<Desired> {
        let read = Statement::allow("Read").actions(&["s3:GetObject"]).on(["arn:aws:s3:::weights/llama/*"]).when(
            "StringEquals",
            "aws:RequestedRegion",
            ["us-west-2"],
        );
        vec![
            Desired {
                name: "llama-70b-us-west-2-weights".into(),
                path: "/platform/infer-stack/us-west-2/llama-70b/".into(),
                description: "reads the weights".into(),
                trust: trust_pods(),
                managed: [aws_policy("us-west-2", "AmazonSSMManagedInstanceCore")].into(),
                inline: [("weights".to_owned(), Policy::of([read]))].into(),
                boundary: Some("arn:aws:iam::123456789012:policy/boundary".into()),
                max_session: 3_600,
            },
            Desired {
                name: "llama-70b-us-west-2-cluster".into(),
                path: "/infer-stack/us-west-2/llama-70b/".into(),
                description: String::new(),
                trust: trust_service("eks.amazonaws.com"),
                managed: BTreeSet::new(),
                inline: BTreeMap::new(),
                boundary: None,
                max_session: 3_600,
            },
        ]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, _phase: Phase) -> Observed {
        Observed {
            name: id.to_owned(),
            path: want.path.clone(),
            arn: iam_arn(imagined_region(stamp), IMAGINED_ACCOUNT, &format!("role{}{id}", want.path)),
            unique_id: format!("AROA{}", stamp.token.to_ascii_uppercase().replace('-', "")),
            description: Some(want.description.clone()).filter(|text| !text.is_empty()),
            trust: want.trust.document(),
            inline: want.inline.iter().map(|(name, policy)| (name.clone(), policy.document())).collect(),
            managed: want.managed.iter().cloned().collect(),
            boundary: want.boundary.clone(),
            max_session: want.max_session,
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(want: &Desired, _serial: &str) -> PhysicalId {
        want.name.clone()
    }
}

#[cfg(feature = "aws")]
mod live {
    use super::{Desired, MANAGED_LIMIT, Observed, Role};
    use crate::{
        aws::{
            Aws,
            answers::{deleted, field, found},
            ec2::changes,
            failed,
            iam::{self, document, is_ours},
        },
        contract::{CloudError, Kind, Live, TAGS},
        model::{Doc, PhysicalId, Policy, Scope, Stamp},
    };
    use futures::future::try_join_all;
    use std::collections::BTreeMap;

    /// ARNs of the managed policies on a role; `None`: there is no such role.
    async fn managed(aws: &Aws, role: &str) -> Result<Option<Vec<String>>, CloudError> {
        let call = "iam:ListAttachedRolePolicies";
        let pages = aws.iam().list_attached_role_policies().role_name(role).into_paginator().items().send();
        let Some(all) = found(pages.collect::<Result<Vec<_>, _>>().await.map_err(failed(call)))? else {
            return Ok(None);
        };
        all.into_iter().map(|policy| field(call, "PolicyArn", policy.policy_arn)).collect::<Result<_, _>>().map(Some)
    }

    async fn inline_names(aws: &Aws, role: &str) -> Result<Option<Vec<String>>, CloudError> {
        let pages = aws.iam().list_role_policies().role_name(role).into_paginator().items().send();
        found(pages.collect::<Result<Vec<_>, _>>().await.map_err(failed("iam:ListRolePolicies")))
    }

    /// Inline policies by name, without what went while they were read.
    async fn inline(aws: &Aws, role: &str) -> Result<Option<BTreeMap<String, Doc>>, CloudError> {
        let Some(names) = inline_names(aws, role).await? else { return Ok(None) };
        let reads = names.into_iter().map(|name| async move {
            let call = "iam:GetRolePolicy";
            let request = aws.iam().get_role_policy().role_name(role).policy_name(&name);
            match found(request.send().await.map_err(failed(call)))? {
                Some(answer) => {
                    let policy = document(call, "PolicyDocument", Some(answer.policy_document))?;
                    Ok::<_, CloudError>(Some((name, policy)))
                }
                None => Ok(None),
            }
        });
        Ok(Some(try_join_all(reads).await?.into_iter().flatten().collect()))
    }

    async fn attach(aws: &Aws, role: &str, policies: &[&String]) -> Result<(), CloudError> {
        for arn in policies {
            let request = aws.iam().attach_role_policy().role_name(role).policy_arn(*arn);
            request.send().await.map_err(failed("iam:AttachRolePolicy"))?;
        }
        Ok(())
    }

    async fn detach(aws: &Aws, role: &str, policies: &[&String]) -> Result<(), CloudError> {
        for arn in policies {
            let request = aws.iam().detach_role_policy().role_name(role).policy_arn(*arn);
            deleted(request.send().await.map_err(failed("iam:DetachRolePolicy")))?;
        }
        Ok(())
    }

    async fn drop_inline(aws: &Aws, role: &str, name: &str) -> Result<(), CloudError> {
        let request = aws.iam().delete_role_policy().role_name(role).policy_name(name);
        deleted(request.send().await.map_err(failed("iam:DeleteRolePolicy")))
    }

    /// First what is missing, so that nothing loses a permission that it keeps; unless there is no room for it.
    async fn set_managed(aws: &Aws, role: &str, want: &Desired) -> Result<(), CloudError> {
        let live = managed(aws, role).await?.unwrap_or_default();
        let missing: Vec<_> = want.managed.iter().filter(|arn| !live.contains(arn)).collect();
        let surplus: Vec<_> = live.iter().filter(|arn| !want.managed.contains(*arn)).collect();
        if live.len() + missing.len() > MANAGED_LIMIT {
            detach(aws, role, &surplus).await?;
            return attach(aws, role, &missing).await;
        }
        attach(aws, role, &missing).await?;
        detach(aws, role, &surplus).await
    }

    /// First what is not wished, for IAM counts the characters of all.
    async fn set_inline(aws: &Aws, role: &str, want: &Desired) -> Result<(), CloudError> {
        let live = inline(aws, role).await?.unwrap_or_default();
        for name in live.keys().filter(|name| !want.inline.contains_key(*name)) {
            drop_inline(aws, role, name).await?;
        }
        let differs =
            |(name, policy): &(&String, &Policy)| live.get(*name).map(Policy::parse).as_ref() != Some(*policy);
        for (name, policy) in want.inline.iter().filter(differs) {
            let request = aws.iam().put_role_policy().role_name(role).policy_name(name);
            let request = request.policy_document(policy.document().to_string());
            request.send().await.map_err(failed("iam:PutRolePolicy"))?;
        }
        Ok(())
    }

    async fn set_boundary(aws: &Aws, role: &str, want: &Desired) -> Result<(), CloudError> {
        match &want.boundary {
            Some(arn) => {
                let request = aws.iam().put_role_permissions_boundary().role_name(role).permissions_boundary(arn);
                request.send().await.map_err(failed("iam:PutRolePermissionsBoundary")).map(drop)
            }
            None => {
                let request = aws.iam().delete_role_permissions_boundary().role_name(role);
                request.send().await.map_err(failed("iam:DeleteRolePermissionsBoundary")).map(drop)
            }
        }
    }

    fn seconds(want: &Desired) -> Option<i32> {
        i32::try_from(want.max_session).ok()
    }

    impl Live<Aws> for Role {
        async fn list(aws: &Aws, scope: &Scope) -> Result<Vec<Observed>, CloudError> {
            let pages = aws.iam().list_roles().max_items(iam::PAGE).into_paginator().items().send();
            let all = pages.collect::<Result<Vec<_>, _>>().await.map_err(failed("iam:ListRoles"))?;
            let ours = all.iter().filter(|role| is_ours(scope, Self::NAME, &role.path, &role.role_name));
            let reads = try_join_all(ours.map(|role| Self::read(aws, &role.role_name))).await?;
            Ok(reads.into_iter().flatten().collect())
        }

        async fn read(aws: &Aws, id: &str) -> Result<Option<Observed>, CloudError> {
            let call = "iam:GetRole";
            let whole = async { found(aws.iam().get_role().role_name(id).send().await.map_err(failed(call))) };
            let (role, managed, inline) = futures::try_join!(whole, managed(aws, id), inline(aws, id))?;
            let (Some(answer), Some(managed), Some(inline)) = (role, managed, inline) else { return Ok(None) };
            let role = field(call, "Role", answer.role)?;
            Ok(Some(Observed {
                name: role.role_name,
                path: role.path,
                arn: role.arn,
                unique_id: role.role_id,
                description: role.description.filter(|text| !text.is_empty()),
                trust: document(call, "AssumeRolePolicyDocument", role.assume_role_policy_document)?,
                inline,
                managed,
                boundary: role.permissions_boundary.and_then(|boundary| boundary.permissions_boundary_arn),
                max_session: role.max_session_duration.and_then(|n| u32::try_from(n).ok()).unwrap_or(3_600),
                tags: iam::tags(role.tags),
            }))
        }

        /// Policies hang on a role by calls of their own: they come with the next look.
        async fn create(aws: &Aws, want: &Desired, stamp: &Stamp) -> Result<PhysicalId, CloudError> {
            let request = aws
                .iam()
                .create_role()
                .role_name(&want.name)
                .path(&want.path)
                .set_description(Some(want.description.clone()).filter(|text| !text.is_empty()))
                .assume_role_policy_document(want.trust.document().to_string())
                .set_max_session_duration(seconds(want))
                .set_permissions_boundary(want.boundary.clone())
                .set_tags(Some(iam::tag_list(&stamp.tags)));
            request.send().await.map_err(failed("iam:CreateRole"))?;
            Ok(want.name.clone())
        }

        async fn update(
            aws: &Aws,
            id: &str,
            want: &Desired,
            changed: &[String],
            stamp: &Stamp,
        ) -> Result<(), CloudError> {
            if changes(changed, "/trust") {
                let request = aws.iam().update_assume_role_policy().role_name(id);
                let request = request.policy_document(want.trust.document().to_string());
                request.send().await.map_err(failed("iam:UpdateAssumeRolePolicy"))?;
            }
            // Both in one call: what is left out of it goes back to IAM's default.
            if changes(changed, "/description") || changes(changed, "/maxSession") {
                let request = aws.iam().update_role().role_name(id).description(&want.description);
                let request = request.set_max_session_duration(seconds(want));
                request.send().await.map_err(failed("iam:UpdateRole"))?;
            }
            if changes(changed, "/boundary") {
                set_boundary(aws, id, want).await?;
            }
            if changes(changed, "/managed") {
                set_managed(aws, id, want).await?;
            }
            if changes(changed, "/inline") {
                set_inline(aws, id, want).await?;
            }
            if changes(changed, TAGS) {
                let request = aws.iam().tag_role().role_name(id).set_tags(Some(iam::tag_list(&stamp.tags)));
                request.send().await.map_err(failed("iam:TagRole"))?;
            }
            Ok(())
        }

        /// What hangs on a role goes first. A profile that holds it is somebody's, and keeps it.
        async fn delete(aws: &Aws, id: &str) -> Result<(), CloudError> {
            let (managed, inline) = futures::try_join!(managed(aws, id), inline_names(aws, id))?;
            detach(aws, id, &managed.iter().flatten().collect::<Vec<_>>()).await?;
            for name in inline.iter().flatten() {
                drop_inline(aws, id, name).await?;
            }
            deleted(aws.iam().delete_role().role_name(id).send().await.map_err(failed("iam:DeleteRole")))
        }
    }
}
