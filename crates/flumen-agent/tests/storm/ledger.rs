//! The observer: which events were acknowledged for which channel, and which came out of it.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering},
    },
};

/// All ledgers by number: components find theirs by a property.
static ALL: Mutex<BTreeMap<u64, Arc<Ledger>>> = Mutex::new(BTreeMap::new());

/// What one agent has acknowledged and delivered.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    next: AtomicU64,
    books: Mutex<HashMap<String, Book>>,
}

/// The events of one channel, by number.
#[derive(Debug, Default)]
struct Book {
    acknowledged: HashSet<u64>,
    delivered: HashMap<u64, u32>,
}

impl Ledger {
    /// A fresh ledger under this number.
    pub(crate) fn new(number: u64) -> Arc<Self> {
        let ledger = Arc::new(Self::default());
        ALL.lock().unwrap().insert(number, ledger.clone());
        ledger
    }

    pub(crate) fn find(number: u64) -> Option<Arc<Self>> {
        ALL.lock().unwrap().get(&number).cloned()
    }

    /// Numbers that no other event of the ledger has.
    pub(crate) fn numbers(&self, n: u64) -> std::ops::Range<u64> {
        let first = self.next.fetch_add(n, Ordering::Relaxed);
        first..first + n
    }

    pub(crate) fn acknowledge(&self, channel: &str, numbers: std::ops::Range<u64>) {
        self.books().entry(channel.to_owned()).or_default().acknowledged.extend(numbers);
    }

    pub(crate) fn deliver(&self, channel: &str, numbers: impl Iterator<Item = u64>) {
        let mut books = self.books();
        let book = books.entry(channel.to_owned()).or_default();
        numbers.for_each(|number| *book.delivered.entry(number).or_default() += 1);
    }

    /// Whatever was acknowledged was delivered, or is among those that the stop has counted as left; and once, unless a
    /// reload was cut off.
    pub(crate) fn assert_nothing_lost(&self, left: &BTreeMap<String, u64>, twice_is_fine: bool) {
        let books = self.books();
        assert!(books.values().any(|book| book.delivered.len() > 10), "hardly anything was delivered");
        for (channel, book) in &*books {
            let missing =
                book.acknowledged.iter().filter(|number| !book.delivered.contains_key(number)).count();
            let left = left.get(channel).copied().unwrap_or(0);
            assert!(
                missing as u64 <= left,
                "channel {channel}: {missing} events are lost, {left} are left in it"
            );
            let twice = book.delivered.values().filter(|times| **times > 1).count();
            assert!(twice_is_fine || twice == 0, "channel {channel}: {twice} events came twice");
        }
    }

    fn books(&self) -> MutexGuard<'_, HashMap<String, Book>> {
        self.books.lock().unwrap()
    }
}
