# What people do every day. `just` lists it.

default:
    @just --list

# Everything pure: seconds, no AWS SDK.
check:
    cargo clippy --no-default-features --all-targets -- -D warnings
    cargo test --no-default-features

# Formats everything, the modules that a macro declares too.
fmt:
    cargo fmt --all
    rustfmt --edition 2024 src/resources/*.rs src/resources/*/*.rs

# What lands: formatting, lints and tests of both builds.
ci:
    .ci/run

# The main job on the simulated account.
demo:
    cargo run -- up stacks/llama-70b.yaml --sandbox --yes

# Writes schema/, the command reference and the golden plans again; look at the difference before you keep it.
generate:
    INFER_STACK_GENERATE=1 cargo test --no-default-features -- generated goldens
    git diff --stat

# Planning time at 200, 2,000 and 20,000 objects; the schedule against its critical path.
bench:
    cargo bench --no-default-features
