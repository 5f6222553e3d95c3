//! Goes through a text and finds out, line by line, what it is.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::cursor::Cursor;
use super::found::Found;
use super::tables::{self, Table};
use super::{MAX_BYTES, MAX_LINES, lists, log, objects};
use crate::model::Topic;
use crate::plan::said;
use crate::report::ConsumerSeen;

/// What a text says.
pub(super) fn read(text: &str) -> Found {
    let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
    let found = Found::of_one(lines);
    let mut reader = Reader { found, table: None, ids: Vec::new(), topic: None, trace: None };
    let read = reader.within_bounds(text);
    let mut cursor = Cursor::new(read);
    while let Some(line) = cursor.peek() {
        if line.trim().is_empty() {
            reader.blank();
            cursor.pass_line();
        } else if objects::begins(cursor.rest()) {
            reader.object(&mut cursor);
        } else {
            reader.line(cursor.line, line.trim_end());
            cursor.pass_line();
        }
    }
    reader.blank();
    reader.found
}

struct Reader {
    found: Found,
    /// The table that rows belong to.
    table: Option<Table>,
    /// The ids of a list, up to the next blank line: one twice if two processes have it.
    ids: Vec<ConsumerSeen>,
    /// The topic of the command whose output follows.
    topic: Option<Topic>,
    /// Where a stack trace began, its first line, and how many lines it has.
    trace: Option<(usize, String, usize)>,
}

impl Reader {
    /// What of a text is read; the rest is a problem.
    fn within_bounds<'a>(&mut self, text: &'a str) -> &'a str {
        let mut end = text.len().min(MAX_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let mut limit = (end < text.len())
            .then(|| said!("at most {MAX_BYTES} bytes in one paste", "一次粘贴最多 {MAX_BYTES} 字节"));
        let kept = text.get(..end).unwrap_or_default();
        if let Some((at, _)) = kept.match_indices('\n').nth(MAX_LINES - 1) {
            if at + 1 < text.len() {
                end = at + 1;
                limit = Some(said!("at most {MAX_LINES} lines in one paste", "一次粘贴最多 {MAX_LINES} 行"));
            }
        }
        let (kept, rest) = text.split_at(end);
        if let Some(limit) = limit {
            let first = kept.matches('\n').count() + 1;
            let lines = rest.lines().filter(|line| !line.trim().is_empty()).count();
            if lines > 0 {
                self.found.problem(first, lines, rest, limit);
            }
        }
        kept
    }

    fn blank(&mut self) {
        self.end_table();
        self.end_trace();
        let ids = core::mem::take(&mut self.ids);
        self.found.consumers(ids);
    }

    fn end_table(&mut self) {
        if let Some(table) = self.table.take() {
            table.end(&mut self.found);
        }
    }

    fn object(&mut self, cursor: &mut Cursor<'_>) {
        self.blank();
        let line = cursor.line;
        let (text, whole) = match cursor.object() {
            Ok(text) => (text, true),
            Err(text) => (text, false),
        };
        if whole {
            objects::read(&mut self.found, text, line, self.topic.as_ref());
        } else {
            let lines = text.lines().count();
            let expected = said!("the bracket that closes this one", "与此配对的右括号");
            self.found.problem(line, lines, text, expected);
        }
        cursor.pass(text.len());
        // What follows on the line where the object ends is read as a line of its own.
        match cursor.peek() {
            Some(rest) if rest.trim().is_empty() => cursor.pass_line(),
            Some(rest) if whole && !objects::begins(cursor.rest()) => {
                self.line(cursor.line, rest.trim_end());
                cursor.pass_line();
            }
            _ => {}
        }
    }

    fn line(&mut self, number: usize, line: &str) {
        if self.in_trace(number, line) {
            return;
        }
        if let Some(command) = command(line) {
            self.end_table();
            self.topic = option(command, "-t").map(Topic::from);
            if let Some(group) = option(command, "-g") {
                self.found.group(group, number, line);
            }
        } else if is_noise(line) {
            // Said by the Java machine about itself, or typed.
        } else if log::is_one(line) {
            log::read(&mut self.found, line, number);
        } else if line.trim_start().starts_with('#') {
            self.end_table();
            self.table = tables::begin(&mut self.found, line, number, self.topic.as_ref());
        } else if tables::is_foot(&mut self.found, line, number) {
            self.end_table();
        } else if let Some(table) = &mut self.table {
            table.row(&mut self.found, line, number);
        } else {
            self.ids.extend(lists::read(&mut self.found, line, number));
        }
    }

    /// A stack trace is one problem, however long it is.
    fn in_trace(&mut self, number: usize, line: &str) -> bool {
        match &mut self.trace {
            Some((_, _, lines)) if is_exception(line) || continues_trace(line) => *lines += 1,
            _ if is_exception(line) => {
                self.blank();
                self.trace = Some((number, line.to_string(), 1));
            }
            _ => {
                self.end_trace();
                return false;
            }
        }
        true
    }

    fn end_trace(&mut self) {
        if let Some((line, text, lines)) = self.trace.take() {
            let expected = said!("the output of a command that did not fail", "成功执行的命令的输出");
            self.found.problem(line, lines, &text, expected);
        }
    }
}

/// `mqadmin …` with whatever stands before it, be it a prompt or a path; what follows the program's name.
fn command(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("mqadmin")?;
    let is_path = before.chars().all(|c| !c.is_whitespace())
        || before.trim_start().starts_with(['$', '#', '>', '%'])
        || before.trim() == "sh";
    (is_path && after.starts_with([' ', '.'])).then_some(after)
}

/// What follows a flag among words.
fn option<'a>(command: &'a str, flag: &str) -> Option<&'a str> {
    let mut words = command.split_whitespace();
    words.find(|word| *word == flag)?;
    let word = words.next()?.trim_matches(['\'', '"']);
    (!word.is_empty() && word.len() <= crate::report::MAX_NAME).then_some(word)
}

/// Lines that the Java machine and its logging write about themselves, and commands after a prompt.
fn is_noise(line: &str) -> bool {
    let line = line.trim_start();
    if line.starts_with("$ ") {
        return true;
    }
    line.contains(" |-INFO in ")
        || line.contains(" |-WARN in ")
        || line.contains("-bit Server VM warning:")
        || line.contains("-Bit Server VM warning:")
        || line.starts_with("RocketMQLog:WARN")
        || line.starts_with("Picked up JAVA_TOOL_OPTIONS")
        || line.starts_with("SLF4J:")
}

/// `org.example.SomeException: why`
fn is_exception(line: &str) -> bool {
    let line = line
        .trim_start()
        .trim_start_matches("Exception in thread \"main\" ")
        .trim_start_matches("Caused by: ");
    let name = line.split([':', ' ', ',']).next().unwrap_or_default();
    name.contains('.')
        && name.starts_with(char::is_alphabetic)
        && (name.ends_with("Exception") || name.ends_with("Error"))
}

fn continues_trace(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("at ")
        || line.starts_with("... ")
        || line.starts_with("Caused by: ")
        || line.starts_with("For more information, please visit the url")
}
