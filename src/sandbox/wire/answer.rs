//! From a document to the HTTP answer of a protocol, and from a fault to its error. Must never decide what is answered.

use super::{
    Fault,
    model::{Member, Model, Operation, Protocol, Shape, Type},
    xml,
};
use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header::HeaderName};
use quick_xml::escape::escape;
use serde_json::{Map, Value};
use std::fmt::Write;

/// The answer of an operation. `output` holds members by the model's names, timestamps as seconds since 1970; `body` is the
/// streaming payload, where the operation has one.
pub fn answer(model: &Model, name: &str, output: &Value, body: Bytes, request_id: &str) -> Response<Bytes> {
    let operation = &model.operations[name];
    let empty = Shape::empty();
    let shape = operation.output.as_deref().map_or(&empty, |name| model.shape(name));
    match model.protocol {
        Protocol::Ec2 | Protocol::Query => {
            respond(200, "text/xml;charset=UTF-8", query(model, name, operation, shape, output, request_id).into())
        }
        Protocol::Json => {
            let version = model.json_version.as_deref().unwrap_or("1.1");
            let kind = format!("application/x-amz-json-{version}");
            with_id(respond(200, &kind, to_json(model, shape, output).to_string().into()), request_id)
        }
        Protocol::RestJson | Protocol::RestXml => rest(model, operation, shape, output, body, request_id),
    }
}

impl Shape {
    fn empty() -> Self {
        serde_json::from_str(r#"{"type":"structure"}"#).expect("a constant")
    }
}

fn query(model: &Model, name: &str, operation: &Operation, shape: &Shape, output: &Value, request_id: &str) -> String {
    let namespace = match model.protocol {
        Protocol::Ec2 => format!("http://ec2.amazonaws.com/doc/{}/", model.api_version),
        _ => model.xml_namespace.clone().unwrap_or_default(),
    };
    let mut out = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{name}Response xmlns=\"{namespace}\">");
    if model.protocol == Protocol::Ec2 {
        let _ = write!(out, "<requestId>{request_id}</requestId>");
        if operation.output.is_none() {
            out.push_str("<return>true</return>");
        }
        xml::members(model, shape, output, &mut out);
    } else {
        if let Some(wrapper) = &operation.output_result_wrapper {
            let _ = write!(out, "<{wrapper}>");
            xml::members(model, shape, output, &mut out);
            let _ = write!(out, "</{wrapper}>");
        }
        let _ = write!(out, "<ResponseMetadata><RequestId>{request_id}</RequestId></ResponseMetadata>");
    }
    let _ = write!(out, "</{name}Response>");
    out
}

fn rest(
    model: &Model,
    operation: &Operation,
    shape: &Shape,
    output: &Value,
    body: Bytes,
    request_id: &str,
) -> Response<Bytes> {
    let status = operation.status.unwrap_or(200);
    let xml_kind = model.protocol == Protocol::RestXml;
    let payload = shape.payload.as_deref().map(|name| (name, &shape.members[name]));
    let text = match payload {
        Some((name, member)) => match (model.shape(&member.shape).r#type, output.get(name)) {
            (Type::Structure, Some(value)) => document(model, name, member, value),
            (Type::Structure, None) => Bytes::new(),
            (_, Some(Value::String(text))) => Bytes::from(text.clone()),
            _ => body,
        },
        None if xml_kind => {
            let has_body = shape.members.values().any(|member| member.location.is_none());
            if has_body { root(model, operation, shape, output).into() } else { Bytes::new() }
        }
        None => to_json(model, shape, output).to_string().into(),
    };
    let mut response = respond(status, if xml_kind { "application/xml" } else { "application/json" }, text);
    for (name, member) in &shape.members {
        let wire = member.location_name.as_deref().unwrap_or(name);
        match (member.location.as_deref(), output.get(name).filter(|value| !value.is_null())) {
            (Some("header"), Some(value)) => {
                let of = model.shape(&member.shape);
                let text = match (of.r#type, value) {
                    (Type::Timestamp, value) => xml::timestamp(
                        value.as_f64().unwrap_or_default(),
                        member.timestamp_format.as_deref().or(of.timestamp_format.as_deref()).unwrap_or("rfc822"),
                    ),
                    (_, Value::String(text)) => text.clone(),
                    (_, other) => other.to_string(),
                };
                header(&mut response, wire, &text);
            }
            (Some("statusCode"), Some(value)) => {
                if let Some(status) = value.as_u64().and_then(|n| StatusCode::from_u16(n as u16).ok()) {
                    *response.status_mut() = status;
                }
            }
            _ => {}
        }
    }
    with_id(response, request_id)
}

fn document(model: &Model, name: &str, member: &Member, value: &Value) -> Bytes {
    let shape = model.shape(&member.shape);
    if model.protocol == Protocol::RestJson {
        return to_json(model, shape, value).to_string().into();
    }
    let tag = member.location_name.as_deref().unwrap_or(name);
    enclosed(model, tag, shape, value).into()
}

