//! The API models, as `scripts/extract-models.py` wrote them. Must never be edited by hand.

use serde::Deserialize;
use std::{
    collections::{BTreeMap, HashMap},
    io::Read,
    sync::LazyLock,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Protocol {
    #[serde(rename = "ec2")]
    Ec2,
    #[serde(rename = "query")]
    Query,
    #[serde(rename = "json")]
    Json,
    #[serde(rename = "rest-json")]
    RestJson,
    #[serde(rename = "rest-xml")]
    RestXml,
}

#[derive(Debug, Deserialize)]
pub struct Models {
    /// Version of the package that the shapes come from.
    pub botocore: String,
    pub services: BTreeMap<String, Model>,
}

/// One service.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    pub protocol: Protocol,
    pub api_version: String,
    pub endpoint_prefix: String,
    /// Service name in a signature's scope.
    pub signing_name: String,
    pub target_prefix: Option<String>,
    pub json_version: Option<String>,
    pub xml_namespace: Option<String>,
    pub operations: BTreeMap<String, Operation>,
    pub shapes: HashMap<String, Shape>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    pub method: String,
    pub uri: String,
    pub status: Option<u16>,
    pub input: Option<String>,
    pub output: Option<String>,
    pub output_result_wrapper: Option<String>,
    #[serde(default)]
    pub errors: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    Structure,
    List,
    Map,
    String,
    Character,
    Integer,
    Long,
    Float,
    Double,
    Boolean,
    Blob,
    Timestamp,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shape {
    pub r#type: Type,
    #[serde(default)]
    pub members: BTreeMap<String, Member>,
    #[serde(default)]
    pub required: Vec<String>,
    #[serde(default)]
    pub r#enum: Vec<String>,
    pub pattern: Option<String>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    #[serde(default)]
    pub flattened: bool,
    /// The member that is the whole body.
    pub payload: Option<String>,
    pub timestamp_format: Option<String>,
    #[serde(default)]
    pub streaming: bool,
    pub xml_namespace: Option<Namespace>,
    pub member: Option<Member>,
    pub key: Option<Member>,
    pub value: Option<Member>,
    pub error: Option<ErrorCode>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ErrorCode {
    pub code: Option<String>,
    pub http_status_code: Option<u16>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Namespace {
    Uri { uri: String },
    Text(String),
}

impl Namespace {
    pub fn uri(&self) -> &str {
        match self {
            Namespace::Uri { uri } => uri,
            Namespace::Text(text) => text,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    pub shape: String,
    pub location: Option<String>,
    pub location_name: Option<String>,
    pub query_name: Option<String>,
    #[serde(default)]
    pub flattened: bool,
    #[serde(default)]
    pub xml_attribute: bool,
    pub xml_namespace: Option<Namespace>,
    pub timestamp_format: Option<String>,
}

impl Model {
    /// The shape of that name; the extraction closes over references, so each one exists.
    pub fn shape(&self, name: &str) -> &Shape {
        &self.shapes[name]
    }
}

static MODELS: LazyLock<Models> = LazyLock::new(|| {
    let packed = include_bytes!("../models/models.json.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed.as_slice())
        .read_to_string(&mut text)
        .expect("the models are compiled in, and a test unpacks them");
    serde_json::from_str(&text).expect("the models are compiled in, and a test reads them")
});

/// Every service that the sandbox speaks.
pub fn models() -> &'static Models {
    &MODELS
}
