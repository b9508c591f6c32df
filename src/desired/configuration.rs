//! What the add-ons are told: our settings, and the file's laid over them. Must never hold a tag that changes from run to run:
//! every node would roll its network.

use crate::{
    model::{Doc, Tags, anchor_only},
    resources::addon::{MINIMUM_IP_TARGET, WARM_IP_TARGET},
};
use serde_json::{Map, json};

/// `configurationValues` of an add-on, `None` where neither we nor the file say anything.
pub fn of(addon: &str, region: &str, tags: &Tags, stated: Option<&Doc>) -> Option<Doc> {
    let lasting: Map<String, Doc> =
        tags.iter().filter(|(key, _)| !anchor_only(key)).map(|(key, value)| (key.clone(), json!(value))).collect();
    let ours = match addon {
        "vpc-cni" => Some(json!({ "env": {
            // Interfaces and volumes made by controllers carry the stack's tags like everything else.
            "ADDITIONAL_ENI_TAGS": Doc::Object(lasting).to_string(),
            "WARM_IP_TARGET": WARM_IP_TARGET.to_string(),
            "MINIMUM_IP_TARGET": MINIMUM_IP_TARGET.to_string(),
        }})),
        "aws-ebs-csi-driver" => Some(json!({
            "controller": {
                "extraVolumeTags": lasting,
                // Pods don't reach the instance metadata, which allows one hop.
                "region": region,
            },
            // gp3; EKS makes no class the default.
            "defaultStorageClass": { "enabled": true },
        })),
        _ => None,
    };
    match (ours, stated) {
        (Some(mut ours), Some(stated)) => {
            lay_over(&mut ours, stated);
            Some(ours)
        }
        (ours, stated) => ours.or_else(|| stated.cloned()),
    }
}

/// Maps are merged key by key; everything else is replaced.
fn lay_over(base: &mut Doc, over: &Doc) {
    match (base, over) {
        (Doc::Object(base), Doc::Object(over)) => {
            for (key, value) in over {
                lay_over(base.entry(key.clone()).or_insert(Doc::Null), value);
            }
        }
        (base, over) => *base = over.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags() -> Tags {
        [("team", "ml"), ("infer-stack/stack", "s"), ("infer-stack/run", "r1"), ("infer-stack/expires", "never")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into()
    }

    #[test]
    fn interfaces_and_volumes_carry_the_stacks_tags_but_not_those_that_change() {
        let cni = of("vpc-cni", "us-west-2", &tags(), None).unwrap();
        let text = cni["env"]["ADDITIONAL_ENI_TAGS"].as_str().unwrap();
        assert_eq!(text, r#"{"infer-stack/stack":"s","team":"ml"}"#);
        let ebs = of("aws-ebs-csi-driver", "us-west-2", &tags(), None).unwrap();
        assert_eq!(ebs["controller"]["extraVolumeTags"], json!({"infer-stack/stack": "s", "team": "ml"}));
    }

    #[test]
    fn the_file_has_the_last_word_and_the_rest_stays() {
        let stated = json!({"env": {"WARM_IP_TARGET": "7"}, "nodeAgent": {"enabled": false}});
        let cni = of("vpc-cni", "us-west-2", &tags(), Some(&stated)).unwrap();
        assert_eq!(cni["env"]["WARM_IP_TARGET"], "7");
        assert_eq!(cni["env"]["MINIMUM_IP_TARGET"], "10");
        assert_eq!(cni["nodeAgent"]["enabled"], false);
    }

    #[test]
    fn an_addon_that_nobody_configures_has_no_configuration() {
        assert_eq!(of("coredns", "us-west-2", &tags(), None), None);
        assert_eq!(
            of("coredns", "us-west-2", &tags(), Some(&json!({"replicaCount": 3}))),
            Some(json!({"replicaCount": 3}))
        );
    }
}
