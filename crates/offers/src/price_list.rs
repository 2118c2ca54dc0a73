//! Products of AWS's price list, as `GetProducts` gives them one by one in JSON.
//!
//! Usage types begin with an abbreviation of the region in all regions but us-east-1 (`EUW1-EBS:VolumeUsage.gp3`); what
//! follows is the same everywhere. Throughput of gp3 is sold by the GiB/s. Source: "What is the AWS Price List API",
//! AWS Billing User Guide.

use std::collections::BTreeMap;

use catalog::{Cloud, Purchase, UserVolumePrice, VolumeType};
use serde::Deserialize;

/// A product with its terms.
#[derive(Debug, Deserialize)]
pub(super) struct Product {
    product: Described,
    #[serde(default)]
    terms: Terms,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Described {
    #[serde(default)]
    product_family: String,
    attributes: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
struct Terms {
    #[serde(rename = "OnDemand", default)]
    on_demand: BTreeMap<String, Term>,
    #[serde(rename = "Reserved", default)]
    reserved: BTreeMap<String, Term>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Term {
    #[serde(default)]
    price_dimensions: BTreeMap<String, Dimension>,
    #[serde(default)]
    term_attributes: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Dimension {
    unit: String,
    price_per_unit: BTreeMap<String, String>,
}

impl Dimension {
    fn usd(&self) -> Option<f64> {
        self.price_per_unit.get("USD")?.parse().ok()
    }
}

impl Product {
    fn attribute(&self, name: &str) -> &str {
        self.product.attributes.get(name).map_or("", String::as_str)
    }

    /// The on-demand price in a unit; 0 is no price.
    fn usd(&self, unit: &str) -> Option<f64> {
        let dimensions = self.terms.on_demand.values().flat_map(|term| term.price_dimensions.values());
        dimensions
            .filter(|dimension| dimension.unit.eq_ignore_ascii_case(unit))
            .filter_map(Dimension::usd)
            .find(|usd| *usd > 0.0)
    }
}

/// Prices of an hour of an instance.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct InstancePrices {
    pub on_demand: Option<f64>,
    /// Upfront payments spread over the hours of the term.
    pub reserved: BTreeMap<Purchase, f64>,
}

/// What has been read so far.
#[derive(Debug, Default)]
pub(super) struct PriceList {
    instances: BTreeMap<String, InstancePrices>,
    /// By the usage type without its region.
    volumes: BTreeMap<String, f64>,
}

impl PriceList {
    pub(super) fn add(&mut self, product: &Product) {
        if product.product.product_family.starts_with("Compute Instance") {
            self.add_instance(product);
            return;
        }
        let usage = product.attribute("usagetype");
        let Some(at) = usage.find("EBS:Volume") else { return };
        let kind = &usage[at + "EBS:".len()..];
        let price = ["GB-Mo", "GB-month", "IOPS-Mo", "IOs"]
            .into_iter()
            .find_map(|unit| product.usd(unit))
            .or_else(|| product.usd("MiBps-Mo"))
            .or_else(|| product.usd("GiBps-mo").map(|usd| usd / 1024.0));
        if let Some(usd) = price {
            self.volumes.insert(kind.to_owned(), usd);
        }
    }

    fn add_instance(&mut self, product: &Product) {
        let name = product.attribute("instanceType");
        // Capacity reservations and hosts have products of their own with the same type.
        if name.is_empty() || !product.attribute("usagetype").contains("BoxUsage") {
            return;
        }
        let prices = self.instances.entry(name.to_owned()).or_default();
        prices.on_demand = product.usd("Hrs").or(prices.on_demand);
        for term in product.terms.reserved.values() {
            if let Some((purchase, usd)) = reserved(term) {
                prices.reserved.insert(purchase, usd);
            }
        }
    }

    pub(super) fn instances(&self) -> impl Iterator<Item = (&String, &InstancePrices)> {
        self.instances.iter()
    }

    /// Volume types of which the price of storage is known.
    pub(super) fn volumes(&self) -> Vec<UserVolumePrice> {
        VolumeType::ALL
            .into_iter()
            .filter(|kind| kind.cloud() == Cloud::Aws)
            .filter_map(|kind| {
                // io1 goes by its first name, magnetic volumes by none.
                let suffix = match kind {
                    VolumeType::Io1 => ".piops".to_owned(),
                    VolumeType::Standard => String::new(),
                    other => format!(".{other}"),
                };
                let of = |usage: &str| self.volumes.get(&format!("{usage}{suffix}")).copied();
                let is_gp3 = kind == VolumeType::Gp3;
                Some(UserVolumePrice {
                    kind,
                    price_date: None,
                    usd_per_gb: of("VolumeUsage")?,
                    usd_per_iops: of("VolumeP-IOPS"),
                    iops_above: if is_gp3 { 3000.0 } else { 0.0 },
                    usd_per_iops_above_32000: self.volumes.get(&format!("VolumeP-IOPS{suffix}.tier2")).copied(),
                    usd_per_iops_above_64000: self.volumes.get(&format!("VolumeP-IOPS{suffix}.tier3")).copied(),
                    usd_per_mib_per_s: of("VolumeP-Throughput"),
                    mib_above: if is_gp3 { 125.0 } else { 0.0 },
                    usd_per_million_io: (kind == VolumeType::Standard)
                        .then(|| self.volumes.get("VolumeIOUsage").map(|usd| usd * 1e6))
                        .flatten(),
                })
            })
            .collect()
    }
}

/// A standard reservation as a price by the hour.
fn reserved(term: &Term) -> Option<(Purchase, f64)> {
    let attribute = |name: &str| term.term_attributes.get(name).map_or("", String::as_str);
    if attribute("OfferingClass") == "convertible" {
        return None;
    }
    let length = match attribute("LeaseContractLength") {
        "1yr" | "1 yr" => "1yr",
        "3yr" | "3 yr" => "3yr",
        _ => return None,
    };
    let option = match attribute("PurchaseOption") {
        "No Upfront" => "no-upfront",
        "Partial Upfront" => "partial-upfront",
        "All Upfront" => "all-upfront",
        _ => return None,
    };
    let purchase: Purchase = format!("{length}-{option}").parse().ok()?;
    let sum = |unit: &str| {
        let dimensions = term.price_dimensions.values();
        dimensions.filter(|d| d.unit.eq_ignore_ascii_case(unit)).filter_map(Dimension::usd).sum::<f64>()
    };
    let usd = sum("Hrs") + sum("Quantity") / purchase.term_hours()?;
    (usd > 0.0).then_some((purchase, usd))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(products: &[serde_json::Value]) -> PriceList {
        let mut list = PriceList::default();
        for product in products {
            list.add(&serde_json::from_value(product.clone()).unwrap());
        }
        list
    }

    fn volume(family: &str, usage: &str, unit: &str, usd: &str) -> serde_json::Value {
        let dimension = serde_json::json!({ "unit": unit, "pricePerUnit": { "USD": usd } });
        serde_json::json!({
            "product": { "productFamily": family, "attributes": { "usagetype": usage } },
            "terms": { "OnDemand": { "A": { "priceDimensions": { "B": dimension } } } }
        })
    }

    /// The shape is that of the AWS Billing User Guide's example of GetProducts.
    #[test]
    fn an_instance_has_hourly_prices_of_every_purchase_option() {
        let dimension = |unit: &str, usd: &str| serde_json::json!({ "unit": unit, "pricePerUnit": { "USD": usd } });
        let lease = |length: &str, option: &str, class: &str, dimensions: serde_json::Value| {
            serde_json::json!({
                "termAttributes": { "LeaseContractLength": length, "PurchaseOption": option, "OfferingClass": class },
                "priceDimensions": dimensions
            })
        };
        let all_upfront = serde_json::json!({ "1": dimension("Quantity", "13140"), "2": dimension("Hrs", "0") });
        let product = serde_json::json!({
            "product": {
                "productFamily": "Compute Instance",
                "attributes": { "instanceType": "r4.4xlarge", "usagetype": "EUW1-BoxUsage:r4.4xlarge" },
                "sku": "X"
            },
            "serviceCode": "AmazonEC2",
            "terms": {
                "OnDemand": { "X.J": { "priceDimensions": { "X.J.6": dimension("Hrs", "1.1840000000") } } },
                "Reserved": {
                    "a": lease("1yr", "No Upfront", "standard", serde_json::json!({ "1": dimension("Hrs", "0.76") })),
                    "b": lease("3yr", "All Upfront", "standard", all_upfront),
                    "c": lease("3yr", "No Upfront", "convertible", serde_json::json!({ "1": dimension("Hrs", "0.1") }))
                }
            }
        });
        let list = list(&[product]);
        let (name, prices) = list.instances().next().unwrap();
        assert_eq!((name.as_str(), prices.on_demand), ("r4.4xlarge", Some(1.184)));
        let expected = [(Purchase::OneYearNoUpfront, 0.76), (Purchase::ThreeYearAllUpfront, 0.5)];
        assert_eq!(prices.reserved, BTreeMap::from(expected));
    }

    #[test]
    fn volumes_have_tiers_and_throughput_by_the_mib() {
        let list = list(&[
            volume("Storage", "EUC1-EBS:VolumeUsage.gp3", "GB-Mo", "0.0952"),
            volume("System Operation", "EUC1-EBS:VolumeP-IOPS.gp3", "IOPS-Mo", "0.006"),
            volume("Provisioned Throughput", "EUC1-EBS:VolumeP-Throughput.gp3", "GiBps-mo", "40.96"),
            volume("Storage", "EBS:VolumeUsage.io2", "GB-month", "0.125"),
            volume("System Operation", "EBS:VolumeP-IOPS.io2", "IOPS-Mo", "0.065"),
            volume("System Operation", "EBS:VolumeP-IOPS.io2.tier2", "IOPS-Mo", "0.0455"),
            volume("System Operation", "EBS:VolumeP-IOPS.io2.tier3", "IOPS-Mo", "0.03185"),
            volume("Storage", "EBS:VolumeUsage", "GB-Mo", "0.05"),
            volume("System Operation", "EBS:VolumeIOUsage", "IOs", "0.00000005"),
            volume("System Operation", "EBS:SnapshotUsage", "GB-Mo", "9"),
        ]);
        let volumes = list.volumes();
        let of = |kind| volumes.iter().find(|v| v.kind == kind).unwrap();
        let gp3 = of(VolumeType::Gp3);
        assert_eq!((gp3.usd_per_gb, gp3.usd_per_iops, gp3.iops_above), (0.0952, Some(0.006), 3000.0));
        assert_eq!((gp3.usd_per_mib_per_s, gp3.mib_above), (Some(0.04), 125.0));
        let io2 = of(VolumeType::Io2);
        assert_eq!(
            (io2.usd_per_iops, io2.usd_per_iops_above_32000, io2.usd_per_iops_above_64000),
            (Some(0.065), Some(0.0455), Some(0.03185))
        );
        let million = of(VolumeType::Standard).usd_per_million_io.unwrap();
        assert!((million - 0.05).abs() < 1e-9, "{million}");
        assert_eq!(volumes.len(), 3, "a type without a price of storage has none");
    }

    /// The catalog takes what is written here.
    #[test]
    fn an_unknown_product_is_left_alone() {
        let nothing = list(&[
            serde_json::json!({ "product": { "attributes": {} } }),
            volume("Storage", "EBS:VolumeUsage.gp9", "GB-Mo", "1"),
            volume("Storage", "EBS:VolumeUsage.gp3", "GB-Mo", "0.0"),
        ]);
        assert!(nothing.volumes().is_empty() && nothing.instances().next().is_none());
    }
}
