//! Counting, pacing, retrying, and what is left when no answer comes.

use super::{Toy, arrivals, aws, base, ec2_error, json_error, reply};
use futures::future::join_all;
use infer_stack::{
    aws::{Purpose, failed},
    cloud::{Calls, Cloud, Fact},
    contract::{Class, Residue},
    sandbox::{Arrival, Reply},
};

const NO_ZONES: &str = "<DescribeAvailabilityZonesResponse><availabilityZoneInfo/></DescribeAvailabilityZonesResponse>";

#[tokio::test(start_paused = true)]
async fn attempts_are_counted_by_what_they_are_for() {
    let toy = Toy::new(|n, _| match n {
        0 => ec2_error(503, "RequestLimitExceeded", "Request limit exceeded."),
        1 => ec2_error(500, "InternalError", "An internal error has occurred"),
        _ => reply(200, NO_ZONES),
    });
    let (aws, _) = aws(&toy);
    aws.ask(&Fact::Zones).await.unwrap();
    assert_eq!(aws.calls(), Calls { facts: 3, retries: 2, throttles: 1, ..Calls::default() });
    Purpose::Change.of(aws.ec2().describe_availability_zones().send()).await.unwrap();
    aws.ec2().describe_availability_zones().send().await.unwrap();
    assert_eq!(aws.calls(), Calls { facts: 3, changes: 1, state: 1, retries: 2, throttles: 1, ..Calls::default() });
}

#[tokio::test(start_paused = true)]
async fn a_throttle_is_seen_in_every_protocol() {
    let toy = Toy::new(|n, heard| match (n, heard.host.split('.').next()) {
        (0, _) => json_error("ThrottlingException"),
        (1, _) => super::with_header(
            json_error("TooManyRequestsException"),
            "x-amzn-errortype",
            "TooManyRequestsException:http",
        ),
        _ => reply(200, "{}"),
    });
    let (aws, _) = aws(&toy);
    aws.ssm().get_parameters().names("x").send().await.unwrap();
    assert_eq!(aws.calls().throttles, 2);
}

#[tokio::test(start_paused = true)]
async fn no_more_than_sixteen_requests_are_on_their_way() {
    let toy = Toy::new(|_, _| Reply { delay: 100, ..reply(200, "") });
    let (aws, _) = aws(&toy);
    let looks = join_all((0..40).map(|n| aws.s3().head_bucket().bucket(format!("bucket-{n}")).send())).await;
    assert!(looks.iter().all(Result::is_ok));
    let mut at = arrivals(&toy);
    at.sort_unstable();
    let expected: Vec<i64> = [vec![0; 16], vec![100; 16], vec![200; 8]].concat();
    assert_eq!(at, expected);
}

#[tokio::test(start_paused = true)]
async fn an_action_is_held_to_its_pace_and_holds_no_other_up() {
    let toy = Toy::new(|_, heard| match heard.action() {
        "CreateVpcEndpoint" => reply(200, "<CreateVpcEndpointResponse/>"),
        _ => reply(200, NO_ZONES),
    });
    let (aws, _) = aws(&toy);
    let endpoints = join_all((0..6).map(|_| aws.ec2().create_vpc_endpoint().vpc_id("vpc-1").service_name("s").send()));
    let zones = join_all((0..20).map(|_| aws.ec2().describe_availability_zones().send()));
    let (endpoints, zones) = futures::join!(endpoints, zones);
    assert!(endpoints.iter().all(Result::is_ok) && zones.iter().all(Result::is_ok));
    let at = |action: &str| {
        let heard = toy.heard();
        let mine = heard.iter().filter(|heard| heard.action() == action);
        mine.map(|heard| (heard.at - base().as_millisecond()) / 100).collect::<Vec<_>>()
    };
    // A burst of four, and then one each three and a third seconds.
    assert_eq!(at("CreateVpcEndpoint"), [0, 0, 0, 0, 33, 66]);
    assert!(at("DescribeAvailabilityZones").iter().all(|at| *at == 0));
}

