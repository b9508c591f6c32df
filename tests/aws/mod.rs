//! The adapter over a wire that recites: what reaches AWS, how often, how fast, and what comes of its answers.

mod codes;
mod connector;
mod facts;
mod serve;
mod store;

use bytes::Bytes;
use http::{Request, Response};
use infer_stack::{
    aws::{Aws, WireClient},
    clock::Clock,
    sandbox::{Arrival, Reply, Wire},
};
use jiff::Timestamp;
use std::sync::{Arc, Mutex};

/// A request as it was heard, in short: `POST ec2.us-west-2.amazonaws.com/ Action=DescribeVpcs…`
#[derive(Clone, Debug)]
pub struct Heard {
    pub at: i64,
    pub method: String,
    pub host: String,
    pub path: String,
    pub headers: http::HeaderMap,
    pub body: String,
}

impl Heard {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The action of a query request, or the operation of a JSON one.
    fn action(&self) -> &str {
        match self.header("x-amz-target") {
            Some(target) => target.rsplit('.').next().unwrap(),
            None => self.body.strip_prefix("Action=").unwrap_or("").split('&').next().unwrap(),
        }
    }
}

type Recite = Box<dyn Fn(usize, &Heard) -> Reply + Send + Sync>;

/// Answers by a function of the request and of how many came before.
pub struct Toy {
    recite: Recite,
    heard: Mutex<Vec<Heard>>,
}

impl Toy {
    fn new(recite: impl Fn(usize, &Heard) -> Reply + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { recite: Box::new(recite), heard: Mutex::default() })
    }

    fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }
}

impl Wire for Toy {
    fn answer(&self, request: &Request<Bytes>, now: i64) -> Reply {
        let heard = Heard {
            at: now,
            method: request.method().to_string(),
            host: request.uri().host().unwrap_or("").to_owned(),
            path: request.uri().path_and_query().map(ToString::to_string).unwrap_or_default(),
            headers: request.headers().clone(),
            body: String::from_utf8_lossy(request.body()).into_owned(),
        };
        let mut all = self.heard.lock().unwrap();
        all.push(heard.clone());
        (self.recite)(all.len() - 1, &heard)
    }
}

fn reply(status: u16, body: impl Into<Bytes>) -> Reply {
    Reply {
        response: Response::builder().status(status).body(body.into()).unwrap(),
        arrival: Arrival::Whole,
        delay: 20,
    }
}

fn with_header(mut reply: Reply, name: &'static str, value: &str) -> Reply {
    reply.response.headers_mut().insert(name, value.parse().unwrap());
    reply
}

/// An error in EC2's words.
fn ec2_error(status: u16, code: &str, message: &str) -> Reply {
    let body = format!(
        "<Response><Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors><RequestID>r-1</RequestID></Response>"
    );
    reply(status, body)
}

/// An error in the words of S3, and of the query protocol near enough.
fn xml_error(status: u16, code: &str) -> Reply {
    reply(status, format!("<Error><Code>{code}</Code><Message>no</Message><RequestId>r-1</RequestId></Error>"))
}

fn json_error(code: &str) -> Reply {
    with_header(reply(400, format!(r#"{{"__type":"x#{code}","message":"no"}}"#)), "x-amzn-requestid", "r-1")
}

fn base() -> Timestamp {
    "2026-12-01T12:00:00Z".parse().unwrap()
}

/// The adapter over a wire, in the runtime's time; the client tells of silence.
fn aws(toy: &Arc<Toy>) -> (Aws, WireClient) {
    let clock = Clock::starting_at(base());
    let client = WireClient::new(toy.clone(), clock);
    (Aws::sandbox(&client, clock, "123456789012", "us-west-2"), client)
}

/// Milliseconds since the start at which each request came.
fn arrivals(toy: &Toy) -> Vec<i64> {
    toy.heard().iter().map(|heard| heard.at - base().as_millisecond()).collect()
}
