//! What a report says, without how it looks: sections of sentences, lists and tables, made once. Three renderers show
//! them, each as far as it has room: [`html`], [`markdown`] and [`terminal`]; [`csv`] writes a table for machines.
//! Nothing here knows what the words mean.

pub mod csv;
pub mod html;
pub mod markdown;
pub mod section;
pub mod table;
pub mod terminal;
pub mod text;
