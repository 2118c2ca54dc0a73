locals {
  # EBS volumes of each machine in the order of their device names: by volume name, then member.
  attached = {
    for name, machine in var.machines : name => flatten([
      for volume_name, volume in machine.volumes : [
        for member in range(volume.members) : { name = volume_name, volume = volume }
      ]
    ])
  }

  device_names = [for letter in ["f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"] : "/dev/sd${letter}"]

  # Volume name -> its device names.
  devices = {
    for name, machine in var.machines : name => {
      for volume_name in keys(machine.volumes) : volume_name => [
        for i, attached in local.attached[name] : local.device_names[i] if attached.name == volume_name
      ]
    }
  }

  # Volumes of each machine that have a file system already.
  restored = {
    for name, machine in var.machines : name => [
      for volume_name, volume in machine.volumes : volume_name if volume.snapshot_id != null
    ]
  }

  # Clients and caches have a group of their own besides that of all hosts, where there are caches.
  groups = {
    for name, machine in var.machines : name => concat(
      [aws_security_group.run.id],
      [for name, group in aws_security_group.of_role : group.id if name == "${machine.role}s"],
    )
  }

  machine_tags = { for name, machine in var.machines : name => merge(local.tags, { Name = "${var.run} ${name}" }) }
}

resource "aws_instance" "machine" {
  for_each = var.machines

  ami             = local.images[each.value.architecture]
  instance_type   = each.value.instance_type
  ebs_optimized   = each.value.ebs_optimized
  key_name        = aws_key_pair.run.key_name
  placement_group = one(aws_placement_group.run[*].name)

  # element() goes round, so that a zone too many ends in the message of terraform_data.checked.
  subnet_id                   = element(local.subnet_ids, each.value.zone)
  vpc_security_group_ids      = local.groups[each.key]
  associate_public_ip_address = var.public_address

  # A machine that shuts itself down is gone, with its volumes.
  instance_initiated_shutdown_behavior = "terminate"

  user_data = templatefile("${path.module}/templates/first-boot.sh.tftpl", {
    lifetime_s     = var.lifetime_s
    ssh_user       = var.ssh_user
    programs       = lookup(var.programs, each.value.role, {})
    volumes        = local.devices[each.key]
    restored       = local.restored[each.key]
    instance_store = each.value.instance_store
    host_key       = var.ssh_host_key == null ? "" : var.ssh_host_key
  })

  dynamic "launch_template" {
    for_each = each.value.bandwidth_weighting == null ? [] : [each.value.bandwidth_weighting]

    content {
      id      = aws_cloudformation_stack.weighting[launch_template.value].outputs["Id"]
      version = "1"
    }
  }

  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }

  dynamic "instance_market_options" {
    for_each = each.value.spot ? ["spot"] : []

    content {
      market_type = "spot"

      spot_options {
        spot_instance_type             = "one-time"
        instance_interruption_behavior = "terminate"
      }
    }
  }

  root_block_device {
    volume_type           = "gp3"
    volume_size           = each.value.root_gib
    encrypted             = var.encrypted
    kms_key_id            = var.kms_key_id
    delete_on_termination = true
  }

  # Part of the instance rather than resources of their own: only so do volumes end with a machine that ends itself.
  dynamic "ebs_block_device" {
    for_each = local.attached[each.key]

    content {
      device_name           = local.device_names[ebs_block_device.key]
      volume_type           = ebs_block_device.value.volume.type
      volume_size           = ebs_block_device.value.volume.size_gib
      iops                  = ebs_block_device.value.volume.iops
      throughput            = ebs_block_device.value.volume.mib_per_s
      snapshot_id           = ebs_block_device.value.volume.snapshot_id
      encrypted             = var.encrypted
      kms_key_id            = var.kms_key_id
      delete_on_termination = true
    }
  }

  tags        = { Name = local.machine_tags[each.key].Name }
  volume_tags = local.machine_tags[each.key]

  depends_on = [
    terraform_data.checked,
    # A machine fetches packages as soon as it starts.
    aws_vpc_security_group_egress_rule.packages,
  ]

  lifecycle {
    # A newer image, or another first timer, is no reason to replace or stop a machine that is being measured. Nor is the
    # level that a volume was modified to since (pair_volumes), nor a template that is gone: the provider would make
    # another machine.
    ignore_changes = [ami, user_data, ebs_block_device, launch_template]
  }
}
