//! This machine and process, for the lock. Must never guess that a process is dead.

use crate::{apply::Holder, cli::app::variable};
use std::path::Path;

/// This process, as a holder of the lock.
pub fn holder(run: &str, who: String) -> Holder {
    let read = |path: &str| std::fs::read_to_string(path).map(|text| text.trim().to_owned()).ok();
    Holder {
        run: run.to_owned(),
        who,
        host: read("/proc/sys/kernel/hostname")
            .or_else(|| variable("HOSTNAME"))
            .unwrap_or_else(|| "unknown".to_owned()),
        // Without a boot id no holder of another run counts as dead: its lease must run out.
        boot_id: read("/proc/sys/kernel/random/boot_id").unwrap_or_else(|| "unknown".to_owned()),
        pid: std::process::id(),
    }
}

/// True unless the system's process table says that there is no such process.
pub fn is_alive(pid: u32) -> bool {
    let table = Path::new("/proc");
    !table.join("self").exists() || table.join(pid.to_string()).exists()
}
