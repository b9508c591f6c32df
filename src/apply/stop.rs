//! How a run is told to stop, in levels. Must never listen to signals itself: whoever does raises the level.

use tokio::sync::watch;

/// Nothing new is started; what runs settles.
pub const SETTLE: u8 = 1;
/// Waiting ends too; what is in flight is journaled.
pub const LEAVE: u8 = 2;

/// The end that is told.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<u8>);

/// The end that tells.
#[derive(Clone, Debug)]
pub struct StopHandle(watch::Sender<u8>);

pub fn stop() -> (StopHandle, Stop) {
    let (sender, receiver) = watch::channel(0);
    (StopHandle(sender), Stop(receiver))
}

impl StopHandle {
    /// Levels only rise.
    pub fn raise(&self, level: u8) {
        self.0.send_if_modified(|now| {
            let rises = *now < level;
            *now = level.max(*now);
            rises
        });
    }

    /// One level more: each Ctrl-C is one.
    pub fn press(&self) -> u8 {
        self.0.send_modify(|level| *level = level.saturating_add(1));
        *self.0.borrow()
    }
}

impl Stop {
    pub fn level(&self) -> u8 {
        *self.0.borrow()
    }

    /// Returns once the level is at least `level`; never, when nobody is left who could raise it.
    pub async fn reached(&self, level: u8) {
        let mut receiver = self.0.clone();
        if receiver.wait_for(|now| *now >= level).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
