//! Laws of the calls that the adapter and live halves make, as their sources name them.

use infer_stack::sandbox::wire::models;
use std::{collections::BTreeSet, fs, path::Path};

/// Names of calls in a source: what `failed("…")` gets, by itself or through a name.
fn named(text: &str) -> BTreeSet<&str> {
    let after = |opening: &'static str| text.split(opening).skip(1).filter_map(|rest| rest.split('"').next());
    let all = ["failed(\"", "let call = \"", ": &str = \""].map(|opening| after(opening).collect::<Vec<_>>()).concat();
    // Keys of tags are written so too, in small letters.
    let is_call = |name: &&str| {
        name.split_once(':').is_some_and(|(_, operation)| operation.starts_with(|c: char| c.is_ascii_uppercase()))
    };
    all.into_iter().filter(is_call).collect()
}

fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn every_call_is_one_that_aws_has_and_the_sandbox_knows() {
    let mut files = vec![];
    for room in ["src/aws", "src/resources"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(room), &mut files);
    }
    let mut calls = 0;
    let mut strange = vec![];
    for (path, text) in &files {
        for call in named(text.split("mod tests {").next().unwrap()) {
            let (service, operation) = call.split_once(':').unwrap();
            // Not a service of AWS's models: a page.
            if service == "checkip" {
                continue;
            }
            calls += 1;
            if !models().services.get(service).is_some_and(|model| model.operations.contains_key(operation)) {
                strange.push(format!("{path}: {call}"));
            }
        }
    }
    assert!(calls > 20, "the law reads the wrong files");
    assert!(strange.is_empty(), "\n{}", strange.join("\n"));
}
