//! `iopslab catalog refresh`: what AWS offers and charges today, as a file of the user's catalog.

use std::path::PathBuf;

use clap::Args;
use process::failure::Failure;
use process::output::Format;

/// What was typed after `catalog refresh`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  iopslab catalog refresh                                  us-east-1, with your AWS credentials
  iopslab catalog refresh --region eu-west-1               adds the prices of another region
  iopslab catalog cost i4i.2xlarge --region eu-west-1

The file is 00-aws-REGION.toml in IOPSLAB_CATALOG (default: ~/.config/iopslab/catalog). \
Your own .toml files there are never touched; later
names win. Needs ec2:DescribeInstanceTypes and pricing:GetProducts.")]
pub struct RefreshArgs {
    /// Region to ask about
    #[arg(long, env = "AWS_REGION", default_value = ::catalog::REGION)]
    region: String,
    /// Write this file instead
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Instance types only
    #[arg(long)]
    without_prices: bool,
}

#[cfg(not(feature = "aws"))]
pub fn run(_: &RefreshArgs, _: Format) -> Result<(), Failure> {
    Err(Failure::input("this iopslab was built without AWS")
        .help("build it with: cargo build --release --features aws"))
}

#[cfg(feature = "aws")]
pub fn run(args: &RefreshArgs, format: Format) -> Result<(), Failure> {
    with_aws::run(args, format)
}

#[cfg(feature = "aws")]
mod with_aws {
    use std::path::{Path, PathBuf};

    use ::catalog::{Catalog, UserCatalog};
    use process::failure::Failure;
    use process::output::{Format, pretty};

    use crate::cli::facts::user_catalog_path;
    use crate::cli::refresh::RefreshArgs;

    pub fn run(args: &RefreshArgs, format: Format) -> Result<(), Failure> {
        let file = file(args)?;
        let old = read_old(&file)?;
        let today = jiff::Zoned::now().date().to_string();
        let mut say = |what: &str| eprintln!("{what} ...");
        let mut reported = offers::ask(&args.region, &today, !args.without_prices, &mut say).map_err(|error| {
            Failure::work(error).help(
                "credentials: aws sso login, AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; \
                 permission: ec2:DescribeInstanceTypes",
            )
        })?;
        if let Some(old) = &old {
            reported.catalog.keep_prices_of(old);
        }
        let text = format!(
            "# Instance types and prices of {} from AWS, {today}. Written by `iopslab catalog refresh`, \
             which replaces this file; put your\n\
             # own types and prices into another .toml file beside it (form: docs/catalog.md).\n{}",
            args.region,
            reported.catalog.to_toml()
        );
        // What cannot be read again must not take the place of what can.
        let name = file.display().to_string();
        let mut catalog = Catalog::built_in().clone();
        UserCatalog::parse(&name, &text)
            .and_then(|user| catalog.add(&user))
            .map_err(|error| Failure::work(format!("the catalog cannot take what AWS answered: {error}")))?;
        replace(&file, &text)?;

        let new =
            reported.catalog.instances.iter().filter(|entry| Catalog::built_in().instance(entry.name()).is_none());
        let new = new.count();
        if let Some(why) = &reported.prices_missing {
            eprintln!("warning: no new prices: {why}; prices known before stay, each with its day");
        }
        match format {
            Format::Json => println!(
                "{}",
                pretty(&serde_json::json!({
                    "file": name,
                    "region": args.region,
                    "date": today,
                    "instance_types": reported.instance_types,
                    "new_instance_types": new,
                    "priced_instance_types": reported.priced,
                    "priced_volume_types": reported.volume_prices,
                    "prices_missing": reported.prices_missing,
                }))
            ),
            Format::Human => println!(
                "{}: {} instance types ({new} that the program's own table lacks), {} with prices; \
                 prices of {} volume types\n{name}",
                args.region, reported.instance_types, reported.priced, reported.volume_prices
            ),
        }
        Ok(())
    }

    fn file(args: &RefreshArgs) -> Result<PathBuf, Failure> {
        if let Some(file) = &args.out {
            return Ok(file.clone());
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if args.region.is_empty() || !args.region.chars().all(plain) {
            return Err(Failure::input(format!("`{}` is no region such as us-east-1", args.region)));
        }
        let directory = user_catalog_path();
        if directory.is_file() {
            return Err(Failure::input(format!("IOPSLAB_CATALOG names the file {}", directory.display()))
                .help("name a directory there, or the file to write with --out"));
        }
        Ok(directory.join(format!("00-aws-{}.toml", args.region)))
    }

    /// The file of an earlier refresh, whose prices stay where AWS gives no new ones.
    fn read_old(file: &Path) -> Result<Option<UserCatalog>, Failure> {
        match std::fs::read_to_string(file) {
            Ok(text) => UserCatalog::parse(&file.display().to_string(), &text)
                .map(Some)
                .map_err(|error| Failure::input(error).help("mend or remove that file; refresh would replace it")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Failure::work(format!("cannot read {}: {error}", file.display()))),
        }
    }

    /// Whole or not at all.
    fn replace(file: &Path, text: &str) -> Result<(), Failure> {
        let failed = |error: std::io::Error| Failure::work(format!("cannot write {}: {error}", file.display()));
        let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty());
        std::fs::create_dir_all(directory.unwrap_or(Path::new("."))).map_err(failed)?;
        guarded::replace(file, text.as_bytes(), 0o666).map_err(failed)
    }
}
