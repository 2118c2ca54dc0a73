//! Options that say how money is counted, the same wherever money is asked for.

use ::catalog::{Basis, Purchase, REGION};
use clap::Args;
use process::failure::Failure;

/// How money is counted.
#[derive(Debug, Args)]
#[command(next_help_heading = "How money is counted")]
pub struct BasisArgs {
    /// Hours in a month: 730, 720, 732 or 744
    #[arg(long, value_name = "HOURS", default_value_t = 730.0)]
    hours_per_month: f64,
    /// on-demand, 1yr-no-upfront, 1yr-partial-upfront, 1yr-all-upfront, 3yr-..., 1yr-heavy-utilisation, ...,
    /// savings-plan, spot
    #[arg(long, default_value = "on-demand")]
    purchase: String,
    /// The day whose prices count: the latest known on or before it. Default: the latest of all
    #[arg(long, value_name = "DATE")]
    price_date: Option<String>,
    /// Added to everything, such as a support plan's
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    uplift_percent: f64,
    /// Charge the uplift by whole USD a month, any fraction upwards
    #[arg(long)]
    round_up_uplift: bool,
    /// An instance type's price as you state it, such as a Savings Plan's or spot's (repeatable)
    #[arg(long, value_name = "TYPE=USD_PER_HOUR", value_parser = stated)]
    stated_price: Vec<(String, f64)>,
    /// GB-months of EBS storage that are free
    #[arg(long, value_name = "GB", default_value_t = 0.0)]
    free_gb: f64,
    /// Region of the prices; others than us-east-1 by: iopslab catalog refresh
    #[arg(long, default_value = REGION)]
    region: String,
    /// Pay for EBS optimisation where it costs extra (types of before 2015)
    #[arg(long)]
    ebs_optimised: bool,
}

impl BasisArgs {
    /// The basis; whether its values are possible is checked when something is priced.
    pub fn basis(&self) -> Result<Basis, Failure> {
        let names = self.stated_price.iter().map(|(name, _)| name);
        for (at, name) in names.clone().enumerate() {
            if names.clone().take(at).any(|earlier| earlier.eq_ignore_ascii_case(name)) {
                return Err(Failure::input(format!("--stated-price states {name} twice")));
            }
        }
        Ok(Basis {
            hours_per_month: self.hours_per_month,
            purchase: self.purchase.parse::<Purchase>().map_err(Failure::input)?,
            price_date: self.price_date.clone(),
            uplift_percent: self.uplift_percent,
            round_up_uplift: self.round_up_uplift,
            stated_usd_per_hour: self.stated_price.iter().cloned().collect(),
            free_gb: self.free_gb,
            region: self.region.clone(),
            ebs_optimised: self.ebs_optimised,
        })
    }
}

/// `i3.2xlarge=0.21`.
fn stated(text: &str) -> Result<(String, f64), String> {
    let expected = || format!("`{text}` is no stated price; expected TYPE=USD_PER_HOUR such as i3.2xlarge=0.21");
    let (name, usd) = text.split_once('=').ok_or_else(expected)?;
    let usd: f64 = usd.trim().parse().map_err(|_| expected())?;
    if name.trim().is_empty() || !(usd.is_finite() && usd > 0.0) {
        return Err(expected());
    }
    Ok((name.trim().to_owned(), usd))
}
