//! Writes what every component counts to the log, one line each, from time to time.

use super::json::{texts, type_word};
use crate::agent::Board;
use flumen_core::source::Shutdown;
use std::{sync::Arc, time::Duration};

/// Runs until told to stop.
pub(super) async fn run(every: Duration, board: Arc<Board>, mut shutdown: Shutdown) {
    loop {
        tokio::select! {
            biased;
            () = shutdown.requested() => return,
            () = tokio::time::sleep(every) => {}
        }
        write_lines(&board);
    }
}

/// Writes a line for each component.
pub(crate) fn write_lines(board: &Board) {
    for component in board.report() {
        let all = component.readings.iter().flat_map(texts);
        let line: Vec<String> = all.map(|(name, value)| format!("{name}={value}")).collect();
        tracing::info!(
            "{}.{} {} {}",
            type_word(component.kind),
            component.name,
            component.state,
            line.join(" ")
        );
    }
}
