//! The two questions that AWS is asked.

use std::collections::BTreeMap;

use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_ec2::error::ProvideErrorMetadata;
use aws_sdk_pricing::types::{Filter, FilterType};
use aws_smithy_http_client::tls;
use catalog::{UserCatalog, UserInstance};

use super::instance_types::entry;
use super::price_list::{PriceList, Product};

/// The price list is served from a few regions only, for all of them.
const PRICE_LIST_REGION: &str = "us-east-1";

/// What AWS said.
#[derive(Debug, Clone)]
pub struct Offers {
    /// As a file of the user's catalog.
    pub catalog: UserCatalog,
    /// Instance types told.
    pub instance_types: usize,
    /// Of these, types with an on-demand price.
    pub priced: usize,
    /// Volume types with prices.
    pub volume_prices: usize,
    /// Why there are no prices, if so: the types are worth keeping without them.
    pub prices_missing: Option<String>,
}

/// Why AWS could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum AwsError {
    /// The runtime could not be started.
    #[error("cannot start: {0}")]
    Start(#[from] std::io::Error),
    /// Nobody says who is asking.
    #[error("no AWS credentials were found")]
    NoCredentials,
    /// DescribeInstanceTypes failed.
    #[error("EC2 did not tell the instance types of {region}: {reason}")]
    InstanceTypes {
        /// Region asked.
        region: String,
        /// What the SDK says, causes included.
        reason: String,
    },
}

/// Asks AWS for the instance types and prices of a region. Credentials, endpoints and retries are those of the SDK: environment,
/// shared configuration, SSO, web identity, container, instance. `day` (`2026-11-21`) is kept with the prices; `say` hears what goes on.
///
/// # Errors
///
/// When EC2 does not answer. A price list that does not answer is no error: see [`Offers::prices_missing`].
pub fn offers(region: &str, day: &str, with_prices: bool, say: &mut dyn FnMut(&str)) -> Result<Offers, AwsError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(ask(region, day, with_prices, say))
}

async fn ask(region: &str, day: &str, with_prices: bool, say: &mut dyn FnMut(&str)) -> Result<Offers, AwsError> {
    let config = configuration(region).await;
    say(&format!("asking EC2 for the instance types of {region}"));
    let mut types = instance_types(&config, region).await?;
    let mut catalog = UserCatalog::new(region, day, "AWS DescribeInstanceTypes and price list (GetProducts)");
    let (instance_types, mut priced) = (types.len(), 0);
    let mut prices_missing = (!with_prices).then(|| "not asked for".to_owned());
    if with_prices {
        match prices(&config, region, say).await {
            Ok(prices) => {
                for (name, price) in prices.instances() {
                    if let Some(entry) = types.get_mut(name) {
                        entry.usd_per_hour = price.on_demand;
                        entry.reserved_usd_per_hour.clone_from(&price.reserved);
                        priced += usize::from(price.on_demand.is_some());
                    }
                }
                catalog.volume_prices = prices.volumes();
                if priced == 0 {
                    prices_missing = Some(format!("the price list has no instance prices of {region}"));
                }
            }
            Err(reason) => prices_missing = Some(reason),
        }
    }
    catalog.instances = types.into_values().collect();
    Ok(Offers {
        instance_types,
        priced,
        volume_prices: catalog.volume_prices.len(),
        prices_missing,
        catalog,
    })
}

/// The region is stated, so that nobody is asked for it.
async fn configuration(region: &str) -> SdkConfig {
    let http = aws_smithy_http_client::Builder::new()
        .tls_provider(tls::Provider::Rustls(tls::rustls_provider::CryptoMode::Ring))
        .build_https();
    aws_config::defaults(BehaviorVersion::latest())
        .http_client(http)
        .region(Region::new(region.to_owned()))
        .load()
        .await
}

/// What AWS answered, else every cause in turn.
fn told<E>(error: &E) -> String
where
    E: std::error::Error + ProvideErrorMetadata,
{
    if let Some(code) = error.code() {
        return format!("{code}: {}", error.message().unwrap_or("no message"));
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}

/// The SDK's words for an empty chain of credential providers; it has no type for them at this place.
const NO_CREDENTIALS: [&str; 2] = ["no providers in chain provided credentials", "CredentialsNotLoaded"];

fn refused(region: &str, reason: String) -> AwsError {
    if NO_CREDENTIALS.iter().any(|words| reason.contains(words)) {
        return AwsError::NoCredentials;
    }
    AwsError::InstanceTypes {
        region: region.to_owned(),
        reason,
    }
}

async fn instance_types(config: &SdkConfig, region: &str) -> Result<BTreeMap<String, UserInstance>, AwsError> {
    let client = aws_sdk_ec2::Client::new(config);
    let mut items = client.describe_instance_types().into_paginator().items().send();
    let mut types = BTreeMap::new();
    while let Some(item) = items.next().await {
        let item = item.map_err(|error| refused(region, told(&error)))?;
        if let Some(entry) = entry(&item) {
            types.insert(entry.name().to_owned(), entry);
        }
    }
    Ok(types)
}

/// Linux on shared machines, on demand and reserved; volumes with their IOPS and throughput.
async fn prices(config: &SdkConfig, region: &str, say: &mut dyn FnMut(&str)) -> Result<PriceList, String> {
    let there = aws_sdk_pricing::config::Builder::from(config)
        .region(Region::new(PRICE_LIST_REGION))
        .build();
    let client = aws_sdk_pricing::Client::from_conf(there);
    let families: [(&str, &[(&str, &str)]); 4] = [
        (
            "Compute Instance",
            &[
                ("operatingSystem", "Linux"),
                ("tenancy", "Shared"),
                ("preInstalledSw", "NA"),
                ("capacitystatus", "Used"),
                ("operation", "RunInstances"),
            ],
        ),
        ("Storage", &[]),
        ("System Operation", &[]),
        ("Provisioned Throughput", &[]),
    ];
    let mut list = PriceList::default();
    for (family, conditions) in families {
        say(&format!("asking the price list for `{family}` in {region}"));
        let mut request = client.get_products().service_code("AmazonEC2");
        for (field, value) in [("regionCode", region), ("productFamily", family)]
            .iter()
            .chain(conditions)
        {
            let filter = Filter::builder()
                .r#type(FilterType::TermMatch)
                .field(*field)
                .value(*value)
                .build()
                .map_err(|error| error.to_string())?;
            request = request.filters(filter);
        }
        let mut items = request.into_paginator().items().send();
        while let Some(item) = items.next().await {
            let text = item.map_err(|error| format!("the price list did not answer: {}", told(&error)))?;
            let product: Product = serde_json::from_str(&text)
                .map_err(|error| format!("the price list answered with a product that cannot be read: {error}"))?;
            list.add(&product);
        }
    }
    Ok(list)
}
