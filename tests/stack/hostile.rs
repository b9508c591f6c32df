//! Input that nobody means well with: refused with a place and a way out, never a panic.

use super::{examples, read};
use infer_stack::stack::{Diagnostics, explain, render, text};
use proptest::prelude::*;

fn refused(input: &str) -> Diagnostics {
    let found = read(input).expect_err("this is no stack");
    let shown = render(&found, input, false);
    for diagnostic in &found.list {
        assert!(!diagnostic.message.is_empty() && !diagnostic.label.is_empty(), "{diagnostic:?}");
    }
    assert!(shown.contains("--> stack.yaml:"), "{shown}");
    found
}

fn rules(input: &str) -> Vec<&'static str> {
    refused(input).list.iter().map(|found| found.rule).collect()
}

#[test]
fn an_alias_bomb_is_refused_before_it_grows() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..30 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    assert_eq!(rules(&bomb), ["too-large"]);
    let text = format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(100_000), vec!["*a"; 5_000].join(", "));
    assert_eq!(rules(&text), ["too-large"]);
}

#[test]
fn too_many_bytes_are_refused_unread() {
    assert_eq!(rules(&"a: b\n".repeat(2 << 20)), ["too-large"]);
    let found = text(vec![b'a'; 10 << 20], "stack.yaml").unwrap_err();
    assert_eq!(found.list[0].rule, "too-large");
    // The largest that is read: one error, not one a line.
    let found = refused(&"a: b\n".repeat((1 << 20) / 5));
    assert!(found.list.len() <= Diagnostics::LIMIT);
    assert_eq!(found.list.len() + found.dropped > Diagnostics::LIMIT, found.dropped > 0);
}

#[test]
fn what_is_no_text_is_refused_at_its_first_byte() {
    let found = text(b"name: x\nregion: \xff\xfe\n".to_vec(), "stack.yaml").unwrap_err();
    assert_eq!((found.list[0].rule, found.list[0].place.line, found.list[0].place.column), ("not-text", 2, 9));
    let utf16 = "name: x".encode_utf16().flat_map(u16::to_le_bytes);
    let found = text([0xff, 0xfe].into_iter().chain(utf16).collect(), "stack.yaml").unwrap_err();
    assert!(found.list[0].label.contains("UTF-16"), "{found:?}");
    let elf = "\u{7f}ELF\u{2}\u{1}\u{1}\0\0\0";
    assert_eq!(rules(elf), ["not-text"]);
    assert!(!render(&refused(elf), elf, false).contains('\u{7f}'));
}

#[test]
fn nesting_does_not_reach_the_stack() {
    for (open, close) in [("[", "]"), ("{a: ", "}")] {
        let text = format!("name: {}{}\n", open.repeat(10_000), close.repeat(10_000));
        assert_eq!(rules(&text), ["too-deep"]);
    }
    assert_eq!(rules(&format!("name: {}", "[".repeat(10_000))), ["too-deep"]);
    let blocks = (0..10_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).take(1_400).collect::<String>();
    assert_eq!(rules(&blocks), ["too-deep"]);
    assert_eq!(rules(&"- ".repeat(10_000)), ["too-deep"]);
}

#[test]
fn an_empty_file_is_told_how_to_begin() {
    for nothing in ["", "\n\n", "# only a comment\n", "---\n", "---\n---\n", "null\n", "\u{feff}"] {
        let found = refused(nothing);
        assert_eq!(found.list[0].rule, "empty", "{nothing:?}");
        assert!(found.list[0].notes[0].contains("infer-stack init"));
    }
    for odd in ["just words", "[]", "- name: x", "42"] {
        assert_eq!(rules(odd), ["wrong-type"], "{odd:?}");
    }
}

#[test]
fn a_syntax_error_hides_no_other_document() {
    let text = "name: [\n---\nname: x\nregion: nowhere\nnodeClasses: []\n";
    let found = refused(text);
    let lines = found.list.iter().map(|found| (found.rule, found.place.line)).collect::<Vec<_>>();
    assert_eq!(lines[1..], [("format", 4), ("classes-none", 5)], "{lines:?}");
}

#[test]
fn line_ends_and_byte_order_marks_move_no_place() {
    let (_, example) = &examples()[0];
    let windows = format!("\u{feff}{}", example.replace('\n', "\r\n"));
    assert_eq!(read(&windows).unwrap()[0].spec, read(example).unwrap()[0].spec);
    let found = refused("\u{feff}nme: x\r\nregion: us-west-2\r\nnodeClasses: nothing\r\n");
    let places = found.list.iter().map(|found| (found.place.line, found.place.column)).collect::<Vec<_>>();
    assert_eq!(places, [(1, 1), (3, 14)]);
}

#[test]
fn control_characters_of_a_file_never_reach_the_terminal() {
    let text = "name: \"a\\e[31m\"\nregion: us-west-2\nnodeClasses: []\n";
    assert!(!render(&refused(text), text, false).contains('\u{1b}'));
}

/// Bytes of an example, cut, doubled, replaced.
fn mutated() -> impl Strategy<Value = String> {
    let texts = examples().into_iter().map(|(_, text)| text).collect::<Vec<_>>();
    let pieces = prop_oneof![
        Just("\t".to_owned()),
        Just("&a ".to_owned()),
        Just("*a".to_owned()),
        Just("<<: *a\n".to_owned()),
        Just("${env:A:-b}".to_owned()),
        Just("\n---\n".to_owned()),
        Just("{".to_owned()),
        Just("]".to_owned()),
        Just("\"".to_owned()),
        Just(": ".to_owned()),
        Just("é\u{1f600}".to_owned()),
        Just("-99999999999999999999".to_owned()),
        ".{0,8}",
    ];
    (
        proptest::sample::select(texts),
        proptest::collection::vec((any::<prop::sample::Index>(), 0_usize..40, pieces), 1..6),
    )
        .prop_map(|(mut text, edits)| {
            for (at, length, piece) in edits {
                let floor = |at: usize, text: &str| (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap();
                let from = floor(at.index(text.len() + 1), &text);
                let to = floor((from + length).min(text.len()), &text).max(from);
                text.replace_range(from..to, &piece);
            }
            text
        })
}

fn never_panics(input: &str) -> Result<(), TestCaseError> {
    match read(input) {
        Ok(parsed) => {
            for parsed in parsed {
                let again = read(&explain(&parsed.spec));
                let again = again.map_err(|found| TestCaseError::fail(format!("{found:?}")))?;
                prop_assert_eq!(&again[0].spec, &parsed.spec);
            }
        }
        Err(found) => {
            prop_assert!(found.errors() > 0);
            render(&found, input, true);
            render(&found, "another text", false);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        if let Ok(text) = text(bytes, "stack.yaml") {
            never_panics(&text)?;
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(?s)[ -~\\n\\té\u{1f600}]{0,200}") {
        never_panics(&text)?;
    }

    #[test]
    fn a_mangled_file_is_read_or_refused(text in mutated()) {
        never_panics(&text)?;
    }
}
