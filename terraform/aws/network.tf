locals {
  makes_network = var.network == null
  chooses_zones = local.makes_network && var.zone_names == null
  zones_used    = toset([for machine in var.machines : machine.zone])

  # Not every zone of a region has every instance type.
  offering_zones = local.chooses_zones ? sort(setintersection(
    data.aws_availability_zones.usable[0].names,
    [for offering in data.aws_ec2_instance_type_offerings.by_type : offering.locations]...
  )) : []

  # The chosen ones begin at first_zone, and go around the end.
  usable_zones = local.chooses_zones ? local.offering_zones : coalesce(var.zone_names, [])
  zone_names = [
    for number in range(min(var.zones, length(local.usable_zones))) :
    local.usable_zones[(number + (local.chooses_zones ? var.first_zone : 0)) % length(local.usable_zones)]
  ]

  vpc_id     = local.makes_network ? module.network[0].vpc_id : var.network.vpc_id
  subnet_ids = local.makes_network ? module.network[0].subnet_ids : var.network.subnet_ids
  zone_count = local.makes_network ? var.zones : length(var.network.subnet_ids)
}

data "aws_availability_zones" "usable" {
  count = local.chooses_zones ? 1 : 0

  state = "available"

  # No local zones, no wavelength zones.
  filter {
    name   = "zone-type"
    values = ["availability-zone"]
  }
}

data "aws_ec2_instance_type_offerings" "by_type" {
  for_each = local.chooses_zones ? toset([for machine in var.machines : machine.instance_type]) : toset([])

  location_type = "availability-zone"

  filter {
    name   = "instance-type"
    values = [each.value]
  }
}

# What several variables say together is judged here, before anything is made.
resource "terraform_data" "checked" {
  lifecycle {
    precondition {
      condition     = !local.makes_network || var.public_address
      error_message = <<-EOT
        A network that is made here has no NAT: without public addresses its machines could neither be reached nor
        fetch packages. Set public_address = true, or name a network of yours (network) with a way in and out.
      EOT
    }

    precondition {
      condition     = alltrue([for zone in local.zones_used : zone < local.zone_count])
      error_message = <<-EOT
        machines: the highest zone is ${max(local.zones_used...)}, and there are zones 0 to ${local.zone_count - 1}
        (${local.makes_network ? "zones" : "network.subnet_ids"}).
      EOT
    }

    precondition {
      condition     = !local.makes_network || length(local.zone_names) == var.zones
      error_message = <<-EOT
        zones: ${var.zones} asked for in ${var.region}, and there are ${length(local.zone_names)} that
        ${local.chooses_zones ? "offer every instance type of the machines" : "zone_names names"}.
      EOT
    }

    precondition {
      condition     = var.kms_key_id == null || var.encrypted
      error_message = "kms_key_id: a key without encryption (encrypted = false) would not be used."
    }
  }
}

module "network" {
  source = "./modules/network"
  count  = local.makes_network ? 1 : 0

  name       = "iopslab-${var.run}"
  zone_names = local.zone_names

  depends_on = [terraform_data.checked]
}
