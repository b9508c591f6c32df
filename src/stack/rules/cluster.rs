//! The cluster and its roles. Must never know today's date: support ends are live facts.

use super::Judge;
use crate::catalog::eks;
use crate::stack::suggest;
use crate::stack::value::join;
use ipnet::Ipv4Net;

impl Judge<'_> {
    pub(super) fn cluster(&mut self) {
        self.version();
        self.endpoint();
        let access = self.spec.cluster.access.iter().enumerate();
        let principals = access.map(|(i, entry)| (format!("/cluster/access/{i}/principal"), entry.principal.as_str()));
        self.unique("access-twice", "the principal", principals.collect::<Vec<_>>().into_iter());
        for name in self.spec.cluster.addons.keys().filter(|name| !self.catalog.addons().contains(name)) {
            let label = match self.catalog.nearest_addon(name) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "EKS decides; charts are no add-ons".to_owned(),
            };
            let path = join("/cluster/addons", name);
            self.warn("addon-unknown", &path, format!("the catalogue knows no add-on `{name}`"), label);
        }
        for (name, addon) in &self.spec.cluster.addons {
            if addon.configuration.as_ref().is_some_and(|configuration| !configuration.is_object()) {
                let path = format!("{}/configuration", join("/cluster/addons", name));
                let label = "expected a mapping, as `aws eks describe-addon-configuration` shows it";
                self.error("addon-configuration", &path, "EKS takes a mapping as configuration", label);
            }
        }
        self.roles();
    }

    fn version(&mut self) {
        const PATH: &str = "/cluster/version";
        let Some(version) = self.spec.cluster.version.as_ref().filter(|_| self.sound(&[PATH])) else { return };
        let charts = self.catalog.newest_for_charts();
        if eks::version(version) > eks::version(&charts.version) {
            let label = format!("the pinned charts admit up to {}", charts.version);
            self.warn(
                "version-charts",
                PATH,
                format!("{version} is newer than the charts know: {}", charts.why),
                label,
            );
        }
        let known = self.catalog.cluster_versions().value;
        let oldest = known.first().and_then(|oldest| eks::version(&oldest.version));
        if oldest.is_some_and(|oldest| eks::version(version).is_some_and(|asked| asked < oldest)) {
            let all = known.iter().map(|known| known.version.as_str()).collect::<Vec<_>>().join(", ");
            let message = format!("{version} is older than any version that the catalogue knows");
            self.warn("version-old", PATH, message, format!("known are {all}; EKS decides"));
        }
    }

    fn endpoint(&mut self) {
        const CIDRS: &str = "/cluster/endpoint/publicCidrs";
        let endpoint = &self.spec.cluster.endpoint;
        if !self.sound(&["/cluster/endpoint"]) {
            return;
        }
        if !endpoint.public && !endpoint.private {
            let label = "let one of `public` and `private` be true";
            self.error("endpoint-closed", "/cluster/endpoint", "nobody could reach the Kubernetes API", label);
        }
        if !endpoint.public && !endpoint.public_cidrs.is_empty() {
            let label = "leave it out, or set `public: true`";
            self.warn("cidrs-unread", CIDRS, "`publicCidrs` without a public endpoint is not read", label);
        }
        if endpoint.public && endpoint.public_cidrs.is_empty() {
            let label = "name blocks or `caller`, or set `public: false`";
            self.error("endpoint-closed", CIDRS, "a public endpoint for nobody", label);
        }
        self.cidrs(CIDRS, &endpoint.public_cidrs, "the Kubernetes API");
    }

    /// Blocks of a list: real ones, and with a warning where they let in the world.
    pub(super) fn cidrs(&mut self, path: &str, cidrs: &[String], of: &str) {
        for (index, text) in cidrs.iter().enumerate().filter(|(_, text)| *text != "caller") {
            let path = format!("{path}/{index}");
            match text.parse::<Ipv4Net>() {
                Ok(cidr) if cidr.prefix_len() == 0 => self.warn(
                    "open-to-the-world",
                    &path,
                    format!("`{text}` opens {of} to the whole internet"),
                    "name the networks that need it",
                ),
                Ok(cidr) if cidr.trunc() != cidr => {
                    let label = format!("the block that holds it is `{}`", cidr.trunc());
                    self.error(
                        "cidr-host-bits",
                        &path,
                        format!("`{text}` is an address inside a block, no block"),
                        label,
                    );
                }
                Ok(_) => {}
                Err(_) => {
                    let label = "four numbers up to 255 and a prefix length up to 32: `203.0.113.0/24`";
                    self.error("format", &path, format!("`{text}` is no IPv4 block"), label);
                }
            }
        }
    }

    fn roles(&mut self) {
        let Some(account) = &self.spec.account else { return };
        let iam = &self.spec.iam;
        let roles = [
            ("/iam/clusterRole", &iam.cluster_role),
            ("/iam/nodeRole", &iam.node_role),
            ("/iam/permissionsBoundary", &iam.permissions_boundary),
        ];
        for (path, arn) in roles.into_iter().filter_map(|(path, arn)| Some((path, arn.as_ref()?))) {
            let of = arn.split(':').nth(4).unwrap_or_default();
            if of != *account && of != "aws" {
                let message = format!("this ARN is of account {of}, and the file is for {account}");
                self.error("arn-account", path, message, "a role can only be used in its own account");
            }
        }
    }
}

/// The nearest of the file's own names.
pub(super) fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone, none: &str) -> String {
    match suggest::nearest(name, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => match known.map(|name| format!("`{name}`")).collect::<Vec<_>>() {
            all if all.is_empty() => none.to_owned(),
            all => format!("this file has {}", all.join(", ")),
        },
    }
}
