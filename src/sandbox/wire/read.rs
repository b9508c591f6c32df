//! From an HTTP request to a [`Call`]: which service and operation, and its input as a document. Must never act on it.

use super::{
    Fault, check,
    form::{self, Form},
    model::{Member, Model, Operation, Protocol, Type, models},
    rest, xml,
};
use bytes::Bytes;
use http::{HeaderMap, Request};
use serde_json::{Map, Value};

/// One call, checked against the model.
#[derive(Debug)]
pub struct Call {
    /// Name of the service in the models: `ec2`, `service-quotas`, …
    pub service: &'static str,
    pub model: &'static Model,
    pub operation: &'static str,
    /// Members by the model's names; a streaming body is in `body` instead.
    pub input: Value,
    pub body: Bytes,
    pub headers: HeaderMap,
    /// Access key of the signature, where there is one.
    pub access_key: Option<String>,
    /// Region of the signature's scope.
    pub region: Option<String>,
}

/// What went wrong, and in whose protocol to say it.
#[derive(Debug)]
pub struct Unread {
    pub fault: Fault,
    pub service: Option<&'static str>,
}

/// Reads and checks a request. Signatures are read for service, region and key; who may sign is the world's matter.
pub fn read(request: &Request<Bytes>) -> Result<Call, Box<Unread>> {
    let scope = Scope::of(request);
    let service = service_of(request, &scope).ok_or_else(|| {
        let fault = Fault::new("MissingAuthenticationToken", "Request is missing Authentication Token").status(403);
        Box::new(Unread { fault, service: None })
    })?;
    let (name, model) = service;
    input(request, model)
        .and_then(|(operation, input, body)| {
            check::check(model, operation, &model.operations[operation], &input)?;
            Ok(Call {
                service: name,
                model,
                operation,
                input,
                body,
                headers: request.headers().clone(),
                access_key: scope.access_key,
                region: scope.region,
            })
        })
        .map_err(|fault| Box::new(Unread { fault, service: Some(name) }))
}

/// Scope of a signature: `AKID/20261201/us-west-2/ec2/aws4_request`.
#[derive(Default)]
struct Scope {
    access_key: Option<String>,
    region: Option<String>,
    signing_name: Option<String>,
}

impl Scope {
    fn of(request: &Request<Bytes>) -> Self {
        let header = request.headers().get("authorization").and_then(|value| value.to_str().ok());
        let credential = match header {
            Some(header) => {
                header.split_once("Credential=").map(|(_, rest)| rest.split([',', ' ']).next().unwrap_or(""))
            }
            None => None,
        };
        let presigned = query(request).into_iter().find(|(key, _)| key == "X-Amz-Credential").map(|(_, value)| value);
        let Some(scope) = credential.map(str::to_owned).or(presigned) else { return Self::default() };
        let mut parts = scope.split('/').map(str::to_owned);
        Self { access_key: parts.next(), region: parts.nth(1), signing_name: parts.next() }
    }
}

fn service_of(request: &Request<Bytes>, scope: &Scope) -> Option<(&'static str, &'static Model)> {
    let named = |name: &str| models().services.iter().find(|(_, model)| model.signing_name == name);
    let found = match &scope.signing_name {
        Some(name) => named(name),
        // Web identity calls are not signed: they are what signs the others.
        None => named("sts").filter(|(_, model)| {
            let form = Form::parse(request.body());
            form.get("Action").is_some_and(|action| model.operations.contains_key(action))
        }),
    };
    found.map(|(name, model)| (name.as_str(), model))
}

fn query(request: &Request<Bytes>) -> Vec<(String, String)> {
    form_urlencoded::parse(request.uri().query().unwrap_or("").as_bytes()).into_owned().collect()
}

fn unknown(model: &Model, what: &str) -> Fault {
    match model.protocol {
        Protocol::Ec2 | Protocol::Query => {
            Fault::new("InvalidAction", format!("The action {what} is not valid for this web service."))
        }
        Protocol::Json => {
            Fault::new("UnknownOperationException", format!("{what} is not an operation of this service"))
        }
        Protocol::RestJson => Fault::new("UnknownOperationException", format!("{what} is not known")).status(404),
        Protocol::RestXml => Fault::new("NotImplemented", format!("{what} is not implemented")).status(501),
    }
}

