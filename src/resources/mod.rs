//! The registry of resource kinds: one file and one line a kind. Must never hold logic of a kind.

use crate::contract::AnyKind;

macro_rules! kinds {
    ($($module:ident :: $kind:ident),* $(,)?) => {
        $(pub mod $module;)*
        /// Every kind, in the order of the registry.
        pub static KINDS: &[&dyn AnyKind] = &[$(&$module::$kind),*];
    };
}

kinds! {}

/// The kind of that name.
pub fn kind(name: &str) -> Option<&'static dyn AnyKind> {
    KINDS.iter().copied().find(|kind| kind.name() == name)
}
