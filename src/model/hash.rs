//! Short stable hashes for names and tokens. Must never be used where somebody may want to forge one.

use sha2::{Digest, Sha256};

/// Lower-case hex digits of a stable hash, `n` of them, 64 at most.
pub fn hash(text: &str, n: usize) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>().chars().take(n).collect()
}
