//! What an account may have at the same time in a region, by Service Quotas, and what of it is in use.

use std::collections::{BTreeMap, BTreeSet};

use catalog::{VcpuPool, VolumeType};
use serde::Deserialize;

use crate::AwsError;
use crate::ec2;
use crate::instance_types;
use crate::signed::{Call, Caller, Refused, Service};
use crate::xml::{items, next_token, text, value};

const SERVICE_QUOTAS: Service =
    Service { id: "Service Quotas", signing_name: "servicequotas", host_prefix: "servicequotas" };
/// Instance types of one question.
const TYPES_A_QUESTION: usize = 100;
/// Things of a page.
const A_PAGE: u32 = 500;
/// Instances in these states count; stopped ones do not.
const COUNTED: [&str; 4] = ["pending", "running", "shutting-down", "stopping"];

/// One quota of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quota {
    /// AWS's code.
    pub code: &'static str,
    /// What the account may have.
    pub granted: u64,
    /// What it has, whoever made it.
    pub in_use: u64,
    /// Whether the value is what AWS gives every account: there is none of the account's own.
    pub is_default: bool,
}

/// What an account may have in a region.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Quotas {
    /// vCPUs of running instances.
    pub vcpus: BTreeMap<VcpuPool, Quota>,
    /// GiB of volumes.
    pub volume_gib: BTreeMap<VolumeType, Quota>,
}

/// Which quotas to ask for.
#[derive(Debug, Clone, Copy)]
pub struct QuotaRequest<'a> {
    /// vCPUs of these, on the spot market or on demand.
    pub pools: &'a BTreeSet<VcpuPool>,
    /// Whether on the spot market.
    pub spot: bool,
    /// GiB of volumes of these types.
    pub volume_types: &'a BTreeSet<VolumeType>,
}

/// Asks for the quotas of an account in a region: of a named profile, or of the credentials that the SDK finds.
///
/// # Errors
/// When there are no credentials, or one of the quotas, or what is in use of it, is refused.
pub fn quotas(profile: Option<&str>, region: &str, asked: QuotaRequest<'_>) -> Result<Quotas, AwsError> {
    let caller = Caller::new(profile, Some(region))?;
    let refused = |permission: &'static str| {
        let region = region.to_owned();
        move |refused: Refused| AwsError::Refused(format!("{} (in {region}; permission {permission})", refused.reason))
    };
    let mut reported = Quotas::default();
    let mut vcpus = vcpus_in_use(&caller, region, asked.spot, &refused)?;
    for pool in asked.pools {
        let quota = quota(&caller, region, ("ec2", of_vcpus(*pool, asked.spot)), 1.0, &refused)?;
        let in_use = vcpus.remove(pool).unwrap_or_default();
        reported.vcpus.insert(*pool, Quota { in_use, ..quota });
    }
    let volumes = gib_in_use(&caller, region).map_err(refused("ec2:DescribeVolumes"))?;
    for kind in asked.volume_types {
        let Some(code) = of_volumes(*kind) else { continue };
        // It is granted in TiB.
        let quota = quota(&caller, region, ("ebs", code), 1_024.0, &refused)?;
        let in_use = volumes.get(kind.name()).copied().unwrap_or_default();
        reported.volume_gib.insert(*kind, Quota { in_use, ..quota });
    }
    Ok(reported)
}

/// Source: "Amazon EC2 endpoints and quotas", AWS General Reference.
fn of_vcpus(pool: VcpuPool, spot: bool) -> &'static str {
    match (pool, spot) {
        (VcpuPool::Standard, false) => "L-1216C47A",
        (VcpuPool::Standard, true) => "L-34B43A08",
        (VcpuPool::X, false) => "L-7295265B",
        (VcpuPool::X, true) => "L-E3A00192",
    }
}

/// Source: "Amazon EBS endpoints and quotas", AWS General Reference. `None`: no volume of EC2.
fn of_volumes(kind: VolumeType) -> Option<&'static str> {
    Some(match kind {
        VolumeType::Gp2 => "L-D18FCD1D",
        VolumeType::Gp3 => "L-7A658B76",
        VolumeType::Io1 => "L-FD252861",
        VolumeType::Io2 => "L-09BD8365",
        VolumeType::St1 => "L-82ACEF56",
        VolumeType::Sc1 => "L-17AF77E8",
        VolumeType::Standard => "L-9CF3C2EB",
        VolumeType::RdsGp3
        | VolumeType::RdsIo1
        | VolumeType::RdsIo2
        | VolumeType::PdBalanced
        | VolumeType::PdSsd
        | VolumeType::HyperdiskBalanced
        | VolumeType::HyperdiskExtreme
        | VolumeType::HyperdiskThroughput
        | VolumeType::Premium
        | VolumeType::PremiumV2
        | VolumeType::Ultra => return None,
    })
}

/// The answer of both calls.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    quota: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Value {
    value: f64,
}

