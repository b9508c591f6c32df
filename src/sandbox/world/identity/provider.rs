//! OpenID Connect providers: whose tokens the account takes. Must never be two for one URL.

use super::{exists, input, limit, no_entity, tagging};
use crate::{
    model::{Tags, iam_arn},
    sandbox::{
        wire::Fault,
        world::{Context, Moment, Output, World},
    },
};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Providers of an account (IAM user guide, quotas).
const MOST: usize = 100;
/// Audiences of a provider (IAM user guide, quotas).
const MOST_CLIENTS: usize = 100;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Provider {
    /// Without `https://`.
    pub host: String,
    pub clients: Vec<String>,
    pub thumbprints: Vec<String>,
    pub tags: Tags,
    pub created: Moment,
}

pub(super) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let url = context.required("Url")?;
    let tags = tagging::given(context)?;
    let host = url.strip_prefix("https://").filter(|host| !host.is_empty() && !host.contains(['?', '#']));
    let host = host.ok_or_else(|| input(format!("Invalid Open ID Connect Provider URL: {url}")))?.trim_end_matches('/');
    let arn = iam_arn(context.region, &world.account, &format!("oidc-provider/{host}"));
    if world.identity.providers.contains_key(&arn) {
        return Err(exists(format!("Provider with url {url} already exists.")));
    }
    if world.identity.providers.len() >= MOST {
        return Err(limit("OpenIdConnectProvidersPerAccount", MOST));
    }
    let clients = context.texts("ClientIDList");
    if clients.len() > MOST_CLIENTS {
        return Err(limit("ClientIdsPerOpenIdConnectProvider", MOST_CLIENTS));
    }
    let mut thumbprints = context.texts("ThumbprintList");
    if thumbprints.len() > 5 {
        return Err(input("Thumbprint list must contain fewer than 5 entries."));
    }
    if thumbprints.is_empty() {
        // IAM fetches that of the certificate's authority by itself.
        thumbprints.push(crate::model::hash(host, 40));
    }
    let provider = Provider { host: host.to_owned(), clients, thumbprints, tags, created: world.now };
    let view = json!({ "OpenIDConnectProviderArn": arn, "Tags": tagging::listed(&provider.tags) });
    world.identity.providers.insert(arn, provider);
    Ok(view.into())
}

pub(super) fn read(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let arn = context.required("OpenIDConnectProviderArn")?;
    let none = || no_entity(format!("OpenIDConnect Provider not found for arn {arn}"));
    let provider = world.identity.providers.get(arn).ok_or_else(none)?;
    Ok(json!({
        "Url": provider.host,
        "ClientIDList": provider.clients,
        "ThumbprintList": provider.thumbprints,
        "CreateDate": provider.created as f64 / 1000.0,
        "Tags": tagging::listed(&provider.tags),
    })
    .into())
}

pub(super) fn list(world: &mut World, _context: &Context) -> Result<Output, Fault> {
    let arns = world.identity.providers.keys().map(|arn| json!({ "Arn": arn }));
    Ok(json!({ "OpenIDConnectProviderList": arns.collect::<Vec<_>>() }).into())
}

/// Deleting what is not there is no error (IAM API reference).
pub(super) fn delete(world: &mut World, context: &Context) -> Result<Output, Fault> {
    world.identity.providers.remove(context.required("OpenIDConnectProviderArn")?);
    Ok(Output::default())
}
