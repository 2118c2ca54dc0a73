//! Enums that are words of files.

/// What is one of a few words.
pub trait Word: Copy + 'static {
    /// Every one by its name.
    const WORDS: &'static [(&'static str, Self)];
}

/// An enum of which each variant is a word, the same in files, in JSON and for people; `by` says what gives the word.
#[macro_export]
macro_rules! word_enum {
    ($(#[$meta:meta])* $vis:vis enum $name:ident by $by:ident { $($(#[$doc:meta])* $variant:ident = $word:tt,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        $vis enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every one.
            #[allow(dead_code, reason = "not every one of these is gone through")]
            $vis const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// Its word.
            #[allow(dead_code, reason = "not every one of these is shown")]
            $vis const fn $by(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl $crate::Word for $name {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),+];
        }
    };
}

/// The same of the experiment file, whose schema has it too.
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($variants:tt)+ }) => {
        $crate::word_enum! {
            $(#[$meta])*
            #[derive(schemars::JsonSchema)]
            $vis enum $name by name { $($variants)+ }
        }
    };
}
pub(crate) use words;
