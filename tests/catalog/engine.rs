//! Flags are known by the version in an image's tag, and of no version that nobody read.

use infer_stack::catalog::Catalog;

fn knows(image: &str, flag: &str) -> Option<bool> {
    Catalog::compiled().engine_flags(image).map(|flags| flags.contains(flag))
}

#[test]
fn an_image_is_known_by_its_tag_wherever_it_comes_from() {
    for image in ["vllm/vllm-openai:v0.29.0", "vllm-openai:0.29", "host:5000/vllm:v0.29.1-efa@sha256:0a1b"] {
        assert_eq!(knows(image, "--nnodes"), Some(true), "{image}");
        assert_eq!(knows(image, "--swap-space"), Some(false), "{image}");
    }
    assert_eq!(knows("vllm/vllm-openai:v0.11.0", "--swap-space"), Some(true));
}

#[test]
fn nothing_is_said_of_a_version_nobody_read() {
    for image in ["vllm:v0.30.0", "vllm:latest", "vllm", "host:5000/vllm", "vllm@sha256:0a1b", "vllm:v0.", "", "a:.29"]
    {
        assert_eq!(knows(image, "--nnodes"), None, "{image}");
    }
}
