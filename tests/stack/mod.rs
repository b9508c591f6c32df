//! Stack files as people write them, and as nobody should.

mod cases;
mod examples;
mod explained;
mod hostile;
mod reading;

use infer_stack::catalog::Catalog;
use infer_stack::stack::{Diagnostics, Parsed, parse, render};

/// Parses without any environment and without files beside the text.
pub fn read(text: &str) -> Result<Vec<Parsed>, Diagnostics> {
    let no_file = |_: &str| Err(std::io::Error::from(std::io::ErrorKind::NotFound));
    parse(text, "stack.yaml", &|_| None, &no_file, &Catalog::compiled())
}

/// The only stack of a text that has to be right.
pub fn one(text: &str) -> Parsed {
    match read(text) {
        Ok(mut parsed) if parsed.len() == 1 => parsed.remove(0),
        Ok(parsed) => panic!("{} stacks", parsed.len()),
        Err(found) => panic!("{}", render(&found, text, false)),
    }
}

/// Every file of `stacks/`: stem and text.
pub fn examples() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir("stacks").unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        all.push((stem, std::fs::read_to_string(&path).unwrap()));
    }
    all.sort();
    assert!(all.len() >= 11, "run from the package's root");
    all
}
