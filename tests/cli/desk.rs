//! A folder with the stack files and a simulated account, and the binary run in it.

use assert_cmd::Command;
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};
use tempfile::TempDir;

pub const ACCOUNT: &str = "123456789012";
const WORLD: &str = ".infer-stack/sandbox.json";

pub struct Desk {
    folder: TempDir,
}

/// What a run left: exit code, stdout, stderr.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
    args: String,
}

/// Stems of every file in `stacks/`.
pub fn stacks() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("stacks"))
        .unwrap()
        .filter_map(|entry| Some(entry.unwrap().file_name().to_str()?.strip_suffix(".yaml")?.to_owned()))
        .collect();
    names.sort();
    assert!(names.len() > 5, "the stack files are not where this test looks");
    names
}

impl Desk {
    /// An account of scenario `ready` that does not exist before it is first used.
    pub fn new() -> Self {
        let desk = Self { folder: tempfile::tempdir().unwrap() };
        for name in stacks() {
            let file = format!("stacks/{name}.yaml");
            desk.write(&file, &fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&file)).unwrap());
        }
        desk
    }

    pub fn of_scenario(scenario: &str) -> Self {
        let desk = Self::new();
        desk.run(&format!("sandbox reset --scenario {scenario}")).exits(0);
        desk
    }

    /// Where `stacks/minimal.yaml` is up.
    pub fn with_minimal_up() -> Self {
        static WORLD_OF_MINIMAL: OnceLock<String> = OnceLock::new();
        let world = WORLD_OF_MINIMAL.get_or_init(|| {
            let desk = Self::new();
            desk.run("up stacks/minimal.yaml --yes").exits(0);
            desk.read(WORLD)
        });
        let desk = Self::new();
        desk.write(WORLD, world);
        desk
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    pub fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    /// A stack file with some of its text replaced, under a new name.
    pub fn edit(&self, stack: &str, file: &str, changes: &[(&str, &str)]) {
        let mut text = self.read(&format!("stacks/{stack}.yaml"));
        for (from, to) in changes {
            assert!(text.contains(from), "{stack} says nothing of `{from}`");
            text = text.replacen(from, to, 1);
        }
        self.write(file, &text);
    }

    /// The simulated account.
    pub fn world(&self) -> Value {
        serde_json::from_str(&self.read(WORLD)).unwrap()
    }

    pub fn set_world(&self, world: &Value) {
        self.write(WORLD, &world.to_string());
    }

    /// Kinds of what exists in the account, through the binary.
    pub fn census(&self) -> Vec<String> {
        let status = self.run("sandbox status --json").exits(0).json();
        status["objects"].as_array().unwrap().iter().map(|o| o["kind"].as_str().unwrap().to_owned()).collect()
    }

    /// Runs the binary with `--sandbox`; arguments are parted at blanks.
    pub fn run(&self, args: &str) -> Ran {
        self.with(args, &[], "")
    }

    pub fn with(&self, args: &str, environment: &[(&str, &str)], stdin: &str) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_infer-stack"));
        command.current_dir(self.folder.path()).env_clear().env("LC_ALL", "C.UTF-8");
        command.envs(environment.iter().copied()).args(args.split_whitespace());
        if !args.contains("--sandbox") {
            command.arg("--sandbox");
        }
        let output = command.write_stdin(stdin).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the program writes UTF-8");
        let ran = Ran {
            code: output.status.code().unwrap_or_else(|| panic!("{args}: ended by a signal")),
            out: text(output.stdout),
            err: text(output.stderr),
            args: args.to_owned(),
        };
        assert!(!ran.err.contains("panicked"), "{args}\n{}", ran.err);
        ran
    }
}

impl Ran {
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n--- out\n{}\n--- err\n{}", self.args, self.out, self.err);
        self
    }

    /// stdout as one JSON document.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{}: {error}\n{}", self.args, self.out))
    }

    /// stdout as one JSON value a line.
    #[track_caller]
    pub fn lines(&self) -> Vec<Value> {
        let read =
            |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{}: {error}\n{line}", self.args));
        self.out.lines().map(read).collect()
    }

    #[track_caller]
    pub fn says(self, words: &[&str]) -> Self {
        for word in words {
            let found = self.out.contains(word) || self.err.contains(word);
            assert!(found, "{} does not say `{word}`\n--- out\n{}\n--- err\n{}", self.args, self.out, self.err);
        }
        self
    }
}
