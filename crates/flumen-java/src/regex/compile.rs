//! A tree to instructions for the matcher.

use std::collections::HashMap;

use super::ast::{Alternatives, Assert, Behind, Fold, Kind, NO_LIMIT, Node, Tree};
use super::set::CharSet;
use super::study::loops;

/// Where in the program.
pub(super) type Pc = u32;
/// A group's start slot, or a register of a loop; an index into the matcher's slots.
pub(super) type Slot = u32;

/// One step of the matcher. Loops over what matches in one way only (`Atom…`) keep each turn as it is; general loops
/// (`Loop…`) may undo every step, as Java does.
#[derive(Debug, Clone)]
pub(super) enum Inst {
    Set(u32),
    Bytes(Box<[u8]>),
    /// `parts`: each character counts as a part, for `\b{g}`.
    SetLoop {
        set: u32,
        min: u32,
        max: u32,
        kind: Kind,
        parts: bool,
    },
    Assert(Assert),
    Cluster,
    BackReference {
        group: u32,
        fold: Fold,
    },
    /// Tries the next instruction, later `other`.
    Try {
        other: Pc,
    },
    /// Tries `other`, later the next instruction.
    TryOther {
        other: Pc,
    },
    Jump(Pc),
    GroupStart {
        begin: Slot,
    },
    GroupEnd {
        begin: Slot,
        group: u32,
    },
    AtomInit {
        count: Slot,
    },
    /// Begins a turn (two instructions on) or leaves; the instruction between takes a lazy turn.
    AtomLoop {
        count: Slot,
        min: u32,
        max: u32,
        kind: Kind,
        exit: Pc,
    },
    AtomMore {
        count: Slot,
        max: u32,
    },
    AtomEnd {
        count: Slot,
        min: u32,
        kind: Kind,
        group: Option<u32>,
        head: Pc,
    },
    LoopEnter {
        count: Slot,
        min: u32,
        max: u32,
        kind: Kind,
        exit: Pc,
    },
    LoopMore {
        count: Slot,
        max: u32,
    },
    LoopNext {
        count: Slot,
        begin: Slot,
        min: u32,
        max: u32,
        kind: Kind,
        enter: Pc,
        memo: Option<u32>,
    },
    /// Begins something whose inner choices are forgotten when it ends; `exit`: where to go on when it fails.
    Fence {
        exit: Option<Pc>,
    },
    /// Ends `(?>…)`.
    AtomicEnd,
    /// Ends a look-ahead.
    LookEnd {
        negative: bool,
    },
    Behind {
        range: Behind,
        negative: bool,
        exit: Pc,
    },
    BehindEnd {
        negative: bool,
    },
    Match,
}

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Program {
    pub insts: Vec<Inst>,
    pub sets: Vec<CharSet>,
    /// Slots of groups (two for each, the whole match first) and registers.
    pub slots: usize,
    pub memos: usize,
    /// The whole match and the groups.
    pub groups: usize,
    /// Bytes with which a match can begin, if it cannot be empty.
    pub first: Option<Box<[bool; 256]>>,
    /// What was matched before counts: turns of a loop that take nothing are not all the same.
    pub history: bool,
    /// Java's search skips places between surrogates.
    pub supplementary: bool,
    /// Only the start of the text is tried.
    pub from_start: bool,
}

/// Compiles a tree. The program has a few instructions for each node: its size follows from the pattern's.
pub(super) fn compile(tree: &Tree) -> Program {
    let mut compiler = Compiler {
        insts: Vec::new(),
        sets: Vec::new(),
        known: HashMap::new(),
        slots: 2 * (tree.groups + 1),
        memos: 0,
        remember: !tree.history,
    };
    compiler.alternatives(&tree.body);
    compiler.insts.push(Inst::Match);
    let mut first = Box::new([false; 256]);
    let starts = first_bytes(&tree.body, &mut first);
    Program {
        insts: compiler.insts,
        sets: compiler.sets,
        slots: compiler.slots as usize,
        memos: compiler.memos as usize,
        groups: tree.groups as usize + 1,
        first: starts.then_some(first),
        history: tree.history,
        supplementary: tree.supplementary,
        from_start: matches!(&tree.body[..], [one] if matches!(one.first(), Some(Node::Assert(Assert::Begin)))),
    }
}

struct Compiler {
    insts: Vec<Inst>,
    sets: Vec<CharSet>,
    known: HashMap<CharSet, u32>,
    slots: u32,
    memos: u32,
    /// Failed places of a loop may be remembered here: nothing around it is repeated.
    remember: bool,
}

