//! Lengths and determinism of a part of a pattern as Java computes them. They decide what a look-behind tries and whether
//! a repeated group may be taken apart again, so Java's order of additions and its overflows are kept.

use super::ast::{Alternatives, Kind, Node};

/// What Java knows about a part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lengths {
    pub min: i32,
    pub max: i32,
    /// `max` means something.
    pub limited: bool,
    /// There is one way at most to match from a place.
    pub deterministic: bool,
}

const NOTHING: Lengths = Lengths { min: 0, max: 0, limited: true, deterministic: true };

/// Lengths of a group's body.
pub(super) fn study(body: &Alternatives) -> Lengths {
    let mut study = Study::new(NOTHING);
    study.alternatives(body);
    study.finish()
}

/// One pass over connected nodes. After a branch Java counts from zero and adds what was before at the end.
struct Study {
    now: Lengths,
    before: Vec<Lengths>,
    /// After a loop Java looks no further.
    stopped: bool,
}

impl Study {
    fn new(now: Lengths) -> Study {
        Study { now, before: Vec::new(), stopped: false }
    }

    fn finish(mut self) -> Lengths {
        while let Some(before) = self.before.pop() {
            self.now.min = self.now.min.wrapping_add(before.min);
            self.now.max = self.now.max.wrapping_add(before.max);
            self.now.limited &= before.limited;
            self.now.deterministic = false;
        }
        self.now
    }

    fn add(&mut self, min: i32, max: i32) {
        self.now.min = self.now.min.wrapping_add(min);
        self.now.max = self.now.max.wrapping_add(max);
    }

    fn alternatives(&mut self, body: &Alternatives) {
        if let [only] = &body[..] {
            self.sequence(only);
        } else {
            self.branch(body.iter().map(|s| sequence(s, NOTHING)).collect());
        }
    }

    fn branch(&mut self, parts: Vec<Lengths>) {
        if self.stopped {
            return;
        }
        let (mut min, mut max) = (i32::MAX, -1);
        for part in parts {
            min = min.min(part.min);
            max = max.max(part.max);
            self.now.limited &= part.limited;
        }
        self.add(min, max);
        self.before.push(self.now);
        self.now = NOTHING;
    }

    fn sequence(&mut self, nodes: &[Node]) {
        for node in nodes {
            if self.stopped {
                return;
            }
            self.node(node);
        }
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Set(_) => self.add(1, 1),
            Node::Slice(chars) => self.add(chars.len() as i32, chars.len() as i32),
            Node::Assert(_) | Node::Look { .. } => {}
            Node::LineEnding => self.add(1, 2),
            // Java forgets the maximum: a look-behind for a cluster never matches.
            Node::Cluster => {
                self.add(1, 0);
                self.now.deterministic = false;
            }
            Node::BackReference { .. } => self.now.limited = false,
            Node::Group { body, .. } => self.alternatives(body),
            Node::Atomic(body) => {
                let mut inner = Study::new(self.now);
                inner.alternatives(body);
                self.now = inner.finish();
            }
            Node::Optional { body, kind } => match &**body {
                Node::Group { body, .. } if *kind != Kind::Possessive => {
                    self.branch(vec![study(body), NOTHING])
                }
                body => {
                    let min = self.now.min;
                    self.now = sequence(std::slice::from_ref(body), self.now);
                    self.now.min = min;
                    self.now.deterministic = false;
                }
            },
            Node::Repeat { body, min, max, kind, counted } => {
                self.repeat(body, (*min, *max), *kind, *counted)
            }
        }
    }

    fn repeat(&mut self, body: &Node, (min, max): (u32, u32), kind: Kind, counted: bool) {
        if body.is_set() && kind == Kind::Greedy && !counted {
            // Wraps for the second one: such a look-behind never matches.
            self.add(min as i32, if self.now.limited { i32::MAX } else { 0 });
            self.now.deterministic = false;
            return;
        }
        if loops(body, kind) {
            self.now.limited = false;
            self.now.deterministic = false;
            self.stopped = true;
            return;
        }
        let before = self.now;
        let one = sequence(std::slice::from_ref(body), NOTHING);
        let total = one.min.wrapping_mul(min as i32).wrapping_add(before.min);
        self.now.min = if total < before.min { 0x0FFF_FFFF } else { total };
        if before.limited && one.limited {
            self.now.max = one.max.wrapping_mul(max as i32).wrapping_add(before.max);
            self.now.limited = self.now.max >= before.max;
        } else {
            self.now.limited = false;
        }
        self.now.deterministic = before.deterministic && one.deterministic && min == max;
    }
}

/// A repeated group whose body can match in several ways: Java's general loop.
pub(super) fn loops(body: &Node, kind: Kind) -> bool {
    match body {
        Node::Group { body, .. } => kind != Kind::Possessive && !study(body).deterministic,
        _ => false,
    }
}

fn sequence(nodes: &[Node], from: Lengths) -> Lengths {
    let mut study = Study::new(from);
    study.sequence(nodes);
    study.finish()
}
