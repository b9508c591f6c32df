//! YAML text as a tree that knows its places. Must never interpret a field, and never grow beyond its budget.

use super::diagnostic::{Diagnostic, Diagnostics, Place};
use super::{environment, syntax};
use granit_parser::{Event, Marker, Parser, ScalarStyle, Span, Tag};
use std::collections::HashMap;

/// Bytes of a file: the contract's 1 MiB.
pub(super) const MAX_BYTES: usize = 1 << 20;
/// Deeper than any stack file by an order of magnitude, and far below what recursion over the tree could not bear.
const MAX_DEPTH: usize = 64;
/// One for each node and each 32 bytes of its text, aliases counted in full. The largest honest file
/// (hundreds of classes) costs a tenth of it.
const BUDGET: usize = 100_000;

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub place: Place,
    pub kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Vec<Entry>),
    /// Could not be read, and has been reported.
    Broken,
}

#[derive(Clone, Debug)]
pub(super) struct Scalar {
    pub text: String,
    /// Written without quotes, so that `1` is a number and `true` a boolean.
    pub plain: bool,
    /// Holds an expanded `${env:…}`. Flow collections can't hold one without quotes, so quotes around one leave its
    /// type open.
    pub expanded: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub key: String,
    pub key_place: Place,
    pub value: Node,
}

impl Node {
    /// YAML 1.2 core schema; an absent value too.
    pub fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar(s) if s.plain && matches!(s.text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    fn cost(&self) -> usize {
        1 + match &self.kind {
            Kind::Scalar(scalar) => scalar.text.len() / 32,
            Kind::List(items) => items.iter().map(Node::cost).sum(),
            Kind::Map(entries) => entries.iter().map(|e| 1 + e.key.len() / 32 + e.value.cost()).sum(),
            Kind::Broken => 0,
        }
    }
}

/// Documents of the text that could be read; what could not is in `found`. Empty documents are left out.
pub(super) fn documents(text: &str, env: &dyn Fn(&str) -> Option<String>, found: &mut Diagnostics) -> Vec<Node> {
    let options = granit_parser::options! {
        emit_comments: false,
        emit_unresolved_aliases: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut grower =
        Grower { lines: Lines::of(text), env, found, documents: Vec::new(), spent: 0, state: State::default() };
    while let Some(next) = parser.next_event() {
        let step = match next {
            Ok((event, span)) => grower.event(event, span),
            Err(error) => {
                let place = grower.lines.at_marker(error.marker());
                grower.found.push(syntax::diagnostic(&grower.lines, text, place, error.kind()));
                grower.state = State { broken: true, ..State::default() };
                match parser.proceed_next_document() {
                    Ok(true) => Ok(()),
                    Ok(false) => Err(Stop),
                    Err(error) => {
                        let place = grower.lines.at_marker(error.marker());
                        grower.found.push(syntax::diagnostic(&grower.lines, text, place, error.kind()));
                        Err(Stop)
                    }
                }
            }
        };
        if step.is_err() {
            break;
        }
    }
    grower.documents
}

/// The file can't be read any further; the reason is among the diagnostics.
struct Stop;

#[derive(Default)]
struct State {
    stack: Vec<Frame>,
    anchors: HashMap<usize, Node>,
    /// The document has an error that leaves holes in its tree.
    broken: bool,
}

struct Frame {
    place: Place,
    anchor: usize,
    grows: Grows,
}

enum Grows {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, seen: HashMap<String, Place>, key: Option<(Option<String>, Place)>, merged: Vec<Node> },
}

struct Grower<'a> {
    lines: Lines<'a>,
    env: &'a dyn Fn(&str) -> Option<String>,
    found: &'a mut Diagnostics,
    documents: Vec<Node>,
    spent: usize,
    state: State,
}