impl Compiler {
    fn here(&self) -> Pc {
        self.insts.len() as Pc
    }

    fn slot(&mut self) -> Slot {
        self.slots += 1;
        self.slots - 1
    }

    fn push(&mut self, inst: Inst) -> usize {
        self.insts.push(inst);
        self.insts.len() - 1
    }

    fn set(&mut self, set: &CharSet) -> u32 {
        if let Some(&index) = self.known.get(set) {
            return index;
        }
        let index = self.sets.len() as u32;
        self.sets.push(set.clone());
        self.known.insert(set.clone(), index);
        index
    }

    fn alternatives(&mut self, body: &Alternatives) {
        let mut jumps = Vec::new();
        for (i, sequence) in body.iter().enumerate() {
            let last = i + 1 == body.len();
            let choice = (!last).then(|| self.push(Inst::Try { other: 0 }));
            self.sequence(sequence);
            if !last {
                jumps.push(self.push(Inst::Jump(0)));
            }
            if let Some(choice) = choice {
                self.insts[choice] = Inst::Try { other: self.here() };
            }
        }
        for jump in jumps {
            self.insts[jump] = Inst::Jump(self.here());
        }
    }

    fn sequence(&mut self, nodes: &[Node]) {
        for node in nodes {
            self.node(node);
        }
    }

    fn characters(&mut self, sets: &[CharSet]) {
        for set in sets {
            // Bytes that are no UTF-8 read as U+FFFD, so that is no plain text.
            match set.single().filter(|&c| c != 0xFFFD).and_then(char::from_u32) {
                Some(c) => {
                    let mut buffer = [0; 4];
                    let bytes = c.encode_utf8(&mut buffer).as_bytes();
                    match self.insts.last_mut() {
                        // Joined only within one literal: a jump never leads between its characters.
                        Some(Inst::Bytes(before)) if !std::ptr::eq(set, &sets[0]) => {
                            *before = [&before[..], bytes].concat().into();
                        }
                        _ => self.insts.push(Inst::Bytes(bytes.into())),
                    }
                }
                None => {
                    let set = self.set(set);
                    self.insts.push(Inst::Set(set));
                }
            }
        }
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Set(set) => self.characters(std::slice::from_ref(set)),
            Node::Slice(sets) => self.characters(sets),
            Node::Assert(assert) => self.insts.push(Inst::Assert(*assert)),
            Node::LineEnding => self.line_ending(),
            Node::Cluster => self.insts.push(Inst::Cluster),
            Node::BackReference { group, fold } => {
                self.insts.push(Inst::BackReference { group: *group, fold: *fold });
            }
            Node::Group { index: None, body } => self.alternatives(body),
            Node::Group { index: Some(group), body } => {
                let begin = self.slot();
                self.push(Inst::GroupStart { begin });
                self.alternatives(body);
                self.push(Inst::GroupEnd { begin, group: *group });
            }
            Node::Look { behind: None, negative, body } => {
                let fence = self.push(Inst::Fence { exit: None });
                self.alternatives(body);
                self.push(Inst::LookEnd { negative: *negative });
                if *negative {
                    self.insts[fence] = Inst::Fence { exit: Some(self.here()) };
                }
            }
            Node::Look { behind: Some(range), negative, body } => {
                let look = self.push(Inst::Match);
                self.alternatives(body);
                self.push(Inst::BehindEnd { negative: *negative });
                self.insts[look] = Inst::Behind { range: *range, negative: *negative, exit: self.here() };
            }
            Node::Atomic(body) => {
                self.push(Inst::Fence { exit: None });
                self.alternatives(body);
                self.push(Inst::AtomicEnd);
            }
            Node::Optional { body, kind } => self.optional(body, *kind),
            Node::Repeat { body, min, max, kind, counted } => {
                self.repeat(body, (*min, *max), *kind, *counted || *kind != Kind::Greedy);
            }
        }
    }

    fn line_ending(&mut self) {
        let single = CharSet::new(vec![(0xA, 0xD), (0x85, 0x85), (0x2028, 0x2029)]);
        let choice = self.push(Inst::Try { other: 0 });
        self.push(Inst::Bytes(b"\r\n"[..].into()));
        let jump = self.push(Inst::Jump(0));
        self.insts[choice] = Inst::Try { other: self.here() };
        let set = self.set(&single);
        self.push(Inst::Set(set));
        self.insts[jump] = Inst::Jump(self.here());
    }

    fn optional(&mut self, body: &Node, kind: Kind) {
        if let (Node::Group { .. }, Kind::Greedy | Kind::Lazy) = (body, kind) {
            let choice = self.push(Inst::Jump(0));
            self.inner(|c| c.node(body));
            let other = self.here();
            self.insts[choice] =
                if kind == Kind::Greedy { Inst::Try { other } } else { Inst::TryOther { other } };
        } else {
            self.repeat(body, (0, 1), kind, true);
        }
    }

    /// Compiles something within a repetition.
    fn inner(&mut self, build: impl FnOnce(&mut Compiler)) {
        let remember = std::mem::replace(&mut self.remember, false);
        build(self);
        self.remember = remember;
    }

    fn repeat(&mut self, body: &Node, (min, max): (u32, u32), kind: Kind, parts: bool) {
        if let Node::Set(set) = body {
            let set = self.set(set);
            self.push(Inst::SetLoop { set, min, max, kind, parts });
        } else if loops(body, kind) {
            self.general_loop(body, min, max, kind);
        } else {
            self.atom_loop(body, min, max, kind);
        }
    }

    fn atom_loop(&mut self, body: &Node, min: u32, max: u32, kind: Kind) {
        let count = self.slot();
        self.push(Inst::AtomInit { count });
        let head = self.push(Inst::Match);
        self.push(Inst::AtomMore { count, max });
        // A group's own limits are set by the loop, except when the loop is possessive.
        let group = match body {
            Node::Group { index, body } if kind != Kind::Possessive => {
                self.inner(|c| c.alternatives(body));
                *index
            }
            body => {
                self.inner(|c| c.node(body));
                None
            }
        };
        self.push(Inst::AtomEnd { count, min, kind, group, head: head as Pc });
        self.insts[head] = Inst::AtomLoop { count, min, max, kind, exit: self.here() };
    }

    fn general_loop(&mut self, body: &Node, min: u32, max: u32, kind: Kind) {
        let Node::Group { index, body } = body else { return };
        let (count, begin) = (self.slot(), self.slot());
        let memo = (self.remember && kind == Kind::Greedy && max == NO_LIMIT).then(|| {
            self.memos += 1;
            self.memos - 1
        });
        let enter = self.push(Inst::Match);
        self.push(Inst::LoopMore { count, max });
        self.push(Inst::GroupStart { begin });
        self.inner(|c| c.alternatives(body));
        if let Some(group) = *index {
            self.push(Inst::GroupEnd { begin, group });
        }
        self.push(Inst::LoopNext { count, begin, min, max, kind, enter: enter as Pc, memo });
        self.insts[enter] = Inst::LoopEnter { count, min, max, kind, exit: self.here() };
    }
}

