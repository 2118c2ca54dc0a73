//! Enums that are words of files.

/// An enum of which each variant is a word, the same on the command line, in files and for people.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident by $word:ident { $($(#[$doc:meta])* $variant:ident = $text:tt,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// Every one, in the order in which lists show them.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// Its word.
            pub const fn $word(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.$word())
            }
        }
    };
}
pub(crate) use words;
