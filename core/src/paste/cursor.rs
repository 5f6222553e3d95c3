//! A place in a text, and the line that it is in.

/// Goes through a text line by line, and over objects that span lines.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// The number of the current line, from 1.
    pub(super) line: usize,
    /// No object that begins in what follows is known to end: a search would go through the whole text each time.
    hopeless: bool,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, line: 1, hopeless: false }
    }

    /// What is left.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// What is left of the current line; `None` at the end of the text.
    pub(super) fn peek(&self) -> Option<&'a str> {
        let rest = self.rest();
        if rest.is_empty() { None } else { Some(rest.split('\n').next().unwrap_or(rest)) }
    }

    /// Goes to the next line.
    pub(super) fn pass_line(&mut self) {
        let rest = self.rest();
        match rest.find('\n') {
            Some(end) => {
                self.at += end + 1;
                self.line += 1;
            }
            None => self.at = self.text.len(),
        }
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
        let paragraph = rest.get(..end_of_paragraph(rest)).unwrap_or(rest);
        let searched = if self.hopeless { paragraph } else { rest };
        match end_of_object(searched) {
            Some(end) => Ok(rest.get(..end).unwrap_or(rest)),
            None => {
                self.hopeless = true;
                Err(paragraph)
            }
        }
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
