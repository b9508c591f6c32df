//! How long AWS takes to make and to delete things, as seen elsewhere. Must never be a limit: patience is the kinds' own.

use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// Seconds until ready, least and most; `None`: not known.
    pub create: Option<(u32, u32)>,
    /// Seconds until gone.
    pub delete: Option<(u32, u32)>,
    /// `None`: an estimate.
    pub source: Option<String>,
}

impl Timing {
    /// Middle of the range in which creations were seen, in seconds.
    pub fn expected_create(&self) -> Option<u32> {
        self.create.map(middle)
    }

    /// Middle of the range in which deletions were seen, in seconds.
    pub fn expected_delete(&self) -> Option<u32> {
        self.delete.map(middle)
    }
}

fn middle((least, most): (u32, u32)) -> u32 {
    least.midpoint(most)
}
