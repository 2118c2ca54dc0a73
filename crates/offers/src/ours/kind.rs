//! The kinds of things that `terraform/aws` makes, and how EC2 calls them.

/// A kind of thing, in the order of removal: each may hold on to those after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A machine.
    Instance,
    /// An EBS volume.
    Volume,
    /// A network interface.
    NetworkInterface,
    /// A key pair.
    KeyPair,
    /// A placement group.
    PlacementGroup,
    /// A security group; its rules go with it.
    SecurityGroup,
    /// A route table.
    RouteTable,
    /// A subnet.
    Subnet,
    /// An internet gateway.
    InternetGateway,
    /// A network.
    Vpc,
}

/// How EC2 lists a kind, and removes one of it.
pub(super) struct Words {
    /// The call that lists.
    pub describe: &'static str,
    /// Things of a page; `None` where the call knows no pages.
    pub a_page: Option<u32>,
    /// The element of the list in its answer.
    pub list: &'static str,
    /// The element of a thing's id.
    pub id: &'static str,
    /// The element of its state, where it has one.
    pub state: Option<&'static str>,
    /// The call that removes.
    pub remove: &'static str,
    /// Its parameter, which takes a thing's id, or its name where it has one.
    pub parameter: &'static str,
    /// The element of the name by which it is removed, of kinds that are not removed by their id.
    pub name: Option<&'static str>,
}

impl Kind {
    /// All, in the order of removal.
    pub const ALL: [Self; 10] = [
        Self::Instance,
        Self::Volume,
        Self::NetworkInterface,
        Self::KeyPair,
        Self::PlacementGroup,
        Self::SecurityGroup,
        Self::RouteTable,
        Self::Subnet,
        Self::InternetGateway,
        Self::Vpc,
    ];

    /// Whether others cannot go before it.
    pub(super) fn holds_others(self) -> bool {
        !matches!(self, Self::Volume | Self::KeyPair | Self::PlacementGroup)
    }

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Instance => "instance",
            Self::Volume => "volume",
            Self::NetworkInterface => "network interface",
            Self::KeyPair => "key pair",
            Self::PlacementGroup => "placement group",
            Self::SecurityGroup => "security group",
            Self::RouteTable => "route table",
            Self::Subnet => "subnet",
            Self::InternetGateway => "internet gateway",
            Self::Vpc => "network",
        }
    }

    /// Source: Amazon EC2 API Reference, 2016-11-15.
    pub(super) fn words(self) -> Words {
        let by_id = |describe, list, id, state, remove, parameter| Words {
            describe,
            a_page: Some(100),
            list,
            id,
            state,
            remove,
            parameter,
            name: None,
        };
        match self {
            Self::Instance => by_id(
                "DescribeInstances",
                "instancesSet",
                "instanceId",
                Some("instanceState"),
                "TerminateInstances",
                "InstanceId.1",
            ),
            Self::Volume => {
                by_id("DescribeVolumes", "volumeSet", "volumeId", Some("status"), "DeleteVolume", "VolumeId")
            }
            Self::NetworkInterface => by_id(
                "DescribeNetworkInterfaces",
                "networkInterfaceSet",
                "networkInterfaceId",
                None,
                "DeleteNetworkInterface",
                "NetworkInterfaceId",
            ),
            Self::KeyPair => Words {
                a_page: None,
                name: Some("keyName"),
                ..by_id("DescribeKeyPairs", "keySet", "keyPairId", None, "DeleteKeyPair", "KeyName")
            },
            Self::PlacementGroup => Words {
                a_page: None,
                name: Some("groupName"),
                ..by_id(
                    "DescribePlacementGroups",
                    "placementGroupSet",
                    "groupId",
                    Some("state"),
                    "DeletePlacementGroup",
                    "GroupName",
                )
            },
            Self::SecurityGroup => {
                by_id("DescribeSecurityGroups", "securityGroupInfo", "groupId", None, "DeleteSecurityGroup", "GroupId")
            }
            Self::RouteTable => {
                by_id("DescribeRouteTables", "routeTableSet", "routeTableId", None, "DeleteRouteTable", "RouteTableId")
            }
            Self::Subnet => by_id("DescribeSubnets", "subnetSet", "subnetId", None, "DeleteSubnet", "SubnetId"),
            Self::InternetGateway => by_id(
                "DescribeInternetGateways",
                "internetGatewaySet",
                "internetGatewayId",
                None,
                "DeleteInternetGateway",
                "InternetGatewayId",
            ),
            Self::Vpc => by_id("DescribeVpcs", "vpcSet", "vpcId", None, "DeleteVpc", "VpcId"),
        }
    }
}
