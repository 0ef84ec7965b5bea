//! Keeps what is logged on a thread, for tests of messages.

use std::{
    fmt::{self, Write},
    future::Future,
    sync::{Arc, Mutex},
};
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

/// Which lines are kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept {
    /// The least severe level.
    pub(crate) most: Level,
    /// What the target must begin with.
    pub(crate) target: &'static str,
}

/// A message, then its fields.
#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a String cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}

struct Keeper {
    kept: Kept,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Subscriber for Keeper {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with(self.kept.target) && *metadata.level() <= self.kept.most
    }
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        self.lines.lock().unwrap().push(line.message + &line.fields);
    }
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

impl Kept {
    /// The lines that are logged while this runs, on one thread.
    pub(crate) fn while_running(self, work: impl Future<Output = ()>) -> Vec<String> {
        let lines = Arc::default();
        let _guard = tracing::subscriber::set_default(Keeper { kept: self, lines: Arc::clone(&lines) });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(work);
        std::mem::take(&mut *lines.lock().unwrap())
    }
}

/// The warnings and errors of this crate, one a line.
pub(crate) fn logged(work: impl Future<Output = ()>) -> String {
    Kept { most: Level::WARN, target: "flumen_components" }.while_running(work).join("\n")
}
