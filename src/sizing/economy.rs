//! Dollars, seconds and vCPUs that follow from sizes. Must never divide by a rate that is not one.

/// Dollars for a million tokens. `None` unless both are finite and the rate is above 0.
pub fn usd_per_million_tokens(tokens_per_second: f64, usd_per_hour: f64) -> Option<f64> {
    let known = tokens_per_second.is_finite() && tokens_per_second > 0.0 && usd_per_hour.is_finite();
    known.then(|| usd_per_hour * 1e6 / (tokens_per_second * 3600.0))
}

/// How many times more a token costs on hardware that is busy for a part of the time only. `None` unless the part is above
/// 0 and at most 1.
pub fn idle_multiplier(utilization: f64) -> Option<f64> {
    (utilization > 0.0 && utilization <= 1.0).then(|| 1.0 / utilization)
}

/// Least seconds in which weights pass a link, at its full rate. For a node with one ENA interface that is the IP bandwidth
/// of one card: EFA carries no S3 traffic. `None` without a rate.
pub fn load_seconds(bytes: u64, gbps: f64) -> Option<f64> {
    (gbps.is_finite() && gbps > 0.0).then(|| bytes as f64 * 8.0 / (gbps * 1e9))
}

/// vCPUs of a quota that nodes take. A rolling update takes its surge nodes on top: pass them in.
pub fn vcpus_needed(nodes: u32, vcpus_each: u32) -> u64 {
    u64::from(nodes) * u64::from(vcpus_each)
}

/// Nodes that a number of devices takes; `None` for nodes without any.
pub fn nodes_for_devices(devices: u32, devices_per_node: u32) -> Option<u32> {
    (devices_per_node > 0).then(|| devices.div_ceil(devices_per_node))
}

/// True where a group of pods, each with a node's devices, has exactly the ranks that the split needs.
pub fn group_matches(pods: u32, devices_per_pod: u32, tensor: u32, pipeline: u32) -> bool {
    u64::from(pods) * u64::from(devices_per_pod) == u64::from(tensor) * u64::from(pipeline)
}
