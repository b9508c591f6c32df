//! Stack files that nobody should have written: told where they are wrong, never a panic.

use super::desk::Desk;
use std::fs;

#[test]
fn bad_files_are_65_with_the_place() {
    let desk = Desk::new();
    let folder = format!("{}/tests/stack/bad", env!("CARGO_MANIFEST_DIR"));
    for name in ["all-at-once", "duplicate-key", "tab", "unclosed-quote", "zone-refused", "recursive-alias", "env-open"]
    {
        desk.write("bad.yaml", &fs::read_to_string(format!("{folder}/{name}.yaml")).unwrap());
        for command in ["validate bad.yaml", "plan bad.yaml", "up bad.yaml --yes", "size bad.yaml", "verify bad.yaml"] {
            let ran = desk.run(command).exits(65);
            assert!(ran.out.is_empty(), "{name} {command}: {}", ran.out);
            assert!(ran.err.contains("--> bad.yaml:"), "{name} {command}: {}", ran.err);
        }
        let json = desk.run("validate bad.yaml --json").exits(65).json();
        assert!(!json["diagnostics"].as_array().unwrap().is_empty(), "{name}");
    }
    assert!(!desk.path(".infer-stack").exists(), "nothing was asked of any account");
}

#[test]
fn every_file_is_read_after_a_bad_one() {
    let desk = Desk::new();
    desk.write("bad.yaml", "name: X\n");
    let ran = desk.run("validate bad.yaml stacks/minimal.yaml").exits(65);
    assert!(ran.out.contains("stacks/minimal.yaml"), "{}", ran.out);
}

#[test]
fn what_is_no_text_at_all_is_65() {
    let desk = Desk::new();
    fs::write(desk.path("bytes.yaml"), [0xff, 0xfe, 0x00, 0x9f]).unwrap();
    desk.write("empty.yaml", "");
    desk.write("zero.yaml", "\0\0\0");
    desk.write("large.yaml", &"# much ado\n".repeat(200_000));
    desk.write("deep.yaml", &"[".repeat(100_000));
    desk.write("list.yaml", "- 1\n- 2\n");
    for file in ["bytes.yaml", "empty.yaml", "zero.yaml", "large.yaml", "deep.yaml", "list.yaml", "stacks", "none.yaml"]
    {
        let ran = desk.run(&format!("validate {file}")).exits(65);
        assert!(ran.err.contains(file), "{file}: {}", ran.err);
    }
}