fn root(model: &Model, operation: &Operation, shape: &Shape, output: &Value) -> String {
    let name = operation.output.as_deref().unwrap_or("Output").trim_end_matches("Output");
    // S3 names its roots after the thing, the model's output shapes after the operation.
    let tag = match name {
        "ListObjectsV2" => "ListBucketResult",
        "ListObjectVersions" => "ListVersionsResult",
        "ListBuckets" => "ListAllMyBucketsResult",
        "DeleteObjects" => "DeleteResult",
        "GetBucketLocation" => "LocationConstraint",
        "GetBucketTagging" => "Tagging",
        "GetBucketLifecycleConfiguration" => "LifecycleConfiguration",
        "GetBucketVersioning" => "VersioningConfiguration",
        "GetBucketAcl" => "AccessControlPolicy",
        "GetBucketCors" => "CORSConfiguration",
        "GetBucketLogging" => "BucketLoggingStatus",
        "GetBucketAccelerateConfiguration" => "AccelerateConfiguration",
        "GetBucketRequestPayment" => "RequestPaymentConfiguration",
        "GetBucketWebsite" => "WebsiteConfiguration",
        "CreateMultipartUpload" => "InitiateMultipartUploadResult",
        "ListMultipartUploads" => "ListMultipartUploadsResult",
        other => other,
    };
    if tag == "LocationConstraint" {
        let text = output.get("LocationConstraint").and_then(Value::as_str).unwrap_or("");
        return format!("{PROLOGUE}<{tag} xmlns=\"{S3}\">{}</{tag}>", escape(text));
    }
    enclosed(model, tag, shape, output)
}

const PROLOGUE: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const S3: &str = "http://s3.amazonaws.com/doc/2006-03-01/";

fn enclosed(model: &Model, tag: &str, shape: &Shape, value: &Value) -> String {
    let mut out = format!("{PROLOGUE}<{tag} xmlns=\"{S3}\">");
    xml::members(model, shape, value, &mut out);
    let _ = write!(out, "</{tag}>");
    out
}

/// Members under their wire names, without those that travel in headers.
fn to_json(model: &Model, shape: &Shape, value: &Value) -> Value {
    match (shape.r#type, value) {
        (Type::Structure, Value::Object(found)) => {
            let mut out = Map::new();
            for (name, member) in shape.members.iter().filter(|(_, member)| member.location.is_none()) {
                if let Some(value) = found.get(name).filter(|value| !value.is_null()) {
                    let wire = match model.protocol {
                        Protocol::RestJson => member.location_name.as_deref().unwrap_or(name),
                        _ => name,
                    };
                    out.insert(wire.to_owned(), to_json(model, model.shape(&member.shape), value));
                }
            }
            Value::Object(out)
        }
        (Type::List, Value::Array(items)) => {
            let item = shape.member.as_ref().expect("a list shape names its member");
            Value::Array(items.iter().map(|value| to_json(model, model.shape(&item.shape), value)).collect())
        }
        (Type::Map, Value::Object(entries)) => {
            let of = shape.value.as_ref().expect("a map shape names its value");
            let entries =
                entries.iter().map(|(key, value)| (key.clone(), to_json(model, model.shape(&of.shape), value)));
            Value::Object(entries.collect())
        }
        (Type::Timestamp, Value::Number(seconds)) if shape.timestamp_format.as_deref() == Some("iso8601") => {
            Value::String(xml::timestamp(seconds.as_f64().unwrap_or_default(), "iso8601"))
        }
        (_, other) => other.clone(),
    }
}

/// A fault as the protocol says it. `model` is `None` where not even the service is known.
pub fn refuse(model: Option<&Model>, fault: &Fault, request_id: &str) -> Response<Bytes> {
    let mut response = refusal(model, fault, request_id);
    for (name, value) in &fault.headers {
        header(&mut response, name, value);
    }
    response
}

fn refusal(model: Option<&Model>, fault: &Fault, request_id: &str) -> Response<Bytes> {
    let (code, message) = (escape(&fault.code), escape(&fault.message));
    let protocol = model.map_or(Protocol::Query, |model| model.protocol);
    let side = if fault.status >= 500 { "Receiver" } else { "Sender" };
    let details: String = fault.details.iter().map(|(name, value)| element(name, value)).collect();
    match protocol {
        Protocol::Ec2 => {
            let body = format!(
                "{PROLOGUE}<Response><Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors>\
                 <RequestID>{request_id}</RequestID></Response>"
            );
            respond(fault.status, "text/xml;charset=UTF-8", body.into())
        }
        Protocol::Query => {
            let body = format!(
                "{PROLOGUE}<ErrorResponse><Error><Type>{side}</Type><Code>{code}</Code><Message>{message}</Message>{details}\
                 </Error><RequestId>{request_id}</RequestId></ErrorResponse>"
            );
            with_id(respond(fault.status, "text/xml", body.into()), request_id)
        }
        Protocol::RestXml => {
            let body = format!(
                "{PROLOGUE}<Error><Code>{code}</Code><Message>{message}</Message>{details}\
                 <RequestId>{request_id}</RequestId></Error>"
            );
            with_id(respond(fault.status, "application/xml", body.into()), request_id)
        }
        Protocol::Json | Protocol::RestJson => {
            let kind = match (protocol, model.and_then(|model| model.json_version.as_deref())) {
                (Protocol::Json, version) => format!("application/x-amz-json-{}", version.unwrap_or("1.1")),
                _ => "application/json".to_owned(),
            };
            let mut body =
                serde_json::json!({ "__type": fault.code, "message": fault.message, "Message": fault.message });
            for (name, value) in &fault.details {
                body[name] = value.clone();
            }
            let mut response = respond(fault.status, &kind, body.to_string().into());
            header(&mut response, "x-amzn-errortype", &fault.code);
            with_id(response, request_id)
        }
    }
}

/// A detail of an error in XML; details are flat.
fn element(name: &str, value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    format!("<{name}>{}</{name}>", escape(&text))
}

fn respond(status: u16, kind: &str, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    header(&mut response, "content-type", kind);
    response
}

fn with_id(mut response: Response<Bytes>, request_id: &str) -> Response<Bytes> {
    header(&mut response, "x-amzn-requestid", request_id);
    header(&mut response, "x-amz-request-id", request_id);
    response
}

/// A value that no header can hold is left out: clients treat headers as optional.
fn header(response: &mut Response<Bytes>, name: &str, value: &str) {
    if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
        response.headers_mut().insert(name, value);
    }
}
