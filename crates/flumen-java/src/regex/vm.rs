//! The matcher: a backtracking machine with its own stack, which gives Java's answers, captures kept from earlier tries
//! included, and which stops after a number of steps.

use super::ast::Kind;
use super::compile::{Inst, Pc, Program};
use super::text::{char_at, char_before, unit_after};

/// "Not set" in a slot.
pub(super) const UNSET: usize = usize::MAX;
/// Steps of one search, at least.
const MIN_STEPS: u64 = 10_000_000;
/// Steps allowed for each byte of a long text.
const STEPS_PER_BYTE: u64 = 20;
/// Entries on the stack.
const MAX_STACK: usize = 1 << 20;
/// Entries for which the stack is kept after a search.
const KEPT_STACK: usize = 1 << 14;

/// The search was given up.
#[derive(Debug)]
pub(super) struct TooComplex;

/// What to undo or to try when a path fails.
#[derive(Debug)]
enum Entry {
    /// Go on at `pc`.
    Branch { pc: Pc, pos: usize },
    /// Go on at `pc` with one character less, not below `least`.
    Shorter { pc: Pc, pos: usize, least: usize },
    /// Go on at `pc` with one character of the set more, `left` times.
    Longer { pc: Pc, pos: usize, set: u32, left: u32 },
    /// A slot's earlier value.
    Slot { slot: u32, old: usize },
    /// A general loop's turn from `pos` failed: remember that and leave the loop.
    LoopFailed { pc: Pc, pos: usize, memo: Option<u32> },
    /// Begin of something atomic.
    Fence { outer: usize, pos: usize, exit: Option<Pc> },
    /// A look-behind at `pos`: the next place to begin is `next`, the last one `last`.
    Behind { pc: Pc, outer: usize, pos: usize, next: Option<usize>, last: usize },
}

/// Working memory of the matcher, kept between searches.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    stack: Vec<Entry>,
    /// Groups and registers.
    pub slots: Vec<usize>,
    memos: Vec<Vec<u64>>,
    /// Where the last part or match ended; `\b{g}` counts clusters from there.
    pub last: usize,
}

/// How a match must lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    /// Anywhere from the start on.
    None,
    /// At the start.
    Start,
    /// From the start to the end of the text.
    Both,
}

/// Searches from `from`. `\G` holds at `previous`. Found: the first slots are the match and its groups.
pub(super) fn search(
    program: &Program,
    scratch: &mut Scratch,
    text: &[u8],
    from: usize,
    previous: usize,
    anchor: Anchor,
) -> Result<bool, TooComplex> {
    scratch.slots.clear();
    scratch.slots.resize(program.slots, UNSET);
    scratch.memos.resize_with(program.memos, Vec::new);
    scratch.memos.iter_mut().for_each(Vec::clear);
    let steps = MIN_STEPS.max(text.len() as u64 * STEPS_PER_BYTE);
    let mut machine =
        Machine { program, text, previous, full: anchor == Anchor::Both, fence: UNSET, steps, scratch };
    let result = machine.search(from, anchor);
    if scratch.stack.capacity() > KEPT_STACK {
        scratch.stack = Vec::new();
    }
    if scratch.memos.iter().any(|m| m.capacity() > KEPT_STACK) {
        scratch.memos = Vec::new();
    }
    result
}

pub(super) struct Machine<'a> {
    pub(super) program: &'a Program,
    pub(super) text: &'a [u8],
    pub(super) previous: usize,
    full: bool,
    /// Where on the stack the innermost atomic part begins.
    fence: usize,
    steps: u64,
    pub(super) scratch: &'a mut Scratch,
}

/// Where the machine goes on.
type Next = Option<(Pc, usize)>;

