//! A place in a text, and the line that it is in.

/// Goes through a text line by line, and over objects that span lines. Ends are looked for once: a line may hold
/// thousands of objects.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// The number of the current line, from 1.
    pub(super) line: usize,
    /// Where the current line ends, as far as that is known.
    line_end: usize,
    /// Where the next blank line begins, as far as that is known.
    paragraph_end: usize,
    /// No object that begins in what follows is known to end: a search would go through the whole text each time.
    hopeless: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, line: 1, line_end: 0, paragraph_end: 0, hopeless: false }
    }

    /// What is left.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// What is left of the current line; `None` at the end of the text.
    pub(super) fn peek(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        if rest.is_empty() {
            return None;
        }
        if self.line_end <= self.at {
            self.line_end = self.at + rest.find('\n').unwrap_or(rest.len());
        }
        self.text.get(self.at..self.line_end)
    }

    /// Goes to the next line.
    pub(super) fn pass_line(&mut self) {
        let left = self.peek().map_or(0, str::len);
        self.at = (self.at + left + 1).min(self.text.len());
        self.line += 1;
    }

    /// Goes behind so many bytes, which end where a character does.
    pub(super) fn pass(&mut self, bytes: usize) {
        self.line += lines_in(self.rest().get(..bytes).unwrap_or_default());
        self.at += bytes;
    }

    /// The object or list that begins here, up to the bracket that closes it. If none does, what stands before the next
    /// blank line.
    pub(super) fn object(&mut self) -> Result<&'a str, &'a str> {
        let rest = self.rest();
        let searched = if self.hopeless { self.paragraph() } else { rest };
        match end_of_object(searched) {
            Some(end) => Ok(rest.get(..end).unwrap_or(rest)),
            None => {
                self.hopeless = true;
                Err(self.paragraph())
            }
        }
    }

    fn paragraph(&mut self) -> &'a str {
        if self.paragraph_end <= self.at {
            self.paragraph_end = self.at + end_of_paragraph(self.rest());
        }
        self.text.get(self.at..self.paragraph_end).unwrap_or_default()
    }
}

/// How many lines end in a text.
pub(super) fn lines_in(text: &str) -> usize {
    text.bytes().filter(|&byte| byte == b'\n').count()
}

fn end_of_paragraph(text: &str) -> usize {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() {
            break;
        }
        end += line.len();
    }
    end
}

/// The first byte behind the bracket that closes the first one. Brackets in texts do not count.
fn end_of_object(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(open), _) => {
                if byte == open {
                    quote = None;
                }
            }
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'{' | b'[') => depth += 1,
            (None, b'}' | b']') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            (None, _) => {}
        }
    }
    None
}
