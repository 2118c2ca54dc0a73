output "machines" {
  description = "Machines by name: ids, addresses, zone, and the ids of each EBS volume's members."
  value = {
    for name, machine in var.machines : name => {
      instance_id     = aws_instance.machine[name].id
      private_address = aws_instance.machine[name].private_ip
      public_address  = var.public_address ? aws_instance.machine[name].public_ip : null
      zone            = aws_instance.machine[name].availability_zone
      role            = machine.role
      configuration   = machine.configuration
      volumes = {
        for volume, devices in local.devices[name] : volume => [
          for device in devices : one([
            for attached in aws_instance.machine[name].ebs_block_device : attached.volume_id
            if attached.device_name == device
          ])
        ]
      }
    }
  }
}

output "ssh_user" {
  description = "User for SSH."
  value       = var.ssh_user
}

output "region" {
  description = "Region."
  value       = var.region
}

output "vpc_id" {
  description = "VPC of the machines, made here or yours."
  value       = local.vpc_id
}

output "security_group_id" {
  description = "Security group of the machines."
  value       = aws_security_group.run.id
}
