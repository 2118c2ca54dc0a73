//! Files in places where somebody else may have been: a run directory that was received, a store of data sets, the work
//! directory of a machine.
//!
//! *Read* is a regular file and nothing else. The open does not wait for whoever would write a pipe, and what was
//! opened is looked at (`fstat`), so that nothing can change in between; no more is read than a bound that the caller
//! states. [`open_below`] follows no link. A log that grows is read line by line ([`GrowingLog`]).
//!
//! *Made* is a file whose name was free until then (`O_EXCL`, which follows no link either). What replaces another file
//! is written under a name that nobody can guess, and renamed: a link that lies there is replaced, not followed. Where
//! others may write to the directories on the way, too, [`replace_below`] and [`write_anew_below`] open each of these
//! through no link.
//!
//! *Shown* is what somebody else has written only as [`shown()`] has it: a terminal obeys what it is given.
//!
//! *Private* is a directory that nobody else can change, nor any on the way to it, and a file in it that has one name
//! and one owner ([`private_directory`], [`open_private`]): what is found there is acted upon. [`foreign`] says what of
//! a directory that came from elsewhere is not this user's own.
//!
//! *Known* is a file by its SHA-256 ([`sha256()`]), a process by its number and start time ([`start_time_ticks`]), and
//! a program by where it is, whatever directory it is started in ([`program()`]).

mod growing;
mod hash;
mod make;
mod owner;
mod private;
mod process;
mod program;
mod read;
mod shown;

pub use growing::GrowingLog;
pub use hash::{hex, sha256};
pub use make::{
    aside, create, create_new, of_aside, open_to_append, random_word, replace, replace_below, write_anew,
    write_anew_below,
};
pub use owner::{Foreign, ForeignReason, foreign};
pub use private::{NotPrivate, check_directory, check_file, check_way, open_private, private_directory};
pub use process::{is_stopped, start_time_ticks};
pub use program::program;
pub use read::{if_there, open, open_below, open_no_link, plain_relative, read, read_no_link, text, text_below};
pub use shown::{shell_path, shell_word, shown, shown_line};
