//! The emulator as one endpoint: an HTTP request and a moment in, an HTTP answer and how it arrives out. Must never open a
//! socket or read a clock: connector and server do.

use super::{
    faults::{Arrival, Script, Word},
    wire,
    world::{Context, Moment, Output, World},
};
use bytes::Bytes;
use http::{HeaderValue, Request, Response, header};
use jiff::{Timestamp, fmt::rfc2822::DateTimePrinter};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What answers AWS requests.
pub trait Wire: Send + Sync {
    /// The answer to a request that arrives at a moment.
    fn answer(&self, request: &Request<Bytes>, now: Moment) -> Reply;
}

/// An answer on its way.
#[derive(Debug)]
pub struct Reply {
    pub response: Response<Bytes>,
    pub arrival: Arrival,
    /// Milliseconds until it is there.
    pub delay: u64,
}

impl Reply {
    /// Servers date their answers; what the account dated itself stays.
    pub fn dated(mut self, now: Timestamp) -> Self {
        let headers = self.response.headers_mut();
        if !headers.contains_key(header::DATE)
            && let Ok(date) = DateTimePrinter::new().timestamp_to_rfc9110_string(&now)
            && let Ok(date) = HeaderValue::from_str(&date)
        {
            headers.insert(header::DATE, date);
        }
        self
    }
}

/// A simulated account behind AWS's protocols.
pub struct Sandbox {
    inner: Mutex<Inner>,
    hook: Option<Hook>,
}

/// Called with the world after each call that may have changed it.
type Hook = Box<dyn Fn(&World) + Send + Sync>;

struct Inner {
    world: World,
    script: Script,
    log: Option<Vec<Heard>>,
    calls: u64,
}

/// One call as it was heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    pub at: Moment,
    /// `ec2:CreateVpc`
    pub call: String,
    pub status: u16,
    /// AWS's error code, where it was refused.
    pub refused: Option<String>,
}

impl Sandbox {
    pub fn new(world: World) -> Self {
        Self { inner: Mutex::new(Inner { world, script: Script::default(), log: None, calls: 0 }), hook: None }
    }

    pub fn on_change(mut self, hook: impl Fn(&World) + Send + Sync + 'static) -> Self {
        self.hook = Some(Box::new(hook));
        self
    }

    /// Remembers every call from now on.
    pub fn listen(&self) {
        self.lock().log.get_or_insert_default();
    }

    pub fn heard(&self) -> Vec<Heard> {
        self.lock().log.clone().unwrap_or_default()
    }

    /// Changes what the account does to calls.
    pub fn script(&self, write: impl FnOnce(&mut Script)) {
        write(&mut self.lock().script);
    }

    /// Looks at the world, or lays a hand on it as AWS's own console would.
    pub fn with<T>(&self, see: impl FnOnce(&mut World) -> T) -> T {
        see(&mut self.lock().world)
    }

    pub fn calls(&self) -> u64 {
        self.lock().calls
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wire for Sandbox {
    fn answer(&self, request: &Request<Bytes>, now: Moment) -> Reply {
        if host(request) == Some(CHECK_ADDRESS) {
            let address = self.lock().world.scenario.caller_address.clone();
            return Reply { response: Response::new(address.into()), arrival: Arrival::Whole, delay: 0 };
        }
        let read = wire::read(request);
        let mut inner = self.lock();
        inner.calls += 1;
        let request_id = inner.world.uuid();
        let call = match read {
            Ok(call) => call,
            Err(unread) => {
                let model = unread.service.map(|service| &wire::models().services[service]);
                let response = wire::refuse(model, &unread.fault, &request_id);
                return Reply { response, arrival: Arrival::Whole, delay: 0 };
            }
        };
        let name = format!("{}:{}", call.service, call.operation);
        let changes = is_change(call.operation);
        let word = inner.script.judge(&name, changes);
        let context = Context {
            service: call.service,
            operation: call.operation,
            region: call.region.as_deref().unwrap_or("us-east-1"),
            request_id: &request_id,
            access_key: call.access_key.as_deref(),
            input: &call.input,
            body: &call.body,
            headers: &call.headers,
        };
        let (answer, arrival) = match word {
            Word::Pass => (inner.world.answer(now, &context), Arrival::Whole),
            Word::Refuse(fault) => (Err(fault), Arrival::Whole),
            Word::Lose => (inner.world.answer(now, &context), Arrival::Lost),
            Word::Hang { effect: true } => (inner.world.answer(now, &context), Arrival::Never),
            Word::Hang { effect: false } => (Ok(Output::default()), Arrival::Never),
        };
        let response = match &answer {
            Ok(output) => wire::answer(call.model, call.operation, &output.value, output.body.clone(), &request_id),
            Err(fault) => wire::refuse(Some(call.model), fault, &request_id),
        };
        let refused = answer.as_ref().err().map(|fault| fault.code.clone());
        let heard = Heard { at: now, call: name, status: response.status().as_u16(), refused };
        if let Some(log) = &mut inner.log {
            log.push(heard);
        }
        if changes && let Some(hook) = &self.hook {
            hook(&inner.world);
        }
        let latency = inner.world.scenario.latency_ms;
        let delay = if changes { latency.change } else { latency.read };
        Reply { response, arrival, delay: u64::from(delay) }
    }
}

/// The page on which AWS tells callers their public address.
const CHECK_ADDRESS: &str = "checkip.amazonaws.com";

fn host(request: &Request<Bytes>) -> Option<&str> {
    let named = || request.headers().get(header::HOST)?.to_str().ok()?.split(':').next();
    request.uri().host().or_else(named)
}

/// By AWS's naming of operations.
pub fn is_change(operation: &str) -> bool {
    !["Describe", "List", "Get", "Head", "Simulate"].iter().any(|prefix| operation.starts_with(prefix))
}
