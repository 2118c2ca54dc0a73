//! All facts in one value: the tables of this program, and what a user's files put before them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::price::{InstancePrice, VolumePrice};
use crate::user::{UserCatalog, UserCatalogError};
use crate::{Cloud, InstanceType, instance, nearest, other_clouds, price};

/// Instance types and prices.
#[derive(Debug, Clone)]
pub struct Catalog {
    /// Sorted by name.
    instances: Vec<InstanceType>,
    /// By instance type; each sorted by region, purchase option and day.
    instance_prices: BTreeMap<String, Vec<InstancePrice>>,
    /// Sorted by region, type and day.
    volume_prices: Vec<VolumePrice>,
}

impl Catalog {
    /// The tables of this program alone.
    pub fn built_in() -> &'static Self {
        static BUILT_IN: LazyLock<Catalog> = LazyLock::new(|| {
            let (mut instances, mut instance_prices) = (instance::built_in(), price::built_in_instance_prices());
            for (instance, price) in other_clouds::built_in() {
                instance_prices.extend(price.map(|price| (instance.name.clone(), vec![price])));
                instances.push(instance);
            }
            instances.sort_by(|a, b| a.name.cmp(&b.name));
            Catalog { instances, instance_prices, volume_prices: price::built_in_volume_prices() }
        });
        &BUILT_IN
    }

    /// Puts a user's facts before those known so far. A figure that the file leaves out stays as it is; a price counts
    /// from its day on, whatever was known for that day or later ones.
    ///
    /// # Errors
    ///
    /// When a type that nobody knows lacks its size, or a figure cannot be; then nothing has been added.
    pub fn add(&mut self, user: &UserCatalog) -> Result<(), UserCatalogError> {
        let mut instances = Vec::with_capacity(user.instances.len());
        for entry in &user.instances {
            instances.push(user.merged(entry, self.instance(entry.name()))?);
        }
        let volume_prices = user.volume_prices()?;
        for merged in instances {
            match self.instances.binary_search_by(|known| known.name.cmp(&merged.name)) {
                Ok(at) => self.instances[at] = merged,
                Err(at) => self.instances.insert(at, merged),
            }
        }
        for (name, price) in user.instance_prices() {
            let name = self.instance(&name).map_or(name, |known| known.name.clone());
            let history = self.instance_prices.entry(name).or_default();
            history.retain(|known| {
                (&known.region, known.purchase) != (&price.region, price.purchase) || known.date < price.date
            });
            let at = history.partition_point(|known| price::order(known) < price::order(&price));
            history.insert(at, price);
        }
        for price in volume_prices {
            self.volume_prices
                .retain(|known| (&known.region, known.kind) != (&price.region, price.kind) || known.date < price.date);
            let at =
                self.volume_prices.partition_point(|known| price::volume_order(known) < price::volume_order(&price));
            self.volume_prices.insert(at, price);
        }
        Ok(())
    }

    /// All instance types, sorted by name.
    pub fn instances(&self) -> &[InstanceType] {
        &self.instances
    }

    /// The type with this name, whatever its capitals; a name written exactly comes first.
    pub fn instance(&self, name: &str) -> Option<&InstanceType> {
        let exactly = self.instances.binary_search_by(|known| known.name.as_str().cmp(name));
        match exactly {
            Ok(at) => Some(&self.instances[at]),
            Err(_) => self.instances.iter().find(|known| known.name.eq_ignore_ascii_case(name)),
        }
    }

    /// The name of a machine type with its cloud where it is written without: `gcp:c4-standard-16` of `c4-standard-16`.
    /// What is a name as it stands, or of no type that is known, stays as it is.
    pub fn with_cloud<'n>(&self, name: &'n str) -> Cow<'n, str> {
        if name.contains(':') || self.instance(name).is_some() {
            return Cow::Borrowed(name);
        }
        let of_cloud = |cloud: Cloud| format!("{}:{name}", cloud.prefix());
        let mut named = [Cloud::Google, Cloud::Azure].into_iter().map(of_cloud);
        let known = named.find(|name| self.instance(name).is_some());
        known.map_or(Cow::Borrowed(name), Cow::Owned)
    }

    /// The families of all types, sorted: `r4` of `r4.4xlarge`.
    pub fn families(&self) -> Vec<&str> {
        let mut families: Vec<&str> = self.instances.iter().map(InstanceType::family).collect();
        families.sort_unstable();
        families.dedup();
        families
    }

    /// The families that a word names: the one of that name, else those of a cloud (`gcp`, `azure`, `aws`), or of
    /// a series of another cloud (`gcp:c4`, `c4a`, `azure:E`).
    pub fn families_of(&self, word: &str) -> Vec<&str> {
        let is = |name: &str| name.eq_ignore_ascii_case(word);
        let all = self.families();
        if let Some(one) = all.iter().find(|family| is(family)) {
            return vec![*one];
        }
        let of_word = |family: &&str| {
            let cloud = Cloud::of(family);
            let Some((_, own)) = family.split_once(':') else { return is(cloud.prefix()) };
            let series = match cloud {
                Cloud::Azure => own.trim_start_matches("Standard_"),
                _ => own.split('-').next().unwrap_or_default(),
            };
            // A letter alone is no series of Azure without its cloud.
            is(cloud.prefix()) || is(&format!("{}:{series}", cloud.prefix())) || cloud == Cloud::Google && is(series)
        };
        all.into_iter().filter(of_word).collect()
    }

    /// At most three families with names like the one given, nearest first.
    pub fn nearest_families(&self, name: &str) -> Vec<&str> {
        nearest::by_slips(name, self.families().into_iter(), 2, 3)
    }

    /// At most three names like the one given, nearest first: slips of the keyboard, else other sizes of the family,
    /// else the same size of a family with a like name.
    pub fn nearest_instances(&self, name: &str) -> Vec<&str> {
        instance::nearest(name, || self.instances.iter().map(|known| known.name.as_str()))
    }

    /// Every known price of an instance type, by region, purchase option and oldest first; empty when none is known.
    pub fn price_history(&self, instance: &str) -> &[InstancePrice] {
        let name = self.instance(instance).map_or(instance, |known| known.name.as_str());
        self.instance_prices.get(name).map_or(&[], Vec::as_slice)
    }

    /// Every known price of volumes, by region, type and oldest first.
    pub fn volume_prices(&self) -> &[VolumePrice] {
        &self.volume_prices
    }

    /// Whether any price of an instance in a region is known.
    pub fn knows_region(&self, region: &str) -> bool {
        self.instance_prices.values().flatten().any(|price| price.region == region)
    }

    /// The regions of which any price of an instance is known, sorted.
    pub fn regions(&self) -> Vec<&str> {
        let mut regions: Vec<&str> =
            self.instance_prices.values().flatten().map(|price| price.region.as_str()).collect();
        regions.sort_unstable();
        regions.dedup();
        regions
    }
}