type Read = (&'static str, Value, Bytes);

fn input(request: &Request<Bytes>, model: &'static Model) -> Result<Read, Fault> {
    match model.protocol {
        Protocol::Ec2 | Protocol::Query => {
            let body = if request.body().is_empty() {
                request.uri().query().unwrap_or("").as_bytes().to_vec()
            } else {
                request.body().to_vec()
            };
            let form = Form::parse(&body);
            let action =
                form.get("Action").ok_or_else(|| Fault::new("MissingAction", "The request names no Action"))?;
            let (name, operation) = model.operations.get_key_value(action).ok_or_else(|| unknown(model, action))?;
            let input = match &operation.input {
                Some(shape) => form::structure(model, model.shape(shape), &form)?,
                None => Map::new(),
            };
            check::names(model, operation, &form)?;
            Ok((name, Value::Object(input), Bytes::new()))
        }
        Protocol::Json => {
            let target = request.headers().get("x-amz-target").and_then(|value| value.to_str().ok()).unwrap_or("");
            let action = target.rsplit('.').next().unwrap_or("");
            let (name, _) = model.operations.get_key_value(action).ok_or_else(|| unknown(model, target))?;
            Ok((name, json(request.body())?, Bytes::new()))
        }
        Protocol::RestJson | Protocol::RestXml => rest_input(request, model),
    }
}

fn json(body: &[u8]) -> Result<Value, Fault> {
    if body.is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    serde_json::from_slice(body).map_err(|e| Fault::new("SerializationException", format!("the body is not JSON: {e}")))
}

fn rest_input(request: &Request<Bytes>, model: &'static Model) -> Result<Read, Fault> {
    let query = query(request);
    let path = path_with_bucket(request, model);
    let (name, operation, labels) = rest::route(model, request.method().as_str(), &path, &query)
        .ok_or_else(|| unknown(model, &format!("{} {path}", request.method())))?;
    let Some(shape) = operation.input.as_deref().map(|name| model.shape(name)) else {
        return Ok((name, Value::Object(Map::new()), Bytes::new()));
    };
    let mut input = Map::new();
    for (member_name, member) in &shape.members {
        let wire = member.location_name.as_deref().unwrap_or(member_name);
        let found = match member.location.as_deref() {
            Some("uri") => labels.get(wire).map(|text| form::scalar(model.shape(&member.shape), text)).transpose()?,
            Some("querystring") => from_query(model, member, wire, &query)?,
            Some("header") => match request.headers().get(wire).and_then(|value| value.to_str().ok()) {
                Some(text) => Some(form::scalar(model.shape(&member.shape), text)?),
                None => None,
            },
            _ => None,
        };
        if let Some(found) = found {
            input.insert(member_name.clone(), found);
        }
    }
    let raw = decoded_chunks(request);
    let mut body = Bytes::new();
    match &shape.payload {
        Some(payload) => {
            let member = &shape.members[payload];
            let of = model.shape(&member.shape);
            if of.r#type == Type::Structure {
                if !raw.is_empty() {
                    let value = match model.protocol {
                        Protocol::RestXml => xml::read(model, of, &raw)?,
                        _ => json(&raw)?,
                    };
                    input.insert(payload.clone(), value);
                }
            } else if of.streaming || of.r#type == Type::Blob {
                body = raw;
            } else {
                input.insert(payload.clone(), Value::String(String::from_utf8_lossy(&raw).into_owned()));
            }
        }
        None if model.protocol == Protocol::RestJson && !raw.is_empty() => {
            body_members(model, operation, &raw, &mut input)?
        }
        None => {}
    }
    Ok((name, Value::Object(input), body))
}

/// JSON members by their wire names, in the model's.
fn body_members(model: &Model, operation: &Operation, raw: &[u8], input: &mut Map<String, Value>) -> Result<(), Fault> {
    let Value::Object(found) = json(raw)? else {
        return Err(Fault::new("SerializationException", "the body is not a JSON object"));
    };
    let shape = operation.input.as_deref().map(|name| model.shape(name));
    for (key, value) in found.into_iter().filter(|(_, value)| !value.is_null()) {
        let known = shape.and_then(|shape| {
            shape.members.iter().find(|(name, member)| member.location_name.as_deref().unwrap_or(name) == key)
        });
        input.insert(known.map_or(key, |(name, _)| name.clone()), value);
    }
    Ok(())
}

fn from_query(model: &Model, member: &Member, wire: &str, query: &[(String, String)]) -> Result<Option<Value>, Fault> {
    let shape = model.shape(&member.shape);
    let mut values = query.iter().filter(|(key, _)| key == wire).map(|(_, value)| value);
    if shape.r#type == Type::List {
        let item = shape.member.as_ref().expect("a list shape names its member");
        let items: Vec<Value> =
            values.map(|text| form::scalar(model.shape(&item.shape), text)).collect::<Result<_, _>>()?;
        return Ok((!items.is_empty()).then_some(Value::Array(items)));
    }
    values.next().map(|text| form::scalar(shape, text)).transpose()
}

/// S3 clients may put the bucket into the host: `weights.s3.us-west-2.amazonaws.com`.
fn path_with_bucket(request: &Request<Bytes>, model: &Model) -> String {
    let path = request.uri().path();
    if model.protocol != Protocol::RestXml {
        return path.to_owned();
    }
    let host = request.headers().get("host").and_then(|value| value.to_str().ok()).or_else(|| request.uri().host());
    match host.and_then(|host| host.split_once(".s3")) {
        Some((bucket, rest)) if rest.starts_with(['.', '-']) && !bucket.is_empty() => format!("/{bucket}{path}"),
        _ => path.to_owned(),
    }
}

/// SDKs send S3 bodies in signed chunks with trailing checksums: `<hex size>;chunk-signature=…\r\n<bytes>\r\n`.
fn decoded_chunks(request: &Request<Bytes>) -> Bytes {
    let encoding = request.headers().get("content-encoding").and_then(|value| value.to_str().ok()).unwrap_or("");
    if !encoding.split(',').any(|part| part.trim() == "aws-chunked") {
        return request.body().clone();
    }
    let mut rest: &[u8] = request.body();
    let mut out = Vec::with_capacity(rest.len());
    while let Some(end) = rest.windows(2).position(|pair| pair == b"\r\n") {
        let head = String::from_utf8_lossy(&rest[..end]).into_owned();
        let Ok(size) = usize::from_str_radix(head.split(';').next().unwrap_or(""), 16) else { break };
        let data = &rest[end + 2..];
        if size == 0 || data.len() < size {
            break;
        }
        out.extend_from_slice(&data[..size]);
        rest = data.get(size + 2..).unwrap_or(&[]);
    }
    Bytes::from(out)
}
