//! flumen-components
