//! Sizes of an FSx for Lustre file system of type PERSISTENT_2 on SSD, the one we make. Must never round a wish by itself.

/// MB/s per TiB that PERSISTENT_2 on SSD takes (`PerUnitStorageThroughput`).
pub const THROUGHPUTS: [u32; 4] = [125, 250, 500, 1000];

/// A size that FSx refuses, with what it would take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FsxSize {
    #[error("throughput {0} MB/s per TiB: FSx takes 125, 250, 500 or 1000")]
    Throughput(u32),
    #[error("capacity {got} GiB: FSx takes 1200, 2400 and then steps of 2400 GiB; near it are {}", or(.near))]
    Capacity { got: u32, near: Vec<u32> },
    #[error(
        "capacity {got} GiB: with EFA and {throughput} MB/s per TiB FSx takes steps of {step} GiB; near it are {}",
        or(.near)
    )]
    CapacityWithEfa { got: u32, throughput: u32, step: u32, near: Vec<u32> },
}

fn or(near: &[u32]) -> String {
    near.iter().map(u32::to_string).collect::<Vec<_>>().join(" and ")
}

/// Checks capacity (GiB) and throughput (MB/s per TiB) as CreateFileSystem does (FSx API,
/// CreateFileSystemLustreConfiguration).
pub fn check(capacity: u32, throughput: u32, efa: bool) -> Result<(), FsxSize> {
    let step = capacity_step(throughput, efa).ok_or(FsxSize::Throughput(throughput))?;
    if (capacity > 0 && capacity.is_multiple_of(step)) || (!efa && capacity == 1200) {
        return Ok(());
    }
    let below = (capacity / step) * step;
    let smallest = if efa { step } else { 1200 };
    let mut near: Vec<u32> = [below, below.saturating_add(step)].into_iter().filter(|&size| size > 0).collect();
    if below == 0 && !efa && capacity < smallest {
        near = vec![smallest];
    } else if below == 0 && !efa {
        near = vec![smallest, step];
    }
    Err(if efa {
        FsxSize::CapacityWithEfa { got: capacity, throughput, step, near }
    } else {
        FsxSize::Capacity { got: capacity, near }
    })
}

/// GiB between two sizes beyond the first; `None` for a throughput that FSx does not take.
pub fn capacity_step(throughput: u32, efa: bool) -> Option<u32> {
    match (throughput, efa) {
        (125 | 250 | 500 | 1000, false) => Some(2400),
        (125, true) => Some(38_400),
        (250, true) => Some(19_200),
        (500, true) => Some(9_600),
        (1000, true) => Some(4_800),
        _ => None,
    }
}

/// MB/s of a whole file system: the bound for reads of what it has cached.
pub fn throughput_mbps(capacity: u32, throughput: u32) -> f64 {
    f64::from(capacity) / 1024.0 * f64::from(throughput)
}

/// True for a `MetadataConfiguration` IOPS value: 1500, 3000, 6000, then steps of 12000 to 192000.
pub fn is_metadata_iops(iops: u32) -> bool {
    matches!(iops, 1500 | 3000 | 6000) || (iops.is_multiple_of(12_000) && (12_000..=192_000).contains(&iops))
}
