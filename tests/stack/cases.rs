//! Every rule broken once. A case says on its own lines what is expected there: `# error RULE: part; other part`.

use infer_stack::catalog::Catalog;
use infer_stack::stack::{Diagnostic, Severity, parse, render};
use regex_lite::Regex;
use std::collections::BTreeSet;
use std::fs;

/// Line, severity, rule, and parts of what is said.
type Expected = (usize, Severity, String, Vec<String>);

fn expected(text: &str) -> Vec<Expected> {
    let mark = Regex::new(r"# (error|warning) ([a-z-]+): (.+)$").unwrap();
    let lines = text.lines().enumerate();
    lines
        .filter_map(|(index, line)| {
            let found = mark.captures(line)?;
            let severity = if &found[1] == "error" { Severity::Error } else { Severity::Warning };
            let parts = found[3].split("; ").map(str::to_owned).collect();
            Some((index + 1, severity, found[2].to_owned(), parts))
        })
        .collect()
}

fn found(text: &str) -> (Vec<Diagnostic>, String) {
    let env = |name: &str| (name == "NESTED").then(|| "${env:OTHER}".to_owned());
    let no_file = |_: &str| Err(std::io::Error::from(std::io::ErrorKind::NotFound));
    match parse(text, "stacks/mine.yaml", &env, &no_file, &Catalog::compiled()) {
        Ok(parsed) => (parsed.into_iter().flat_map(|parsed| parsed.warnings).collect(), "no errors".to_owned()),
        Err(found) => {
            let shown = render(&found, text, false);
            (found.list, shown)
        }
    }
}

fn cases(directory: &str) -> Vec<(String, String)> {
    let files = fs::read_dir(format!("tests/stack/{directory}")).unwrap().map(|entry| entry.unwrap().path());
    let mut all =
        files.map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap())).collect::<Vec<_>>();
    all.sort();
    all
}

#[test]
fn every_case_is_told_what_it_expects_where_it_expects_it_and_nothing_else() {
    let mut wrong = String::new();
    for (name, text) in cases("bad").into_iter().chain(cases("odd")) {
        let expected = expected(&text);
        let (list, shown) = found(&text);
        let same = expected.len() == list.len()
            && expected.iter().zip(&list).all(|((line, severity, rule, parts), found)| {
                let said = format!("{}\n{}\n{}", found.message, found.label, found.notes.join("\n"));
                (*line, *severity, rule.as_str()) == (found.place.line, found.severity, found.rule)
                    && parts.iter().all(|part| said.contains(part.as_str()))
            });
        if expected.is_empty() || !same {
            let told = list.iter().map(|d| format!("{}: {} {}: {}\n", d.place.line, d.rule, d.message, d.label));
            wrong.push_str(&format!("== {name}: expected {expected:#?}\n{}{shown}\n", told.collect::<String>()));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Rules are named where they are found; their names are the only kebab-case texts of those files.
#[test]
fn every_rule_has_a_case() {
    let name = Regex::new(r#""([a-z]+(-[a-z]+)+)""#).unwrap();
    let mut rules = BTreeSet::new();
    for entry in fs::read_dir("src/stack/rules").unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        rules.extend(name.captures_iter(code).map(|found| found[1].to_owned()));
    }
    let all = cases("bad").into_iter().chain(cases("odd"));
    let covered = all.flat_map(|(_, text)| expected(&text)).map(|(_, _, rule, _)| rule).collect::<BTreeSet<_>>();
    assert!(rules.len() > 60, "{rules:?}");
    let without = rules.difference(&covered).collect::<Vec<_>>();
    assert!(without.is_empty(), "no case breaks {without:?}");
}

#[test]
fn diagnostics_look_like_a_compilers() {
    let text = "name: mine\nregion: us-west-2\nnodeClass:\n  - name: gpu\n    instanceTypes: [g6e.xlarge]\n";
    insta::assert_snapshot!(found(text).1);
    let text = fs::read_to_string("tests/stack/bad/efa-missing.yaml").unwrap();
    let text = text.replace(&text[text.find("  # error").unwrap()..], "\n");
    insta::assert_snapshot!(found(text.trim_end()).1);
    let text = "name: mine\nregion: us-west-2\nprotect: true\nprotect: false\nnodeClasses:\n  - name: g6e\n    instanceTypes: [g6e.xlarge]\nserving:\n  model: meta-llama/Llama-3.1-70B-Instruct\n";
    insta::assert_snapshot!(found(text).1);
}
