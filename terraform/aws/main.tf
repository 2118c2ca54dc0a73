locals {
  tags = merge(var.tags, {
    "iopslab:run"     = var.run
    "iopslab:expires" = var.expires
  })

  architectures = toset([for machine in var.machines : machine.architecture])
  parameters = {
    for architecture in local.architectures : architecture => var.images[architecture]
    if startswith(var.images[architecture], "/")
  }
  images = {
    for architecture in local.architectures : architecture => (
      startswith(var.images[architecture], "/")
      ? nonsensitive(data.aws_ssm_parameter.image[architecture].value)
      : var.images[architecture]
    )
  }
}

data "aws_ssm_parameter" "image" {
  for_each = local.parameters

  name = each.value
}

resource "aws_key_pair" "run" {
  key_name_prefix = "iopslab-${var.run}-"
  public_key      = var.ssh_public_key
  tags            = { Name = var.run }
}

resource "aws_placement_group" "run" {
  count = var.placement_group == null ? 0 : 1

  name     = "iopslab-${var.run}"
  strategy = var.placement_group
  tags     = { Name = var.run }

  lifecycle {
    precondition {
      condition     = var.placement_group != "cluster" || length(local.zones_used) == 1
      error_message = "placement_group: a cluster lies in one zone; the machines stand in ${length(local.zones_used)}."
    }
  }
}
