//! Tags and cost allocation. Must never look at what carries them.

use super::Judge;
use crate::model::reserved;
use crate::stack::diagnostic::Diagnostic;
use crate::stack::suggest;
use crate::stack::value::join;

/// AWS allows 50 on a resource; ours and EKS's take their share.
const MOST: usize = 40;

impl Judge<'_> {
    pub(super) fn tags(&mut self) {
        let keys = self.spec.tags.keys().collect::<Vec<_>>();
        if keys.len() > MOST {
            self.error(
                "tags-too-many",
                "/tags",
                format!("{} tags are too many", keys.len()),
                format!("at most {MOST}: AWS allows 50, and the stack's and EKS's own are among them"),
            );
        }
        for (index, key) in keys.iter().enumerate() {
            let path = join("/tags", key);
            let taken = ["kubernetes.io/cluster/", "k8s.io/", "karpenter.sh/", "karpenter.k8s.aws/"];
            if reserved(key) || taken.iter().any(|prefix| key.starts_with(prefix)) {
                let prefix = key.split_inclusive(['/', ':']).next().unwrap_or(key);
                self.error(
                    "tag-reserved",
                    &path,
                    format!("the tag `{key}` is not yours to set"),
                    format!("keys that begin with `{prefix}` belong to AWS, Kubernetes or this program: rename it"),
                );
            }
            if let Some(first) = keys[..index].iter().find(|first| first.to_lowercase() == key.to_lowercase()) {
                let first = (self.at(&join("/tags", first)), format!("`{first}` is here"));
                let (later, earlier) = {
                    let here = self.at(&path);
                    if here.start < first.0.start {
                        (first.0, (here, format!("`{key}` is here")))
                    } else {
                        (here, first)
                    }
                };
                let diagnostic = Diagnostic::error(
                    "tag-case",
                    later,
                    format!("the tag `{key}` is there twice but for capitals"),
                    "IAM takes tag keys without regard to case: keep one",
                );
                self.found.push(diagnostic.related(earlier.0, earlier.1));
            }
        }
        self.activate();
    }

    fn activate(&mut self) {
        if !self.sound(&["/tags", "/costAllocation"]) {
            return;
        }
        let activate = &self.spec.cost_allocation.activate;
        for (index, key) in activate.iter().enumerate().filter(|(_, key)| !self.spec.tags.contains_key(*key)) {
            let label = match suggest::nearest(key, self.spec.tags.keys().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("add `{key}: …` under `tags`, or leave it out here"),
            };
            let path = format!("/costAllocation/activate/{index}");
            self.error("activate-unknown", &path, format!("`{key}` is no tag of this file"), label);
        }
        let names = activate.iter().enumerate().map(|(i, key)| (format!("/costAllocation/activate/{i}"), key.as_str()));
        self.unique("activate-twice", "the tag", names);
        if activate.is_empty() && self.spec.cost_allocation.backfill_months > 0 {
            self.warn(
                "backfill-nothing",
                "/costAllocation/backfillMonths",
                "nothing is activated that could be filled back",
                "name tags under `activate`",
            );
        }
    }
}