/// Adds the bytes with which `body` can begin; false if it can be empty or looks around first.
fn first_bytes(body: &Alternatives, out: &mut [bool; 256]) -> bool {
    body.iter().all(|sequence| {
        for node in sequence {
            match first_of(node, out) {
                First::Always => return true,
                First::Maybe => {}
                First::Unknown => return false,
            }
        }
        false
    })
}

enum First {
    /// The node takes a character.
    Always,
    /// The node may take none; then the next one begins.
    Maybe,
    Unknown,
}

fn first_of(node: &Node, out: &mut [bool; 256]) -> First {
    match node {
        Node::Set(set) => add_first(set, out),
        Node::Slice(sets) => match sets.first() {
            Some(set) => add_first(set, out),
            None => First::Maybe,
        },
        Node::Group { body, .. } | Node::Atomic(body) => {
            if first_bytes(body, out) {
                First::Always
            } else {
                First::Unknown
            }
        }
        Node::Optional { body, .. } => match first_of(body, out) {
            First::Always | First::Maybe => First::Maybe,
            First::Unknown => First::Unknown,
        },
        Node::Repeat { body, min, max, .. } if *max > 0 => match first_of(body, out) {
            First::Always if *min > 0 => First::Always,
            First::Always | First::Maybe => First::Maybe,
            First::Unknown => First::Unknown,
        },
        Node::Assert(Assert::Begin | Assert::Word { .. } | Assert::LineBegin { .. }) => First::Maybe,
        _ => First::Unknown,
    }
}

fn add_first(set: &CharSet, out: &mut [bool; 256]) -> First {
    for (byte, known) in out.iter_mut().enumerate() {
        *known |= if byte < 128 { set.has(byte as u32) } else { set.meets(128, super::set::MAX) };
    }
    First::Always
}
