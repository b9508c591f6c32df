//! Live answers over compiled ones: each says where it is from, and a failed look stays one.

use infer_stack::{
    catalog::{AmiOs, Catalog, Facts, Source, VcpuQuota, eks, fsx, hours_of},
    cloud::{Answer, ClusterVersion, Fact, Offering, QuotaValue},
    contract::{Class, CloudError, Purchase},
};
use std::collections::BTreeMap;

fn denied() -> CloudError {
    CloudError::new("ec2:DescribeInstanceTypeOfferings", Class::Denied, "UnauthorizedOperation", "no")
}

fn p5_offerings() -> Fact {
    Fact::Offerings { instance_types: vec!["p5.48xlarge".into(), "g6.xlarge".into()] }
}

#[test]
fn live_offerings_win_and_an_empty_answer_is_one() {
    let mut facts = Facts::default();
    let there = Offering { instance_type: "p5.48xlarge".into(), zone: "use1-az9".into() };
    facts.learn(&p5_offerings(), Ok(Answer::Offerings(vec![there])));
    let catalog = Catalog::with(facts);
    let zones = |name| catalog.offered_zones(name, "us-east-1");
    assert_eq!(
        (zones("p5.48xlarge").value, zones("p5.48xlarge").source),
        (Some(vec!["use1-az9".into()]), Source::Live)
    );
    assert_eq!((zones("g6.xlarge").value, zones("g6.xlarge").source), (Some(vec![]), Source::Live));
    assert_eq!(zones("g5.xlarge").source, Source::Compiled);
}

#[test]
fn a_failed_look_falls_back_and_says_so() {
    let mut facts = Facts::default();
    facts.learn(&p5_offerings(), Err(denied()));
    facts.learn(&Fact::Zones, Ok(Answer::CallerAddress("192.0.2.1".into())));
    let catalog = Catalog::with(facts);
    let p5 = catalog.offered_zones("p5.48xlarge", "us-west-2");
    assert!(p5.value.is_some_and(|zones| zones.contains(&"usw2-az2".into())));
    assert_eq!(p5.source, Source::CompiledAfter(denied()));
    // An answer to another question is no look at all.
    let zones = catalog.zones("us-east-1");
    assert!(matches!(zones.source, Source::CompiledAfter(_)));
    assert_eq!(zones.value.unwrap().len(), 6);
}

#[test]
fn compiled_offerings_know_what_they_do_not_know() {
    let catalog = Catalog::compiled();
    let zones = |name, region| catalog.offered_zones(name, region).value;
    assert_eq!(zones("p6-b300.48xlarge", "us-west-2"), Some(vec!["usw2-az2".into()]));
    assert_eq!(zones("p6-b300.48xlarge", "us-east-1"), Some(vec![]));
    // Offered in Frankfurt, zone unknown; general types and unknown regions: nothing is known.
    assert_eq!(zones("g5.xlarge", "eu-central-1"), None);
    assert_eq!(zones("m6i.large", "us-east-1"), None);
    assert_eq!(zones("p5.48xlarge", "mars-north-1"), None);
}

#[test]
fn vcpu_quotas_follow_purchase_and_family() {
    let catalog = Catalog::compiled();
    let code = |name, purchase| match catalog.vcpu_quota(name, purchase) {
        VcpuQuota::Of(quota) => quota.code.as_deref().unwrap(),
        VcpuQuota::NotNeeded => "not needed",
        VcpuQuota::Unknown => "unknown",
    };
    assert_eq!(code("p5.48xlarge", Purchase::OnDemand), "L-417A185B");
    assert_eq!(code("p5.48xlarge", Purchase::Spot), "L-C4BD4855");
    assert_eq!(code("p4d.24xlarge", Purchase::Spot), "L-7212CCBC");
    assert_eq!(code("p6-b200.48xlarge", Purchase::Spot), "unknown");
    assert_eq!(code("p5.48xlarge", Purchase::CapacityBlock), "not needed");
    assert_eq!(code("p5.48xlarge", Purchase::Reservation), "not needed");
    // Types that the catalogue lacks, by prefix: the longest counts.
    assert_eq!(code("inf3.xlarge", Purchase::OnDemand), "L-1945791B");
    assert_eq!(code("i7ie.large", Purchase::OnDemand), "L-1216C47A");
    assert_eq!(code("trn3.48xlarge", Purchase::Spot), "L-6B0D517C");
    assert_eq!(code("gr9.xlarge", Purchase::OnDemand), "L-DB2E81BA");
    assert_eq!(code("?", Purchase::OnDemand), "unknown");
}