/// The account's own value, else what AWS gives every account; `of_one` of our units are one of AWS's.
fn quota<F: FnOnce(Refused) -> AwsError>(
    caller: &Caller,
    region: &str,
    (service, code): (&str, &'static str),
    of_one: f64,
    refused: &dyn Fn(&'static str) -> F,
) -> Result<Quota, AwsError> {
    let ask = |action: &str| {
        let call = Call {
            headers: &[
                ("content-type", "application/x-amz-json-1.1"),
                ("x-amz-target", &format!("ServiceQuotasV20190624.{action}")),
            ],
            body: serde_json::json!({ "ServiceCode": service, "QuotaCode": code }).to_string(),
        };
        let about =
            |refused: Refused| Refused { reason: format!("{code} of {service}: {}", refused.reason), ..refused };
        let answer = caller.ask(SERVICE_QUOTAS, region, &call).map_err(about)?;
        let read: Answer = serde_json::from_str(&answer)
            .map_err(|error| about(Refused { code: None, reason: format!("the answer cannot be read: {error}") }))?;
        Ok::<f64, Refused>(read.quota.value)
    };
    let (value, is_default) = match ask("GetServiceQuota") {
        Ok(value) => (value, false),
        // "If the applied quota value is not available for a quota, the quota is not retrieved."
        Err(none) if none.code.as_deref() == Some("NoSuchResourceException") => {
            let value = ask("GetAWSDefaultServiceQuota").map_err(refused("servicequotas:GetAWSDefaultServiceQuota"))?;
            (value, true)
        }
        Err(other) => return Err(refused("servicequotas:GetServiceQuota")(other)),
    };
    Ok(Quota { code, granted: (value * of_one).floor().max(0.0) as u64, in_use: 0, is_default })
}

/// All pages of an action.
fn pages(
    caller: &Caller,
    region: &str,
    action: &str,
    parameters: &[(String, String)],
    read: &mut dyn FnMut(roxmltree::Node<'_, '_>),
) -> Result<(), Refused> {
    let mut token: Option<String> = None;
    loop {
        let mut parameters = parameters.to_vec();
        parameters.push(("MaxResults".to_owned(), A_PAGE.to_string()));
        parameters.extend(token.map(|token| ("NextToken".to_owned(), token)));
        let answer = ec2::ask(caller, region, action, &parameters)?;
        let document = roxmltree::Document::parse(&answer)
            .map_err(|error| Refused { code: None, reason: format!("{action} was answered with no XML: {error}") })?;
        read(document.root_element());
        token = next_token(document.root_element());
        if token.is_none() {
            return Ok(());
        }
    }
}

/// vCPUs of instances that run, on the spot market or on demand. The quota counts those of the type, whatever an
/// instance makes of them.
fn vcpus_in_use<F: FnOnce(Refused) -> AwsError>(
    caller: &Caller,
    region: &str,
    spot: bool,
    refused: &dyn Fn(&'static str) -> F,
) -> Result<BTreeMap<VcpuPool, u64>, AwsError> {
    let mut parameters = vec![("Filter.1.Name".to_owned(), "instance-state-name".to_owned())];
    let states = COUNTED.iter().zip(1..);
    parameters.extend(states.map(|(state, number)| (format!("Filter.1.Value.{number}"), (*state).to_owned())));
    let mut of_type: BTreeMap<String, u64> = BTreeMap::new();
    let mut count = |root: roxmltree::Node<'_, '_>| {
        for instance in items(root, "reservationSet").flat_map(|one| items(one, "instancesSet")) {
            let is_spot = text(instance, "instanceLifecycle") == Some("spot");
            let kind = text(instance, "instanceType").filter(|_| is_spot == spot);
            *of_type.entry(kind.unwrap_or_default().to_owned()).or_default() += 1;
        }
    };
    pages(caller, region, "DescribeInstances", &parameters, &mut count).map_err(refused("ec2:DescribeInstances"))?;
    of_type.retain(|kind, _| VcpuPool::of(kind).is_some());
    let kinds: Vec<&String> = of_type.keys().collect();
    let mut of_pool: BTreeMap<VcpuPool, u64> = BTreeMap::new();
    for some in kinds.chunks(TYPES_A_QUESTION) {
        let names = some.iter().zip(1..).map(|(kind, number)| (format!("InstanceType.{number}"), (*kind).clone()));
        let names: Vec<_> = names.collect();
        let answer = ec2::ask(caller, region, "DescribeInstanceTypes", &names)
            .and_then(|answer| instance_types::page(&answer).map_err(|reason| Refused { code: None, reason }))
            .map_err(refused("ec2:DescribeInstanceTypes"))?;
        for kind in some {
            let its = answer.types.iter().find(|reported| reported.name() == kind.as_str());
            let vcpus = its.and_then(|reported| reported.vcpus).ok_or_else(|| {
                refused("ec2:DescribeInstanceTypes")(Refused {
                    code: None,
                    reason: format!("EC2 does not give the vCPUs of {kind}, of which there are instances"),
                })
            })?;
            let pool = VcpuPool::of(kind).unwrap_or(VcpuPool::Standard);
            *of_pool.entry(pool).or_default() += of_type[*kind] * u64::from(vcpus);
        }
    }
    Ok(of_pool)
}

/// GiB of volumes by their type, attached or not.
fn gib_in_use(caller: &Caller, region: &str) -> Result<BTreeMap<String, u64>, Refused> {
    let mut of_type: BTreeMap<String, u64> = BTreeMap::new();
    pages(caller, region, "DescribeVolumes", &[], &mut |root| {
        for volume in items(root, "volumeSet") {
            let kind = text(volume, "volumeType").unwrap_or_default();
            *of_type.entry(kind.to_owned()).or_default() += value::<u64>(volume, "size").unwrap_or_default();
        }
    })?;
    Ok(of_type)
}
