//! Whether texts are said in both languages.

pub(crate) fn is_chinese(text: &str) -> bool {
    text.chars().any(|letter| ('\u{4e00}'..='\u{9fff}').contains(&letter))
}

/// What a reader of Chinese could not read, or would read with other numbers, of these texts in English and in Chinese.
pub(crate) fn untranslated(pairs: impl Iterator<Item = (String, String)>) -> Vec<String> {
    let wrong = pairs.filter(|(en, zh)| is_chinese(en) || !is_chinese(zh) || numbers(en) != numbers(zh));
    wrong.map(|(en, zh)| format!("{en} / {zh}")).collect()
}

/// The runs of digits in a text, sorted: a translation says the same numbers, if not in the same order.
fn numbers(text: &str) -> Vec<&str> {
    let mut numbers: Vec<&str> =
        text.split(|letter: char| !letter.is_ascii_digit()).filter(|run| !run.is_empty()).collect();
    numbers.sort_unstable();
    numbers
}
