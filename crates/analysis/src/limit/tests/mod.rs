mod clusters;
mod intervened;
pub mod made;
mod random;
mod stories;