#[test]
fn a_limit_is_the_accounts_or_a_new_accounts() {
    let quota = |c: &Catalog| *c.quota("L-417A185B").map(|q| c.limit(q)).as_ref().map(|k| &k.value).unwrap();
    assert_eq!(quota(&Catalog::compiled()), Some(0.0));
    let mut facts = Facts::default();
    let codes = vec![("L-417A185B".into(), "ec2".into()), ("L-DB2E81BA".into(), "ec2".into())];
    let granted = BTreeMap::from([("L-417A185B".to_owned(), QuotaValue { value: 768.0, applied: true })]);
    facts.learn(&Fact::Quotas { codes }, Ok(Answer::Quotas(granted)));
    let catalog = Catalog::with(facts);
    assert_eq!(quota(&catalog), Some(768.0));
    // Asked for and not answered is a failed look.
    let g = catalog.limit(catalog.quota("L-DB2E81BA").unwrap());
    assert!(matches!(g.source, Source::CompiledAfter(ref e) if e.class == Class::NotFound));
    assert_eq!(catalog.count_quota("elasticIp").unwrap().service, "ec2");
    assert_eq!(catalog.count_quota("vpc").unwrap().default, Some(5.0));
    assert_eq!(catalog.count_quota("placementGroup").unwrap().code, None);
}

#[test]
fn prices_say_how_well_they_are_known() {
    let catalog = Catalog::compiled();
    let hourly = |name, region| catalog.instance_price(name, Purchase::OnDemand, region);
    let p5 = hourly("p5.48xlarge", "us-east-1").unwrap();
    assert_eq!((p5.usd, p5.confirmed, p5.stands_in), (55.04, true, false));
    let elsewhere = hourly("p5.48xlarge", "eu-north-1").unwrap();
    assert_eq!((elsewhere.usd, elsewhere.confirmed, elsewhere.region.as_str()), (55.04, false, "us-east-1"));
    assert_eq!(hourly("p6-b300.48xlarge", "us-west-2").unwrap().region, "us-west-2");
    assert_eq!(hourly("p5e.48xlarge", "us-east-1"), None);
    assert_eq!(catalog.instance_price("p5.48xlarge", Purchase::Spot, "us-east-1"), None);
    assert_eq!(catalog.instance_price("p5.48xlarge", Purchase::CapacityBlock, "us-east-1"), None);
    assert_eq!(catalog.price("eksClusterExtendedHours", "us-east-1").unwrap().usd, 0.6);
    assert!(!catalog.price("fsxGibMonths:500", "us-east-1").unwrap().confirmed);
    assert_eq!(catalog.price("unheardOf", "us-east-1"), None);
    assert_eq!(hours_of("natGatewayHours"), Some(1.0));
    assert_eq!(hours_of("fsxGibMonths:125"), Some(1.0 / 730.0));
    assert_eq!(hours_of("natGatewayGb"), None);
}

#[test]
fn suggestions_are_near_or_none() {
    let catalog = Catalog::compiled();
    assert_eq!(catalog.nearest("p5.48xlage"), Some("p5.48xlarge"));
    assert_eq!(catalog.nearest("zebra"), None);
    assert_eq!(catalog.nearest_model("meta-llama/Llama-3.1-70B"), Some("meta-llama/Llama-3.1-70B-Instruct"));
    assert_eq!(catalog.smallest_with_efa_in_family("g5").unwrap().name, "g5.8xlarge");
    assert_eq!(catalog.smallest_with_efa_in_family("p5").unwrap().name, "p5.4xlarge");
    assert_eq!(catalog.smallest_with_efa_in_family("inf2"), None);
}

