//! The two questions that AWS is asked.

use std::collections::BTreeMap;

use catalog::{UserCatalog, UserInstance};
use serde::Deserialize;

use crate::AwsError;
use crate::ec2;
use crate::instance_types::page;
use crate::price_list::{PriceList, Product};
use crate::signed::{Call, Caller, Service};

const PRICING: Service = Service { id: "Pricing", signing_name: "pricing", host_prefix: "api.pricing" };
/// The price list is served from a few regions only, for all of them.
const PRICE_LIST_REGION: &str = "us-east-1";
/// A page of `DescribeInstanceTypes`: the most that EC2 gives.
const TYPES_A_PAGE: u32 = 100;

/// What AWS said.
#[derive(Debug, Clone)]
pub struct Offers {
    /// As a file of the user's catalog.
    pub catalog: UserCatalog,
    /// Instance types listed.
    pub instance_types: usize,
    /// Of these, types with an on-demand price.
    pub priced: usize,
    /// Volume types with prices.
    pub volume_prices: usize,
    /// Why there are no prices, if so: the types are worth keeping without them.
    pub prices_missing: Option<String>,
}

/// Asks AWS for the instance types and prices of a region. Credentials and endpoints are found as the SDK finds them:
/// environment, shared configuration, SSO, web identity, container, instance. `day` (`2026-11-21`) is kept with the
/// prices; `say` hears what goes on.
///
/// # Errors
/// When EC2 does not answer. A price list that does not answer is no error: see [`Offers::prices_missing`].
pub fn ask(region: &str, day: &str, with_prices: bool, say: &mut dyn FnMut(&str)) -> Result<Offers, AwsError> {
    let caller = Caller::new(None, Some(region))?;
    say(&format!("asking EC2 for the instance types of {region}"));
    let mut types = instance_types(&caller, region)
        .map_err(|reason| AwsError::Refused(format!("EC2 did not list the instance types of {region}: {reason}")))?;
    let mut catalog = UserCatalog::new(region, day, "AWS DescribeInstanceTypes and price list (GetProducts)");
    let (instance_types, mut priced) = (types.len(), 0);
    let mut prices_missing = (!with_prices).then(|| "not asked for".to_owned());
    if with_prices {
        match prices(&caller, region, say) {
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
    Ok(Offers { instance_types, priced, volume_prices: catalog.volume_prices.len(), prices_missing, catalog })
}

fn instance_types(caller: &Caller, region: &str) -> Result<BTreeMap<String, UserInstance>, String> {
    let mut types = BTreeMap::new();
    let mut token: Option<String> = None;
    loop {
        let mut parameters = vec![("MaxResults".to_owned(), TYPES_A_PAGE.to_string())];
        parameters.extend(token.map(|token| ("NextToken".to_owned(), token)));
        let page = page(&ec2::ask(caller, region, "DescribeInstanceTypes", &parameters)?)?;
        types.extend(page.types.into_iter().map(|entry| (entry.name().to_owned(), entry)));
        token = page.next_token;
        if token.is_none() {
            return Ok(types);
        }
    }
}

/// One page of `GetProducts`; each product is JSON in a string.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ProductsPage {
    #[serde(default)]
    price_list: Vec<String>,
    next_token: Option<String>,
}

/// Linux on shared machines, on demand and reserved; volumes with their IOPS and throughput.
fn prices(caller: &Caller, region: &str, say: &mut dyn FnMut(&str)) -> Result<PriceList, String> {
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
        let filters: Vec<_> = [("regionCode", region), ("productFamily", family)]
            .iter()
            .chain(conditions)
            .map(|(field, value)| serde_json::json!({ "Type": "TERM_MATCH", "Field": field, "Value": value }))
            .collect();
        let mut token: Option<String> = None;
        loop {
            let mut body =
                serde_json::json!({ "ServiceCode": "AmazonEC2", "FormatVersion": "aws_v1", "Filters": filters });
            if let Some(token) = &token {
                body["NextToken"] = token.as_str().into();
            }
            let call = Call {
                headers: &[
                    ("content-type", "application/x-amz-json-1.1"),
                    ("x-amz-target", "AWSPriceListService.GetProducts"),
                ],
                body: body.to_string(),
            };
            let answer = caller
                .ask(PRICING, PRICE_LIST_REGION, &call)
                .map_err(|refused| format!("the price list did not answer: {}", refused.reason))?;
            let page: ProductsPage = serde_json::from_str(&answer)
                .map_err(|error| format!("the price list answered with what cannot be read: {error}"))?;
            for text in &page.price_list {
                let product: Product = serde_json::from_str(text)
                    .map_err(|error| format!("the price list answered with a product that cannot be read: {error}"))?;
                list.add(&product);
            }
            token = page.next_token.filter(|token| !token.is_empty());
            if token.is_none() {
                break;
            }
        }
    }
    Ok(list)
}