impl Grower<'_> {
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Stop> {
        let place = self.lines.at_span(&span);
        match event {
            Event::DocumentStart(..) => self.state = State::default(),
            Event::Scalar(text, style, anchor, tag) => {
                let kind = self.scalar(&text, style, tag.as_deref(), place, &span);
                return self.grown(Node { place, kind }, anchor);
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.refuse_tag(tag.as_deref(), place);
                self.open(place, anchor, Grows::List(Vec::new()))?;
            }
            Event::MappingStart(_, anchor, tag) => {
                self.refuse_tag(tag.as_deref(), place);
                let grows = Grows::Map { entries: Vec::new(), seen: HashMap::new(), key: None, merged: Vec::new() };
                self.open(place, anchor, grows)?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(frame) = self.state.stack.pop() {
                    let kind = match frame.grows {
                        Grows::List(items) => Kind::List(items),
                        Grows::Map { entries, seen, merged, .. } => Kind::Map(merge(entries, &seen, merged)),
                    };
                    return self.place_node(Node { place: frame.place, kind }, frame.anchor);
                }
            }
            Event::Alias(id) => {
                let Some(target) = self.state.anchors.get(&id) else {
                    self.fail(
                        "recursive-alias",
                        place,
                        "an alias inside what it stands for",
                        "this can never end: write the value out",
                    );
                    return self.grown(Node { place, kind: Kind::Broken }, 0);
                };
                self.spent += target.cost();
                self.within_budget(place)?;
                let target = self.state.anchors[&id].clone();
                return self.place_node(target, 0);
            }
            Event::UnresolvedAlias(name) => {
                self.fail(
                    "unknown-anchor",
                    place,
                    format!("no anchor `&{name}` before this alias"),
                    format!("put `&{name}` at the value it stands for, above; or quote a text that starts with `*`"),
                );
                return self.grown(Node { place, kind: Kind::Broken }, 0);
            }
            _ => {}
        }
        Ok(())
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, tag: Option<&Tag>, place: Place, span: &Span) -> Kind {
        let as_text = tag.is_some_and(|tag| tag.is_yaml_core_schema_tag("str"));
        self.refuse_tag(tag, place);
        let plain = style == ScalarStyle::Plain && !as_text;
        let is_key = matches!(self.state.stack.last(), Some(Frame { grows: Grows::Map { key: None, .. }, .. }));
        if is_key || !text.contains("${env:") {
            return Kind::Scalar(Scalar { text: text.to_owned(), plain, expanded: false });
        }
        let source = self.lines.source(span);
        match environment::expand(text, source, self.env) {
            Ok(text) => Kind::Scalar(Scalar { text, plain, expanded: true }),
            Err(missing) => {
                let place = self.lines.within(place, source, missing.at, missing.length);
                self.fail(missing.rule, place, missing.message, missing.label);
                Kind::Broken
            }
        }
    }

    fn refuse_tag(&mut self, tag: Option<&Tag>, place: Place) {
        let Some(tag) = tag else { return };
        let known = ["str", "int", "float", "bool", "null", "seq", "map"];
        if !known.iter().any(|name| tag.is_yaml_core_schema_tag(name)) {
            self.fail(
                "tag",
                place,
                format!("the YAML tag `{}` has no meaning in a stack file", tag.original()),
                "leave the tag out; quote a text that starts with `!`",
            );
        }
    }

    fn open(&mut self, place: Place, anchor: usize, grows: Grows) -> Result<(), Stop> {
        self.spent += 1;
        self.within_budget(place)?;
        self.state.stack.push(Frame { place, anchor, grows });
        Ok(())
    }

    /// A finished leaf.
    fn grown(&mut self, node: Node, anchor: usize) -> Result<(), Stop> {
        self.spent += node.cost();
        self.within_budget(node.place)?;
        self.place_node(node, anchor)
    }

    fn place_node(&mut self, node: Node, anchor: usize) -> Result<(), Stop> {
        if anchor != 0 {
            self.spent += node.cost();
            self.within_budget(node.place)?;
            self.state.anchors.insert(anchor, node.clone());
        }
        let Some(frame) = self.state.stack.last_mut() else {
            if !self.state.broken && !node.is_null() {
                self.documents.push(node);
            }
            return Ok(());
        };
        match &mut frame.grows {
            Grows::List(items) => items.push(node),
            Grows::Map { entries, seen, key, .. } => match key.take() {
                Some((Some(name), _)) if name == "<<" => return self.keep_merge(node),
                Some((Some(name), key_place)) => {
                    seen.insert(name.clone(), key_place);
                    entries.push(Entry { key: name, key_place, value: node });
                }
                Some((None, _)) => {}
                None => {
                    let name = match node.kind {
                        Kind::Scalar(scalar) if !seen.contains_key(&scalar.text) => Ok(scalar.text),
                        Kind::Scalar(scalar) => Err(Diagnostic::error(
                            "duplicate-key",
                            node.place,
                            format!("`{}` is written twice", scalar.text),
                            "YAML would silently keep one: leave one out",
                        )
                        .related(seen[&scalar.text], "first here")),
                        Kind::List(_) | Kind::Map(_) | Kind::Broken => Err(Diagnostic::error(
                            "complex-key",
                            node.place,
                            "a list or mapping can't be a key",
                            "quote a text that starts with `[` or `{`",
                        )),
                    };
                    match name {
                        Ok(name) => *key = Some((Some(name), node.place)),
                        Err(diagnostic) => {
                            *key = Some((None, node.place));
                            self.found.push(diagnostic);
                        }
                    }
                }
            },
        }
        Ok(())
    }

    fn keep_merge(&mut self, node: Node) -> Result<(), Stop> {
        let place = node.place;
        let sources = match node.kind {
            Kind::List(items) => items,
            kind => vec![Node { place, kind }],
        };
        let wrong = sources
            .iter()
            .find(|source| !matches!(source.kind, Kind::Map(_) | Kind::Broken))
            .map(|source| source.place);
        if let Some(Frame { grows: Grows::Map { merged, .. }, .. }) = self.state.stack.last_mut() {
            merged.extend(sources);
        }
        if let Some(place) = wrong {
            self.fail("merge", place, "`<<` merges mappings only", "name an anchor of a mapping, or a list of such");
        }
        Ok(())
    }

    fn within_budget(&mut self, place: Place) -> Result<(), Stop> {
        if self.spent <= BUDGET {
            return Ok(());
        }
        self.fail(
            "too-large",
            place,
            format!("the file holds more than {BUDGET} values once its aliases are followed"),
            "read no further than here; write fewer aliases, or split the file",
        );
        self.documents.clear();
        Err(Stop)
    }

    fn fail(&mut self, rule: &'static str, place: Place, message: impl Into<String>, label: impl Into<String>) {
        self.found.push(Diagnostic::error(rule, place, message, label));
    }
}

