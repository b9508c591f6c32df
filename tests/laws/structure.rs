//! Laws of the sources: who may name what, and where things stand. They read the files, so they hold for files of tomorrow.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Rooms in the order of the house: a room uses those above it.
const ROOMS: &[&str] = &[
    "clock",
    "model",
    "contract",
    "cloud",
    "resources",
    "catalog",
    "sizing",
    "stack",
    "observed",
    "choose",
    "desired",
    "cost",
    "plan",
    "preflight",
    "apply",
    "teardown",
    "report",
    "benchmark",
    "sandbox",
    "aws",
    "kubernetes",
    "cli",
];

/// Rooms that decide and rooms that describe: no waiting, no clock, no environment, no files, no terminal.
const PURE: &[&str] =
    &["model", "contract", "resources", "catalog", "sizing", "stack", "choose", "desired", "cost", "plan", "report"];

/// Files of a pure room that hold traits of an impure half.
const PORTS: &[&str] = &["contract/live.rs"];

const LINES: usize = 500;

struct Source {
    /// Below `src/`, like `plan/diff.rs`.
    path: String,
    /// Without comments, tests, and `mod live` blocks.
    code: String,
    /// All of it.
    text: String,
    /// A file of a kind's live half: it stands beside the adapter.
    live: bool,
}

impl Source {
    fn room(&self) -> &str {
        if self.live {
            return "aws";
        }
        // The simulated account behind the port is the sandbox's, whose rules it lives by.
        if self.path.starts_with("cloud/memory") {
            return "sandbox";
        }
        let first = self.path.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Vec<Source> {
    let src = root().join("src");
    let files = files_below(&src);
    let live = live_files(&src, &files);
    assert!(files.len() > 20, "the sources are not where this test looks");
    files
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let path = path.strip_prefix(&src).unwrap().to_string_lossy().replace('\\', "/");
            Source { code: code_of(&text), live: live.contains(&path), path, text }
        })
        .collect()
}

/// Files below `resources/` that their kind declares for the AWS build only.
fn live_files(src: &Path, files: &[PathBuf]) -> BTreeSet<String> {
    let mut live = BTreeSet::new();
    for kind in files.iter().filter(|file| file.parent() == Some(&src.join("resources"))) {
        let text = fs::read_to_string(kind).unwrap();
        let stem = kind.file_stem().unwrap().to_string_lossy().into_owned();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for pair in lines.windows(2).filter(|pair| pair[0] == "#[cfg(feature = \"aws\")]") {
            let name = pair[1].split_once("mod ").and_then(|(_, name)| name.strip_suffix(';'));
            if let Some(name) = name {
                live.insert(format!("resources/{stem}/{name}.rs"));
            }
        }
    }
    live
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = vec![];
    if !folder.is_dir() {
        return files;
    }
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() { files.extend(files_below(&entry)) } else { files.push(entry) }
    }
    files
}

/// What a rule about code looks at: no line comments, no `mod tests`, no `mod live`.
fn code_of(text: &str) -> String {
    let mut code = String::new();
    let mut skip: Option<usize> = None;
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        if let Some(from) = skip {
            if indent == from && line.trim_start().starts_with('}') {
                skip = None;
            }
            continue;
        }
        let trimmed = line.trim_start().trim_start_matches("pub(crate) ").trim_start_matches("pub(super) ");
        if ["mod live {", "pub mod live {", "mod tests {"].iter().any(|opening| trimmed.starts_with(opening)) {
            skip = Some(indent);
            continue;
        }
        let line = match line.find("//") {
            // `https://` in a string is no comment.
            Some(at) if at == 0 || !line[..at].ends_with(':') => &line[..at],
            _ => line,
        };
        code.push_str(line);
        code.push('\n');
    }
    code
}

/// Breaches of a rule, one line each; a law with a list says all at once.
fn none(breaches: Vec<String>) {
    assert!(breaches.is_empty(), "\n{}", breaches.join("\n"));
}

#[test]
fn the_reader_of_code_skips_what_it_says() {
    let text = "use a; // aws_sdk_ec2\nmod live {\n    use aws_sdk_ec2;\n}\nlet u = \"https://x\";\nmod tests {\n    y();\n}\nend";
    assert_eq!(code_of(text), "use a; \nlet u = \"https://x\";\nend\n");
}

#[test]
fn sdk_types_stay_in_their_rooms() {
    let breach = |source: &Source| {
        let homes: &[&str] = &["aws", "kubernetes"];
        let names = ["aws_sdk_", "aws_config", "aws_smithy", "aws_types", "aws_credential", "k8s_openapi", "kube::"];
        let found = names.iter().find(|name| source.code.contains(**name))?;
        (!homes.contains(&source.room())).then(|| format!("src/{} names {found}", source.path))
    };
    none(sources().iter().filter_map(breach).collect());
}

