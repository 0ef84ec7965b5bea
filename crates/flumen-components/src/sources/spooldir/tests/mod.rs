//! Files that are put into a directory: what is delivered, what becomes of them, and what is remembered.

mod aside;
mod behaviours;
mod faults;
mod java;
mod order;
mod restarts;
mod running;
mod suite;
mod support;

use super::*;
use support::{Doing, Spooling, lines};