/// Own keys win over merged ones, earlier sources over later ones, as YAML's merge key says.
fn merge(mut entries: Vec<Entry>, seen: &HashMap<String, Place>, merged: Vec<Node>) -> Vec<Entry> {
    let mut added = HashMap::new();
    for source in merged {
        let Kind::Map(more) = source.kind else { continue };
        for entry in more {
            if !seen.contains_key(&entry.key) && added.insert(entry.key.clone(), ()).is_none() {
                entries.push(entry);
            }
        }
    }
    entries
}

/// Turns the parser's marks into places, always inside one line.
pub(super) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub fn of(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    pub fn place(&self, start: usize, end: usize) -> Place {
        let floor = |mut at: usize| {
            at = at.min(self.text.len());
            while !self.text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = floor(start);
        let line = self.starts.partition_point(|&at| at <= start);
        let line_start = self.starts[line - 1];
        let line_end = self.starts.get(line).map_or(self.text.len(), |&next| next - 1);
        let end = floor(end).clamp(start, line_end.max(start));
        let end = start + self.text[start..end].trim_end().len();
        // A byte-order mark takes no column.
        let before = self.text[line_start..start].trim_start_matches('\u{feff}');
        Place { line, column: before.chars().count() + 1, start, end }
    }

    fn at_marker(&self, mark: &Marker) -> Place {
        let at = self.offset(mark);
        let next = self.text[at..].chars().next().map_or(0, char::len_utf8);
        self.place(at, at + next)
    }

    fn at_span(&self, span: &Span) -> Place {
        self.place(self.offset(&span.start), self.offset(&span.end))
    }

    fn offset(&self, mark: &Marker) -> usize {
        if let Some(at) = mark.byte_offset().filter(|&at| self.text.is_char_boundary(at)) {
            return at;
        }
        self.text.char_indices().nth(mark.index()).map_or(self.text.len(), |(at, _)| at)
    }

    fn source(&self, span: &Span) -> &'a str {
        let (start, end) = (self.offset(&span.start), self.offset(&span.end));
        self.text.get(start..end.max(start)).unwrap_or("")
    }

    /// The place of `length` bytes at `at` of `source`, which starts at `place`.
    fn within(&self, place: Place, source: &str, at: usize, length: usize) -> Place {
        if at + length > source.len() {
            return place;
        }
        self.place(place.start + at, place.start + at + length)
    }
}
