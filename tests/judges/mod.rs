//! Other AWS clients on the sandbox's port. They need programs that are not everybody's, so they run when asked:
//! `cargo test judges -- --ignored`.

use infer_stack::{
    cloud::memory::Scenario,
    sandbox::{Sandbox, serve::serve, world::World},
};
use jiff::Timestamp;
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs python3 with botocore"]
async fn the_library_of_python_reads_every_answer() {
    let base: Timestamp = "2026-12-01T12:00:00Z".parse().unwrap();
    let world = World::new("123456789012", Scenario::ready(), base.as_millisecond());
    let server = serve(Arc::new(Sandbox::new(world)), 0, 1, base).await.unwrap();
    let endpoint = format!("http://{}", server.address());
    let judge = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/judges/roundtrip.py");
    let run = tokio::task::spawn_blocking(move || {
        std::process::Command::new("python3").arg(judge).arg(endpoint).output().unwrap()
    });
    let output = run.await.unwrap();
    server.stop().await;
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}
