//! Which network interfaces a node is launched with, and how many pods they leave room for. Must never exceed a card.

use crate::catalog::InstanceType;
use serde::{Deserialize, Serialize};

/// One interface of a launch template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Interface {
    /// `NetworkCardIndex`
    pub card: u32,
    /// `DeviceIndex`, counted on its card.
    pub device: u32,
    pub kind: InterfaceKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum InterfaceKind {
    /// IP only.
    #[serde(rename = "interface")]
    Ena,
    /// IP and EFA in one: the primary interface of types with a single card.
    Efa,
    /// EFA only: takes no address, can't be primary.
    #[serde(rename = "efa-only")]
    EfaOnly,
}

impl InterfaceKind {
    /// EC2's `InterfaceType`.
    pub fn aws(self) -> &'static str {
        match self {
            InterfaceKind::Ena => "interface",
            InterfaceKind::Efa => "efa",
            InterfaceKind::EfaOnly => "efa-only",
        }
    }

    pub fn is_efa(self) -> bool {
        self != InterfaceKind::Ena
    }

    /// True where the interface takes an IP address of its subnet.
    pub fn has_address(self) -> bool {
        self != InterfaceKind::EfaOnly
    }
}

/// The layout that the general rule of the EC2 guide gives: an ENA primary, then one EFA a card, on card 0 beside the
/// primary where that card has EFA. `None` where the type has no EFA, or its cards can't hold the count.
pub fn by_rule(instance_type: &InstanceType) -> Option<Vec<Interface>> {
    let cards = u32::try_from(instance_type.network_cards.len()).ok()?;
    let efa = instance_type.efa_max;
    if efa == 0 || efa > cards {
        return None;
    }
    if cards == 1 {
        return Some(vec![Interface { card: 0, device: 0, kind: InterfaceKind::Efa }]);
    }
    let mut layout = vec![Interface { card: 0, device: 0, kind: InterfaceKind::Ena }];
    // Fewer EFA than cards: the cards from 0 on that are one too many carry IP only, as on p6-b300.
    layout.extend((cards - efa..cards).map(|card| Interface {
        card,
        device: u32::from(card == 0),
        kind: InterfaceKind::EfaOnly,
    }));
    fits(instance_type, &layout).then_some(layout)
}

/// Cuts a layout down to `count` EFA interfaces; `None` where it has fewer.
pub fn first(layout: &[Interface], count: u32) -> Option<Vec<Interface>> {
    let mut left = count;
    let mut kept = Vec::with_capacity(layout.len());
    for interface in layout {
        if !interface.kind.is_efa() {
            kept.push(*interface);
        } else if left > 0 {
            left -= 1;
            kept.push(*interface);
        } else if interface.card == 0 && interface.device == 0 {
            // The primary stays, as plain ENA.
            kept.push(Interface { kind: InterfaceKind::Ena, ..*interface });
        }
    }
    (left == 0).then_some(kept)
}

/// The same interfaces with an `efa` primary split into ENA and `efa-only` on the same card: Karpenter's
/// `networkInterfaces` refuses `efa`. `None` where a card lacks the room.
pub fn split(instance_type: &InstanceType, layout: &[Interface]) -> Option<Vec<Interface>> {
    let mut parts = Vec::with_capacity(layout.len() + 1);
    for interface in layout {
        if interface.kind == InterfaceKind::Efa && interface.device == 0 {
            parts.push(Interface { kind: InterfaceKind::Ena, ..*interface });
            parts.push(Interface { card: interface.card, device: 1, kind: InterfaceKind::EfaOnly });
        } else {
            parts.push(*interface);
        }
    }
    fits(instance_type, &parts).then_some(parts)
}

/// True where no device index goes beyond what its card holds.
pub fn fits(instance_type: &InstanceType, layout: &[Interface]) -> bool {
    layout.iter().all(|interface| {
        instance_type
            .network_cards
            .get(interface.card as usize)
            .is_some_and(|card| interface.device < card.max_interfaces)
    })
}

/// `maxPods` of a node with these interfaces: what vpc-cni can address from the default card, two pods of the host's
/// network, at most the 110 (under 30 vCPU) or 250 that EKS enforces. nodeadm by itself overlooks that an `efa-only` on
/// card 0 takes one of the card's slots: it says 100 for p5.48xlarge, where 51 fit.
pub fn max_pods(instance_type: &InstanceType, layout: &[Interface]) -> u32 {
    let slots = instance_type.network_cards.first().map_or(0, |card| card.max_interfaces);
    let taken = layout.iter().filter(|i| i.card == 0 && !i.kind.has_address()).count();
    let usable = slots.saturating_sub(u32::try_from(taken).unwrap_or(u32::MAX));
    let cap = if instance_type.vcpus < 30 { 110 } else { 250 };
    (usable * instance_type.ipv4_per_interface.saturating_sub(1) + 2).min(cap)
}