#[test]
fn rooms_import_upwards_only() {
    let order: BTreeMap<&str, usize> = ROOMS.iter().enumerate().map(|(i, room)| (*room, i)).collect();
    let mut breaches = vec![];
    for source in sources().iter().filter(|source| !["lib", "main"].contains(&source.room())) {
        let Some(own) = order.get(source.room()) else {
            breaches.push(format!("src/{} is in no room that the order of rooms names", source.path));
            continue;
        };
        for other in crate_paths(&source.code) {
            match order.get(other.as_str()) {
                Some(place) if place <= own => {}
                // The registry lists the live halves too, which stand beside the adapters.
                Some(_) if source.path == "resources/mod.rs" && ["aws", "kubernetes"].contains(&other.as_str()) => {}
                Some(_) => breaches.push(format!("src/{} uses `{other}`, a room below its own", source.path)),
                None => {}
            }
        }
    }
    none(breaches);
}

/// First steps of every path that starts at `crate`, those of grouped imports included.
fn crate_paths(code: &str) -> Vec<String> {
    let mut found = vec![];
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 0_usize;
            let mut item = String::new();
            for c in group.chars() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => found.push(first_step(&std::mem::take(&mut item))),
                    _ if depth == 0 => item.push(c),
                    _ => {}
                }
            }
            found.push(first_step(&item));
        } else {
            found.push(first_step(rest));
        }
    }
    found.retain(|step| !step.is_empty());
    found
}

fn first_step(text: &str) -> String {
    text.trim_start().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
}

#[test]
fn grouped_imports_are_read() {
    let code = "use crate::{\n    model::{Address, Doc},\n    plan::{self, diff::x},\n    clock,\n};\nlet x = crate::cloud::Fact::Zones;";
    assert_eq!(crate_paths(code), ["model", "plan", "clock", "cloud"]);
}

#[test]
fn pure_rooms_are_pure() {
    const BANNED: &[&str] = &[
        "async fn",
        "async move",
        ".await",
        "tokio",
        "SystemTime",
        "Instant::",
        "std::time::Instant",
        "std::env",
        "env::var",
        "std::fs",
        "fs::read",
        "File::open",
        "println!",
        "print!(",
        "std::process",
        "TcpStream",
    ];
    let mut breaches = vec![];
    for source in
        sources().iter().filter(|source| PURE.contains(&source.room()) && !PORTS.contains(&source.path.as_str()))
    {
        for (n, line) in source.code.lines().enumerate() {
            for banned in BANNED.iter().filter(|banned| line.contains(**banned)) {
                breaches.push(format!("src/{} (code line {}): {banned}", source.path, n + 1));
            }
        }
    }
    none(breaches);
}

#[test]
fn every_file_of_a_kind_is_registered() {
    let registry = fs::read_to_string(root().join("src/resources/mod.rs")).unwrap();
    let breach = |source: &Source| {
        let module = source.path.strip_prefix("resources/")?.split('/').next()?;
        let module = module.strip_suffix(".rs").unwrap_or(module);
        let registered =
            module == "mod" || registry.contains(&format!("{module}::")) || registry.contains(&format!("mod {module}"));
        (!registered).then(|| format!("src/{} is not in the registry", source.path))
    };
    none(sources().iter().filter_map(breach).collect());
}

#[test]
fn every_module_says_what_it_is_and_must_never_do() {
    let breach = |source: &Source| {
        let header: Vec<&str> = source.text.lines().map_while(|line| line.strip_prefix("//!")).collect();
        let header = header.concat();
        if ["lib.rs", "main.rs"].contains(&source.path.as_str()) {
            return None;
        }
        if header.is_empty() {
            return Some(format!("src/{} opens without a word", source.path));
        }
        let bounded = ["must never", "must not", "must cover"].iter().any(|word| header.to_lowercase().contains(word));
        (!bounded).then(|| format!("src/{} does not say what it must never do", source.path))
    };
    none(sources().iter().filter_map(breach).collect());
}

#[test]
fn files_stay_short() {
    let mut breaches = vec![];
    for folder in ["src", "tests", "benches"] {
        let folder = root().join(folder);
        for path in files_below(&folder).iter().filter(|path| path.extension().is_some_and(|e| e == "rs")) {
            let lines = fs::read_to_string(path).unwrap().lines().count();
            if lines > LINES {
                let path = path.strip_prefix(root()).unwrap().display();
                breaches.push(format!("{path}: {lines} lines, {LINES} at most"));
            }
        }
    }
    none(breaches);
}

#[test]
fn every_stack_file_has_a_golden_plan() {
    let goldens = root().join("tests/plans");
    let stacks = files_below(&root().join("stacks"));
    let yaml = |path: &&PathBuf| path.extension().is_some_and(|e| e == "yaml" || e == "yml");
    let named = |path: &PathBuf| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let names: BTreeSet<String> = stacks.iter().filter(yaml).filter_map(named).collect();
    let bare = names.iter().filter(|name| !goldens.join(name).join("plan.txt").is_file());
    let bare = bare.map(|name| format!("stacks/{name}.yaml has no tests/plans/{name}/plan.txt"));
    let kept = fs::read_dir(&goldens).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let orphans = kept.filter(|name| !names.contains(name));
    let orphans = orphans.map(|name| format!("tests/plans/{name}/ is of no file in stacks/"));
    none(bare.chain(orphans).collect());
}
