//! Event streams (`text/event-stream`), read as they arrive (HTML Standard, section 9.2.6).

use std::mem;

/// The kind of an event if the stream names none.
const DEFAULT_KIND: &str = "message";
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// Its kind; `message` if the stream names none.
    pub kind: String,
    /// Its data.
    pub data: String,
}

/// An event is longer than the parser's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is too long")]
pub struct EventTooLong;

/// Reads the events of a stream from its chunks, which may end anywhere.
///
/// ```
/// use mcp_wire::client::EventParser;
///
/// let mut parser = EventParser::new(1000);
/// assert!(parser.push(b": a comment\ndata: one\r")?.is_empty());
/// let events = parser.push(b"\ndata: two\r\n\r\n")?;
/// assert_eq!(events[0].data, "one\ntwo");
/// # Ok::<(), mcp_wire::client::EventTooLong>(())
/// ```
#[derive(Debug)]
pub struct EventParser {
    max_event_bytes: usize,
    /// The bytes of a line whose end has not arrived.
    line: Vec<u8>,
    /// Whether the last line ended with a carriage return, which a line feed may follow.
    after_carriage_return: bool,
    is_first_line: bool,
    kind: Vec<u8>,
    /// The data lines so far, each with a line feed.
    data: Vec<u8>,
}

impl EventParser {
    /// A parser at the start of a stream whose events have at most `max_event_bytes`.
    pub fn new(max_event_bytes: usize) -> Self {
        Self {
            max_event_bytes,
            line: Vec::new(),
            after_carriage_return: false,
            is_first_line: true,
            kind: Vec::new(),
            data: Vec::new(),
        }
    }

    /// Reads a chunk; returns the events that it completes.
    ///
    /// # Errors
    /// If an event is too long. The rest of the stream cannot be read then.
    pub fn push(&mut self, chunk: &[u8]) -> Result<Vec<Event>, EventTooLong> {
        let mut events = Vec::new();
        for piece in chunk.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            if mem::take(&mut self.after_carriage_return) && piece == b"\n" {
                continue;
            }
            let (text, ends_line) = match piece {
                [text @ .., b'\n' | b'\r'] => (text, true),
                text => (text, false),
            };
            if self.line.len() + self.data.len() + text.len() > self.max_event_bytes {
                return Err(EventTooLong);
            }
            self.line.extend_from_slice(text);
            if ends_line {
                self.after_carriage_return = piece.ends_with(b"\r");
                events.extend(self.end_line());
            }
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = mem::take(&mut self.line);
        let mut line = line.as_slice();
        if mem::take(&mut self.is_first_line) {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if line.is_empty() {
            return self.end_event();
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"event" => self.kind = value.to_vec(),
            b"data" => {
                self.data.extend_from_slice(value);
                self.data.push(b'\n');
            }
            // `id` and `retry` are for resuming a stream. A line without a field is a comment.
            _ => {}
        }
        None
    }

    /// Ends an event. An event without data is ignored.
    fn end_event(&mut self) -> Option<Event> {
        let (kind, data) = (mem::take(&mut self.kind), mem::take(&mut self.data));
        let data = data.strip_suffix(b"\n")?;
        let kind = if kind.is_empty() { DEFAULT_KIND.into() } else { String::from_utf8_lossy(&kind) };
        Some(Event { kind: kind.into_owned(), data: String::from_utf8_lossy(data).into_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events(stream: &[u8]) -> Vec<(String, String)> {
        let events = EventParser::new(1000).push(stream).unwrap();
        events.into_iter().map(|event| (event.kind, event.data)).collect()
    }

    #[test]
    fn fields_are_read_as_the_standard_defines() {
        for (stream, expect) in [
            ("data: a\n\n", &[("message", "a")][..]),
            ("data:a\rdata:  b\r\r", &[("message", "a\n b")]),
            ("event: ping\r\ndata: {}\r\n\r\ndata\n\n", &[("ping", "{}"), ("message", "")]),
            ("\u{feff}data: a\n\n", &[("message", "a")]),
            (": comment\n\nid: 7\nretry: 5\ndata: a\nother: b\n\n", &[("message", "a")]),
            ("event: x\n\ndata: a\n\n", &[("message", "a")]),
            ("data: not complete\n", &[]),
            ("data : a\n\n", &[]),
            ("\n\n\r\n", &[]),
        ] {
            let expect: Vec<_> = expect.iter().map(|(kind, data)| ((*kind).into(), (*data).into())).collect();
            assert_eq!(events(stream.as_bytes()), expect, "{stream:?}");
        }
        assert_eq!(events(b"data: \xff\n\n"), [("message".into(), "\u{fffd}".into())]);
    }

    #[test]
    fn the_length_of_an_event_is_limited() {
        let mut parser = EventParser::new(10);
        assert_eq!(parser.push(b"data: 1234\n\ndata: 5678\n\n").unwrap().len(), 2);
        assert_eq!(parser.push(b"data: 12345"), Err(EventTooLong));
        let mut parser = EventParser::new(10);
        assert_eq!(parser.push(b"data: 1\ndata: 2\ndata: 3\n\n"), Err(EventTooLong));
    }

    /// Bytes that often have a meaning in a stream.
    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            proptest::sample::select(vec![
                "data", "event", ":", " ", "\n", "\r", "\r\n", "\n\n", "\u{feff}", "é"
            ])
            .prop_map(|text| text.as_bytes().to_vec()),
            any::<Vec<u8>>(),
        ];
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn chunks_may_be_divided_anywhere(stream in stream(), cuts: Vec<prop::sample::Index>) {
            let whole = EventParser::new(usize::MAX).push(&stream).unwrap();
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
            cuts.sort_unstable();
            let mut parser = EventParser::new(usize::MAX);
            let (mut events, mut start) = (Vec::new(), 0);
            for end in cuts.into_iter().chain([stream.len()]) {
                events.extend(parser.push(&stream[start..end]).unwrap());
                start = end;
            }
            prop_assert_eq!(events, whole);
        }

        #[test]
        fn any_data_survives_a_round_trip(data in "[^\r]*", ending in proptest::sample::select(vec!["\n", "\r", "\r\n"])) {
            let mut stream = String::new();
            for line in data.split('\n') {
                stream.push_str(&format!("data: {line}{ending}"));
            }
            stream.push_str(ending);
            prop_assert_eq!(EventParser::new(usize::MAX).push(stream.as_bytes()).unwrap(), [
                Event { kind: "message".to_owned(), data },
            ]);
        }
    }
}