impl Machine<'_> {
    fn search(&mut self, from: usize, anchor: Anchor) -> Result<bool, TooComplex> {
        let mut pos = from;
        loop {
            let hopeless = match &self.program.first {
                Some(first) => self.text.get(pos).is_none_or(|&b| !first[usize::from(b)]),
                None => false,
            };
            if !hopeless {
                if let Some(end) = self.run(pos)? {
                    self.scratch.slots[0] = pos;
                    self.scratch.slots[1] = end;
                    self.scratch.last = end;
                    return Ok(true);
                }
            } else {
                self.spend(1)?;
            }
            if anchor != Anchor::None || self.program.from_start {
                return Ok(false);
            }
            let next = if self.program.supplementary {
                char_at(self.text, pos).map(|(_, end)| end)
            } else {
                unit_after(self.text, pos)
            };
            match next {
                Some(next) => pos = next,
                None => return Ok(false),
            }
        }
    }

    fn spend(&mut self, steps: u64) -> Result<(), TooComplex> {
        self.steps = self.steps.checked_sub(steps).ok_or(TooComplex)?;
        Ok(())
    }

    fn push(&mut self, entry: Entry) {
        self.scratch.stack.push(entry);
    }

    fn assign(&mut self, slot: u32, value: usize) {
        let old = std::mem::replace(&mut self.scratch.slots[slot as usize], value);
        self.push(Entry::Slot { slot, old });
    }

    fn slot(&self, slot: u32) -> usize {
        self.scratch.slots[slot as usize]
    }

    /// Tries to match at `pos`; the end of the match.
    fn run(&mut self, pos: usize) -> Result<Option<usize>, TooComplex> {
        self.scratch.stack.clear();
        self.fence = UNSET;
        let mut at: Next = Some((0, pos));
        loop {
            self.spend(1)?;
            if self.scratch.stack.len() > MAX_STACK {
                return Err(TooComplex);
            }
            let Some((pc, pos)) = at.or_else(|| self.backtrack()) else { return Ok(None) };
            let inst = &self.program.insts[pc as usize];
            if let Inst::Match = inst {
                if !self.full || pos == self.text.len() {
                    return Ok(Some(pos));
                }
                at = None;
                continue;
            }
            at = self.step(inst, pc, pos)?;
        }
    }

    fn step(&mut self, inst: &Inst, pc: Pc, pos: usize) -> Result<Next, TooComplex> {
        let on = Some((pc + 1, pos));
        Ok(match *inst {
            Inst::Set(set) => match char_at(self.text, pos) {
                Some((c, end)) if self.program.sets[set as usize].has(c) => Some((pc + 1, end)),
                _ => None,
            },
            Inst::Bytes(ref bytes) => {
                let rest = self.text.get(pos..).unwrap_or_default();
                rest.starts_with(bytes).then_some((pc + 1, pos + bytes.len()))
            }
            Inst::SetLoop { set, min, max, kind, parts } => {
                self.set_loop((pc, pos), set, (min, max), kind, parts)?
            }
            Inst::Assert(assert) => self.holds(assert, pos).then_some((pc + 1, pos)),
            Inst::Cluster => {
                let end = super::grapheme::end_of_cluster(self.text, pos);
                (end > pos).then_some((pc + 1, end))
            }
            Inst::BackReference { group, fold } => {
                let end = self.refer(group, fold, pos);
                self.spend(end.map_or(0, |e| (e - pos) as u64 / 8))?;
                end.map(|end| (pc + 1, end))
            }
            Inst::Try { other } => {
                self.push(Entry::Branch { pc: other, pos });
                on
            }
            Inst::TryOther { other } => {
                self.push(Entry::Branch { pc: pc + 1, pos });
                Some((other, pos))
            }
            Inst::Jump(to) => Some((to, pos)),
            Inst::GroupStart { begin } => {
                self.assign(begin, pos);
                on
            }
            Inst::GroupEnd { begin, group } => {
                let start = self.slot(begin);
                self.set_group(group, start, pos);
                on
            }
            Inst::AtomInit { count } => {
                self.assign(count, 0);
                on
            }
            Inst::AtomLoop { count, min, max, kind, exit } => {
                self.atom_loop(pc, pos, self.slot(count), (min, max), kind, exit)
            }
            Inst::AtomMore { count, max } => {
                if self.slot(count) >= max as usize {
                    return Ok(None);
                }
                self.begin(pos, None);
                on
            }
            Inst::AtomEnd { count, min, kind, group, head } => {
                self.atom_end(pos, count, min, kind, group, head)
            }
            Inst::LoopEnter { count, min, max, kind, exit } => {
                self.assign(count, 0);
                self.loop_enter(pc, pos, (min, max), kind, exit)
            }
            Inst::LoopMore { count, max } => {
                let turns = self.slot(count);
                if turns >= max as usize {
                    return Ok(None);
                }
                self.assign(count, turns + 1);
                on
            }
            Inst::LoopNext { count, begin, min, max, kind, enter, memo } => {
                let turns = (self.slot(count), min as usize, max as usize);
                self.loop_next((pc, pos), turns, self.slot(begin), kind, enter, memo)
            }
            Inst::Fence { exit } => {
                self.begin(pos, exit);
                on
            }
            Inst::AtomicEnd => {
                self.end();
                self.scratch.last = pos;
                on
            }
            Inst::LookEnd { negative } => {
                let start = self.end();
                self.scratch.last = pos;
                if negative { None } else { Some((pc + 1, start)) }
            }
            Inst::Behind { range, exit, .. } => {
                debug_assert!(exit > pc);
                self.begin_behind(pc, pos, range)?;
                None
            }
            Inst::BehindEnd { negative } => self.end_behind(negative, pc, pos),
            Inst::Match => None,
        })
    }

    /// Before a loop's first turn: in, past it, or one with the other to come back to.
    fn loop_enter(&mut self, pc: Pc, pos: usize, (min, max): (u32, u32), kind: Kind, exit: Pc) -> Next {
        let (inside, past) = (Some((pc + 1, pos)), Some((exit, pos)));
        if max == 0 {
            past
        } else if min > 0 {
            inside
        } else if kind == Kind::Lazy {
            self.push(Entry::Branch { pc: pc + 1, pos });
            past
        } else {
            self.push(Entry::Branch { pc: exit, pos });
            inside
        }
    }

    /// After a turn of a loop that began at `begin`: another one, or past it.
    fn loop_next(
        &mut self,
        (pc, pos): (Pc, usize),
        (turns, min, max): (usize, usize, usize),
        begin: usize,
        kind: Kind,
        enter: Pc,
        memo: Option<u32>,
    ) -> Next {
        let (more, exit) = (Some((enter + 1, pos)), Some((pc + 1, pos)));
        if pos <= begin {
            exit
        } else if turns < min {
            more
        } else if turns >= max {
            exit
        } else if kind == Kind::Lazy {
            self.push(Entry::Branch { pc: enter + 1, pos });
            exit
        } else if memo.is_some_and(|memo| self.failed_before(memo, pos)) {
            exit
        } else {
            self.push(Entry::LoopFailed { pc: pc + 1, pos, memo });
            more
        }
    }

    /// Begins a look-behind at the nearest place that it may begin at.
    fn begin_behind(&mut self, pc: Pc, pos: usize, range: super::ast::Behind) -> Result<(), TooComplex> {
        let (next, last) = super::look::places_behind(self.text, pos, range);
        self.spend(next.map_or(0, |n| (pos - n) as u64 / 8))?;
        self.push(Entry::Behind { pc: pc + 1, outer: self.fence, pos, next, last });
        self.fence = self.scratch.stack.len() - 1;
        Ok(())
    }

    /// The end of a look-behind: it holds where it ends at the place from which it looks back.
    fn end_behind(&mut self, negative: bool, pc: Pc, pos: usize) -> Next {
        match self.scratch.stack.get(self.fence) {
            Some(Entry::Behind { pos: start, .. }) if *start == pos => {
                self.end();
                (!negative).then_some((pc + 1, pos))
            }
            _ => None,
        }
    }

    fn set_group(&mut self, group: u32, start: usize, end: usize) {
        self.assign(2 * group, start);
        self.assign(2 * group + 1, end);
    }

    /// Begins something atomic.
    fn begin(&mut self, pos: usize, exit: Option<Pc>) {
        self.push(Entry::Fence { outer: self.fence, pos, exit });
        self.fence = self.scratch.stack.len() - 1;
    }

    /// Ends it: its choices are dropped, and what it captured is not undone any more. Where it began.
    fn end(&mut self) -> usize {
        let fence = self.fence;
        let (outer, pos) = match self.scratch.stack.get(fence) {
            Some(Entry::Fence { outer, pos, .. } | Entry::Behind { outer, pos, .. }) => (*outer, *pos),
            _ => (UNSET, 0),
        };
        self.scratch.stack.truncate(fence);
        self.fence = outer;
        pos
    }

    fn atom_loop(
        &mut self,
        pc: Pc,
        pos: usize,
        turns: usize,
        (min, max): (u32, u32),
        kind: Kind,
        exit: Pc,
    ) -> Next {
        let turn = Some((pc + 2, pos));
        if turns < min as usize {
            self.begin(pos, None);
            return turn;
        }
        if kind == Kind::Lazy {
            self.push(Entry::Branch { pc: pc + 1, pos });
            return Some((exit, pos));
        }
        if turns >= max as usize {
            return Some((exit, pos));
        }
        self.begin(pos, Some(exit));
        turn
    }

    fn atom_end(
        &mut self,
        pos: usize,
        count: u32,
        min: u32,
        kind: Kind,
        group: Option<u32>,
        head: Pc,
    ) -> Next {
        let Inst::AtomLoop { exit, .. } = self.program.insts[head as usize] else { return None };
        let start = self.end();
        self.scratch.last = pos;
        let turns = self.slot(count);
        if turns < min as usize {
            // An empty turn is the same as all the others.
            let turns = if pos == start && !self.program.history { min as usize } else { turns + 1 };
            self.assign(count, turns);
        } else if pos == start {
            return if kind == Kind::Lazy { None } else { Some((exit, pos)) };
        } else {
            if kind == Kind::Greedy {
                self.push(Entry::Branch { pc: exit, pos: start });
            }
            self.assign(count, turns + 1);
        }
        if let Some(group) = group {
            self.set_group(group, start, pos);
        }
        Some((head, pos))
    }

    fn set_loop(
        &mut self,
        (pc, pos): (Pc, usize),
        set: u32,
        (min, max): (u32, u32),
        kind: Kind,
        parts: bool,
    ) -> Result<Next, TooComplex> {
        let members = &self.program.sets[set as usize];
        let (mut end, mut taken, mut least) = (pos, 0, pos);
        let wanted = if kind == Kind::Lazy { min } else { max };
        while taken < wanted {
            match char_at(self.text, end) {
                Some((c, next)) if members.has(c) => end = next,
                _ => break,
            }
            taken += 1;
            if taken == min {
                least = end;
            }
        }
        if parts && taken > 0 {
            self.scratch.last = end;
        }
        self.spend((end - pos) as u64 / 8)?;
        if taken < min {
            return Ok(None);
        }
        match kind {
            Kind::Greedy if end > least => self.push(Entry::Shorter { pc: pc + 1, pos: end, least }),
            Kind::Lazy if max > min => {
                self.push(Entry::Longer { pc: pc + 1, pos: end, set, left: max - min })
            }
            _ => {}
        }
        Ok(Some((pc + 1, end)))
    }

    fn failed_before(&self, memo: u32, pos: usize) -> bool {
        self.scratch.memos[memo as usize].get(pos / 64).is_some_and(|word| word >> (pos % 64) & 1 == 1)
    }

    /// Undoes and drops entries up to the next thing to try.
    fn backtrack(&mut self) -> Next {
        while let Some(entry) = self.scratch.stack.pop() {
            match entry {
                Entry::Slot { slot, old } => self.scratch.slots[slot as usize] = old,
                Entry::Branch { pc, pos } => return Some((pc, pos)),
                Entry::Shorter { pc, pos, least } => {
                    let (_, shorter) = char_before(self.text, pos)?;
                    let shorter = shorter.max(least);
                    if shorter > least {
                        self.push(Entry::Shorter { pc, pos: shorter, least });
                    }
                    return Some((pc, shorter));
                }
                Entry::Longer { pc, pos, set, left } => match char_at(self.text, pos) {
                    Some((c, end)) if self.program.sets[set as usize].has(c) => {
                        self.scratch.last = end;
                        if left > 1 {
                            self.push(Entry::Longer { pc, pos: end, set, left: left - 1 });
                        }
                        return Some((pc, end));
                    }
                    _ => {}
                },
                Entry::LoopFailed { pc, pos, memo } => {
                    if let Some(memo) = memo {
                        let words = self.text.len() / 64 + 1;
                        let memo = &mut self.scratch.memos[memo as usize];
                        memo.resize(words, 0);
                        memo[pos / 64] |= 1 << (pos % 64);
                    }
                    return Some((pc, pos));
                }
                Entry::Fence { outer, pos, exit } => {
                    self.fence = outer;
                    if let Some(exit) = exit {
                        return Some((exit, pos));
                    }
                }
                Entry::Behind { pc, outer, pos, next, last } => {
                    if let Some(start) = next {
                        let next = super::look::place_before(self.text, self.behind(pc), start, last);
                        self.push(Entry::Behind { pc, outer, pos, next, last });
                        return Some((pc, start));
                    }
                    self.fence = outer;
                    if let Inst::Behind { negative: true, exit, .. } = self.program.insts[pc as usize - 1] {
                        return Some((exit, pos));
                    }
                }
            }
        }
        None
    }

    fn behind(&self, pc: Pc) -> bool {
        matches!(self.program.insts[pc as usize - 1], Inst::Behind { range, .. } if range.supplementary)
    }
}
