//! flumen-channels