#[test]
fn ami_types_follow_type_and_system() {
    let catalog = Catalog::compiled();
    let ami = |name, os| catalog.instance_type(name).unwrap().ami_type(os);
    assert_eq!(ami("p5.48xlarge", AmiOs::Al2023), Some("AL2023_x86_64_NVIDIA"));
    assert_eq!(ami("g5g.xlarge", AmiOs::Bottlerocket), Some("BOTTLEROCKET_ARM_64_NVIDIA"));
    assert_eq!(ami("trn1.32xlarge", AmiOs::Al2023), Some("AL2023_x86_64_NEURON"));
    assert_eq!(ami("trn1.32xlarge", AmiOs::Bottlerocket), None);
    assert_eq!(ami("m6g.large", AmiOs::Al2023), Some("AL2023_ARM_64_STANDARD"));
    assert_eq!(ami("dl1.24xlarge", AmiOs::Al2023), None);
}

#[test]
fn versions_are_in_order_and_releases_are_recognised() {
    let mut facts = Facts::default();
    let version = |v: &str| ClusterVersion { version: v.into(), end_of_standard_support: None };
    facts.learn(&Fact::ClusterVersions, Ok(Answer::ClusterVersions(vec![version("1.100"), version("1.36")])));
    let live = Catalog::with(facts).cluster_versions();
    assert_eq!(live.value.iter().map(|v| v.version.as_str()).collect::<Vec<_>>(), ["1.36", "1.100"]);
    let compiled = Catalog::compiled();
    assert_eq!(compiled.newest_for_charts().version, "1.35");
    assert!(compiled.cluster_versions().value.iter().any(|v| v.version == "1.35"));
    assert!(eks::is_ami_release("1.35.2-20261120", AmiOs::Al2023));
    assert!(eks::is_ami_release("1.50.0-0a1b2c3d", AmiOs::Bottlerocket));
    assert!(eks::is_release_of("1.35.2-20261120", "1.35") && !eks::is_release_of("1.35.2-20261120", "1.3"));
    for bad in ["1.35-20261120", "1.35.2-2026112x", "1.35.2", "1.35.2-0a1b2c3d"] {
        assert!(!eks::is_ami_release(bad, AmiOs::Al2023), "{bad}");
    }
}

#[test]
fn file_system_sizes_name_what_is_near() {
    assert_eq!(fsx::check(4800, 250, false), Ok(()));
    assert_eq!(fsx::check(1200, 125, false), Ok(()));
    assert_eq!(fsx::check(19_200, 250, true), Ok(()));
    let text = |capacity, throughput, efa| fsx::check(capacity, throughput, efa).unwrap_err().to_string();
    assert_eq!(
        text(4000, 250, false),
        "capacity 4000 GiB: FSx takes 1200, 2400 and then steps of 2400 GiB; near it are 2400 and 4800"
    );
    assert_eq!(
        text(100, 250, false),
        "capacity 100 GiB: FSx takes 1200, 2400 and then steps of 2400 GiB; near it are 1200"
    );
    assert_eq!(
        text(4800, 250, true),
        "capacity 4800 GiB: with EFA and 250 MB/s per TiB FSx takes steps of 19200 GiB; near it are 19200"
    );
    assert_eq!(text(4800, 300, false), "throughput 300 MB/s per TiB: FSx takes 125, 250, 500 or 1000");
    assert!(fsx::check(0, 125, false).is_err() && fsx::check(1200, 1000, true).is_err());
    assert!(fsx::is_metadata_iops(24_000) && !fsx::is_metadata_iops(9_000) && !fsx::is_metadata_iops(204_000));
}

#[test]
fn every_billed_and_timed_name_of_the_design_is_known() {
    let catalog = Catalog::compiled();
    for unit in [
        "eksClusterHours",
        "natGatewayHours",
        "publicIpv4Hours",
        "gp3GibMonths",
        "interfaceEndpointHours",
        "s3GibMonths",
    ] {
        assert!(catalog.price(unit, "us-west-2").is_some_and(|p| p.usd > 0.0), "{unit}");
    }
    for throughput in fsx::THROUGHPUTS {
        assert!(catalog.price(&format!("fsxGibMonths:{throughput}"), "us-west-2").is_some());
    }
    let cluster = catalog.timing("cluster").unwrap();
    assert_eq!((cluster.expected_create(), cluster.create), (Some(592), Some((501, 683))));
    assert_eq!(catalog.timing("data-repository").unwrap().expected_delete(), None);
}
