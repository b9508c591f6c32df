//! The idempotency token of a create call. Must never depend on the run, or a re-run's create would make a twin.

use crate::model::{Address, Doc, Identity, PhysicalId, hash};

/// 63 characters of `[a-z0-9-]`, the most that FSx and IAM-shaped fields take.
///
/// `want` holds no unresolved link. `gone` are the ids of objects that once stood at the address: after a delete the same
/// parameters are a new create, not AWS's repeat of the old one.
pub fn token(identity: &Identity, address: &Address, kind: &str, want: &Doc, gone: &[PhysicalId]) -> String {
    let mut gone: Vec<&str> = gone.iter().map(String::as_str).collect();
    gone.sort_unstable();
    gone.dedup();
    let Identity { account, region, stack } = identity;
    // One document, so that no separator can be forged by a name; its maps are sorted by serde_json.
    let what = serde_json::json!([account, region, stack, address.as_str(), kind, want, gone]);
    format!("is-{}", hash(&what.to_string(), 60))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(stack: &str, want: Doc, gone: &[&str]) -> String {
        let identity = Identity { account: "123456789012".into(), region: "us-west-2".into(), stack: stack.to_owned() };
        let gone: Vec<PhysicalId> = gone.iter().map(|id| (*id).to_owned()).collect();
        token(&identity, &Address::new("vpc", "main"), "vpc", &want, &gone)
    }

    #[test]
    fn fits_and_tells_apart() {
        let one = of("a", json!({"cidr": "10.0.0.0/16"}), &[]);
        assert_eq!(one.len(), 63);
        assert!(one.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{one}");
        assert_eq!(one, of("a", json!({"cidr": "10.0.0.0/16"}), &[]));
        assert_ne!(one, of("b", json!({"cidr": "10.0.0.0/16"}), &[]));
        assert_ne!(one, of("a", json!({"cidr": "10.1.0.0/16"}), &[]));
        assert_ne!(one, of("a", json!({"cidr": "10.0.0.0/16"}), &["vpc-1"]));
        assert_eq!(of("a", json!({}), &["x", "y"]), of("a", json!({}), &["y", "x", "y"]));
    }
}