#[tokio::test(start_paused = true)]
async fn a_storm_of_failing_reads_leaves_changes_their_retries() {
    let toy = Toy::new(|n, heard| match heard.action() {
        "DescribeAvailabilityZones" => ec2_error(500, "InternalError", "An internal error has occurred"),
        _ if n % 2 == 0 => ec2_error(500, "InternalError", "An internal error has occurred"),
        _ => reply(200, "<CreateVpcResponse/>"),
    });
    let (aws, _) = aws(&toy);
    let (mut stormed, mut last) = (0, 0);
    while last != 1 {
        let before = toy.heard().len();
        aws.ec2().describe_availability_zones().send().await.unwrap_err();
        last = toy.heard().len() - before;
        stormed += 1;
        assert!(stormed < 1000, "the reads' retries are never used up");
    }
    if toy.heard().len() % 2 == 1 {
        aws.ec2().describe_availability_zones().send().await.unwrap_err();
    }
    let before = toy.heard().len();
    aws.ec2().create_vpc().send().await.unwrap();
    assert_eq!(toy.heard().len() - before, 2);
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_asked_for_again_with_the_same_token() {
    let toy = Toy::new(|n, _| Reply {
        arrival: if n == 0 { Arrival::Lost } else { Arrival::Whole },
        ..reply(200, "<CreateNatGatewayResponse/>")
    });
    let (aws, _) = aws(&toy);
    aws.ec2().create_nat_gateway().subnet_id("subnet-1").client_token("mine").send().await.unwrap();
    let heard = toy.heard();
    assert_eq!(heard.len(), 2);
    assert_eq!(heard[0].body, heard[1].body);
    assert!(heard[0].body.contains("ClientToken=mine"), "{}", heard[0].body);
}

#[tokio::test(start_paused = true)]
async fn answers_that_never_arrive_may_have_left_something() {
    let toy = Toy::new(|_, _| Reply { arrival: Arrival::Lost, ..reply(200, "") });
    let (aws, _) = aws(&toy);
    let error = aws.ec2().create_vpc().send().await.map_err(failed("ec2:CreateVpc")).unwrap_err();
    assert_eq!((error.class, error.residue), (Class::Outage, Residue::MayExist), "{error}");
    assert!(error.message.contains("the connection was closed"), "{error}");
    assert_eq!(toy.heard().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn silence_is_told_and_ends_in_a_timeout() {
    let toy = Toy::new(|_, _| Reply { arrival: Arrival::Never, ..reply(200, "") });
    let (aws, client) = aws(&toy);
    let call = aws.ec2().create_vpc().send();
    let (error, ()) = futures::join!(call, client.silence());
    let error = error.map_err(failed("ec2:CreateVpc")).unwrap_err();
    assert_eq!((error.class, error.residue), (Class::Outage, Residue::MayExist), "{error}");
    let at = arrivals(&toy);
    assert!(at.len() > 1 && at[1] >= 60_000, "{at:?}");
}

#[tokio::test(start_paused = true)]
async fn refusals_keep_code_message_and_request() {
    let toy = Toy::new(|_, _| ec2_error(400, "BrandNewTrouble", "nobody knows"));
    let (aws, _) = aws(&toy);
    let error = aws.ec2().create_vpc().send().await.map_err(failed("ec2:CreateVpc")).unwrap_err();
    assert_eq!(error.class, Class::Unknown);
    assert_eq!(error.to_string(), "ec2:CreateVpc: BrandNewTrouble: nobody knows (request r-1)");
    assert_eq!(error.residue, Residue::Nothing);
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_without_the_call_is_told_from_a_thing_that_is_gone() {
    let toy = Toy::new(|_, _| reply(404, "<!doctype html><title>404 Not Found</title>"));
    let (aws, _) = aws(&toy);
    let call = "eks:DescribeAddon";
    let request = aws.eks().describe_addon().cluster_name("c").addon_name("vpc-cni");
    let error = request.send().await.map_err(failed(call)).unwrap_err();
    assert_eq!(error.class, Class::Unsupported);
    let expected = "https://eks.us-west-2.amazonaws.com answered HTTP 404 without an AWS error code: \
                    it does not seem to offer eks:DescribeAddon";
    assert_eq!(error.message, expected);
}

#[tokio::test(start_paused = true)]
async fn expired_credentials_are_told() {
    let toy = Toy::new(|_, _| ec2_error(400, "RequestExpired", "Request has expired."));
    let (aws, _) = aws(&toy);
    assert_eq!(aws.ask(&Fact::Zones).await.unwrap_err().class, Class::Expired);
    assert_eq!(aws.credentials_expire().await.unwrap(), None, "the sandbox's do not end");
}

#[test]
fn the_same_run_takes_the_same_time() {
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let toy = Toy::new(|n, _| match n {
                0..3 => ec2_error(500, "InternalError", "An internal error has occurred"),
                _ => reply(200, NO_ZONES),
            });
            let (aws, _) = aws(&toy);
            aws.ask(&Fact::Zones).await.unwrap();
            arrivals(&toy)
        })
    };
    let first = run();
    assert_eq!(first.len(), 4);
    assert_eq!(run(), first);
}
