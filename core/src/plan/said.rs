//! Sentences in both languages, side by side, so that none can be without its translation.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

/// What findings can be told in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Language {
    /// `en`
    #[default]
    English,
    /// `zh`, in simplified characters
    Chinese,
}

/// By its code: `en`, `zh`.
impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(code: &str) -> Result<Self, UnknownLanguage> {
        match code {
            "en" => Ok(Self::English),
            "zh" => Ok(Self::Chinese),
            _ => Err(UnknownLanguage(code.into())),
        }
    }
}

/// Findings are not told in such a language.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no language {0:?}: en or zh")]
pub struct UnknownLanguage(String);

/// A text in each language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are the languages")]
pub struct Said<T = String> {
    pub en: T,
    pub zh: T,
}

impl<T> Said<T> {
    /// The text in one language.
    pub fn into_language(self, language: Language) -> T {
        match language {
            Language::English => self.en,
            Language::Chinese => self.zh,
        }
    }
}

impl From<Said<&str>> for Said {
    fn from(text: Said<&str>) -> Self {
        Self { en: text.en.into(), zh: text.zh.into() }
    }
}

impl Said {
    /// A name or a number, which is the same in every language, or what nobody has translated.
    pub fn same(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { en: text.clone(), zh: text }
    }

    /// What [`said!`] makes. There are hundreds of sentences, so that writing them is called and not inlined.
    #[inline(never)]
    pub(crate) fn filled(en: fmt::Arguments<'_>, zh: fmt::Arguments<'_>) -> Self {
        Self { en: alloc::fmt::format(en), zh: alloc::fmt::format(zh) }
    }

    /// Several texts as one, each language with its own mark between them.
    pub(crate) fn joined(texts: &[Self], between: Said<&str>) -> Self {
        let mut all = Self::default();
        for (at, text) in texts.iter().enumerate() {
            if at > 0 {
                all.en.push_str(between.en);
                all.zh.push_str(between.zh);
            }
            all.en.push_str(&text.en);
            all.zh.push_str(&text.zh);
        }
        all
    }
}

/// Fills values into a sentence of each language: `said!("{n} moves", "移动 {n} 个")`. Names after the sentences are values
/// that are [`Said`] themselves.
macro_rules! said {
    ($en:literal, $zh:literal $(, $part:ident)*) => {
        $crate::plan::Said::filled(
            ::core::format_args!($en $(, $part = $part.en)*),
            ::core::format_args!($zh $(, $part = $part.zh)*),
        )
    };
}
pub(crate) use said;
