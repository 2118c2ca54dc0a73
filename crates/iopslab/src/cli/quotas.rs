//! What AWS grants an account, for experiments whose sites are limited by it, and how it is shown.

use experiment::{AwsQuota, AwsQuotas, AwsSettings, AwsSite, QuotaNeeds};

/// Asks AWS for the quotas of a site.
#[cfg(not(feature = "aws"))]
pub(super) fn read(_: &AwsSite, _: &QuotaNeeds) -> Result<AwsQuotas, String> {
    Err("this iopslab was built without AWS; build it with: cargo build --release --features aws".to_owned())
}

/// Asks AWS for the quotas of a site.
#[cfg(feature = "aws")]
pub(super) fn read(site: &AwsSite, needs: &QuotaNeeds) -> Result<AwsQuotas, String> {
    let asked = offers::QuotaRequest { pools: &needs.pools, spot: needs.spot, volume_types: &needs.volume_types };
    let reported = offers::quotas(site.profile.as_deref(), &site.region, asked).map_err(|error| error.to_string())?;
    let one = |quota: offers::Quota| AwsQuota {
        code: quota.code.to_owned(),
        granted: quota.granted,
        in_use: quota.in_use,
        is_default: quota.is_default,
    };
    Ok(AwsQuotas {
        spot: needs.spot,
        vcpus: reported.vcpus.into_iter().map(|(pool, quota)| (pool, one(quota))).collect(),
        volume_gib: reported.volume_gib.into_iter().map(|(kind, quota)| (kind, one(quota))).collect(),
    })
}

/// The quotas that sites are held to, for people: a line each; nothing where AWS was not asked.
pub(super) fn reported(settings: &AwsSettings) -> String {
    let mut text = String::new();
    for site in &settings.sites {
        let Some(quotas) = &site.limits.quotas else { continue };
        text += &format!("\n  Service Quotas of {}:", site.name);
        let market = if quotas.spot { "spot" } else { "on demand" };
        for (pool, quota) in &quotas.vcpus {
            text += &line(quota, &format!("vCPUs, {market}, of {}", pool.name()));
        }
        for (kind, quota) in &quotas.volume_gib {
            text += &line(quota, &format!("GiB of {kind}"));
        }
    }
    text
}

fn line(quota: &AwsQuota, what: &str) -> String {
    let whose = if quota.is_default { " by AWS's default" } else { "" };
    let AwsQuota { code, granted, in_use, .. } = quota;
    format!("\n    {code}: {granted} {what}{whose}, {in_use} in use")
}
