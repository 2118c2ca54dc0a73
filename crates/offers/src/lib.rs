//! What AWS offers and charges today, read with the user's credentials: the source of `iopslab catalog refresh`.
//!
//! `DescribeInstanceTypes` of EC2 tells sizes, disks and paths to EBS; `GetProducts` of the price list tells what an
//! hour of an instance and a month of a volume cost. Both become a [`catalog::UserCatalog`], which commands put before
//! the program's own tables.

mod ask;
mod error;
mod instance_types;
mod price_list;
mod signed;

pub use ask::{Offers, ask};
pub use error::AwsError;
