//! Enums that are words of files.

/// What is one of a few words.
pub(crate) trait Word: Copy + 'static {
    /// Every one by its name.
    const WORDS: &'static [(&'static str, Self)];
}

/// An enum of which each variant is a word, the same in the experiment, in JSON and for people.
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$doc:meta])* $variant:ident = $word:tt,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        $vis enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every one.
            #[allow(dead_code, reason = "not every one of these is gone through")]
            $vis const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// Its word.
            #[allow(dead_code, reason = "not every one of these is shown")]
            $vis const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl $crate::words::Word for $name {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),+];
        }
    };
}
pub(crate) use words;
