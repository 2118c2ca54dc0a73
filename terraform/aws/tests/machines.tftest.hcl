# Plans of every kind of machine that the examples use, against a mocked provider: no account, no network.

mock_provider "aws" {
  mock_data "aws_ssm_parameter" {
    defaults = { value = "ami-0123456789abcdef0" }
  }
  mock_data "aws_availability_zones" {
    defaults = { names = ["eu-west-1a", "eu-west-1b", "eu-west-1c"] }
  }
  mock_data "aws_ec2_instance_type_offerings" {
    defaults = { locations = ["eu-west-1c", "eu-west-1a", "eu-west-1b"] }
  }
  mock_resource "aws_instance" {
    defaults = {
      id                           = "i-0123456789abcdef0"
      public_ip                    = "198.51.100.20"
      primary_network_interface_id = "eni-0123456789abcdef0"
    }
  }
}

variables {
  run             = "gp3-or-io2"
  expires         = "2026-11-23T18:00:00Z"
  lifetime_s      = 3600
  tags            = { team = "databases" }
  region          = "eu-west-1"
  controller_cidr = "198.51.100.7/32"
  public_address  = true
  ssh_public_key  = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJvd6Wp0Yk0SSlSj8YKZ7bC0Fd9pyrC1c1c4QmW3yVYq test"
  machines = {
    "gp3-3000.database-1" = {
      role     = "database", configuration = "gp3-3000", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0
      root_gib = 20, volumes = { data = { type = "gp3", size_gib = 200, iops = 3000, mib_per_s = 250 } }
    }
  }
}

run "one_node_on_gp3" {
  command = plan

  assert {
    condition     = aws_instance.machine["gp3-3000.database-1"].instance_initiated_shutdown_behavior == "terminate"
    error_message = "A machine that shuts itself down has to be gone."
  }
  assert {
    condition = (
      aws_instance.machine["gp3-3000.database-1"].metadata_options[0].http_tokens == "required" &&
      aws_instance.machine["gp3-3000.database-1"].metadata_options[0].http_put_response_hop_limit == 1
    )
    error_message = "The metadata service has to ask for tokens, one hop far."
  }
  assert {
    condition = alltrue([
      for volume in aws_instance.machine["gp3-3000.database-1"].ebs_block_device :
      volume.device_name == "/dev/sdf" && volume.volume_type == "gp3" && volume.volume_size == 200 &&
      volume.iops == 3000
      && volume.throughput == 250 && volume.encrypted && volume.delete_on_termination
    ]) && length(aws_instance.machine["gp3-3000.database-1"].ebs_block_device) == 1
    error_message = "The data volume is a gp3 of 200 GiB as asked, encrypted, and ends with its machine."
  }
  assert {
    condition = alltrue([
      for root in aws_instance.machine["gp3-3000.database-1"].root_block_device :
      root.encrypted && root.delete_on_termination && root.volume_type == "gp3" && root.volume_size == 20
    ])
    error_message = "The root volume is an encrypted gp3 that ends with its machine."
  }
  assert {
    condition = (
      aws_instance.machine["gp3-3000.database-1"].volume_tags["iopslab:run"] == "gp3-or-io2" &&
      aws_instance.machine["gp3-3000.database-1"].volume_tags["iopslab:expires"] == "2026-11-23T18:00:00Z" &&
      aws_instance.machine["gp3-3000.database-1"].volume_tags["team"] == "databases"
    )
    error_message = "Volumes have the run's tags and the user's."
  }
  assert {
    condition = (
      local.tags ==
      { team = "databases", "iopslab:run" = "gp3-or-io2", "iopslab:expires" = "2026-11-23T18:00:00Z" }
    )
    error_message = "Everything else has them by default_tags."
  }
  assert {
    condition     = strcontains(aws_instance.machine["gp3-3000.database-1"].user_data, "\nshutdown --no-wall -P +60\n")
    error_message = "The machine has to end itself after an hour."
  }
  assert {
    condition     = !strcontains(aws_instance.machine["gp3-3000.database-1"].user_data, "ssh_host_ed25519_key")
    error_message = "Without a host key of the run the machine keeps its own."
  }
  assert {
    condition     = length(aws_instance.machine["gp3-3000.database-1"].instance_market_options) == 0
    error_message = "Not asked for spot."
  }
  assert {
    condition     = length(aws_placement_group.run) == 0 && length(aws_cloudformation_stack.weighting) == 0
    error_message = "Not asked for a placement group, nor for another weighting."
  }
  assert {
    condition = (
      aws_vpc_security_group_ingress_rule.ssh.cidr_ipv4 == "198.51.100.7/32" &&
      aws_vpc_security_group_ingress_rule.ssh.from_port == 22 && aws_vpc_security_group_ingress_rule.ssh.to_port == 22
    )
    error_message = "SSH is open to the controller only."
  }
  assert {
    condition     = alltrue([for rule in aws_vpc_security_group_ingress_rule.between_hosts : rule.cidr_ipv4 == null])
    error_message = "Nothing but SSH is open to addresses."
  }
  assert {
    condition     = length(aws_security_group.of_role) == 0
    error_message = "Without caches there are no groups for them."
  }
}

run "outputs_name_every_machine_and_volume" {
  command = apply

  assert {
    condition = (
      keys(output.machines) == ["gp3-3000.database-1"] &&
      output.machines["gp3-3000.database-1"].instance_id == "i-0123456789abcdef0" &&
      output.machines["gp3-3000.database-1"].public_address == "198.51.100.20" &&
      output.machines["gp3-3000.database-1"].role == "database" &&
      output.machines["gp3-3000.database-1"].configuration == "gp3-3000"
    )
    error_message = "A machine's address, role and configuration are given out."
  }
  assert {
    condition = (
      { for name, ids in output.machines["gp3-3000.database-1"].volumes : name => length(ids) } ==
      { data = 1 }
    )
    error_message = "A volume's id is given out."
  }
  assert {
    condition     = output.ssh_user == "admin" && output.region == "eu-west-1"
    error_message = "User and region are given out."
  }
}

run "every_kind_of_storage" {
  command = plan

  variables {
    machines = {
      "gp2.database-1" = {
        role    = "database", instance_type = "r4.4xlarge", architecture = "x86_64", zone = 0, root_gib = 50
        volumes = { data = { type = "gp2", size_gib = 1000 } }
      }
      "io2.database-1" = {
        role = "database", instance_type = "r6i.4xlarge", architecture = "x86_64", zone = 0, root_gib = 20
        volumes = {
          data      = { type = "io2", size_gib = 500, iops = 16000 }
          commitlog = { type = "gp2", size_gib = 50 }
        }
      }
      "striped.database-1" = {
        role    = "database", instance_type = "r6i.4xlarge", architecture = "x86_64", zone = 0, root_gib = 20
        volumes = { data = { type = "gp3", size_gib = 250, iops = 8000, members = 2 } }
      }
      "nvme.database-1" = {
        role           = "database", instance_type = "i4i.2xlarge", architecture = "x86_64", zone = 0, root_gib = 20
        instance_store = true, volumes = { commitlog = { type = "gp3", size_gib = 50 } }
      }
    }
  }
  assert {
    condition = (
      [
        for volume in aws_instance.machine["gp2.database-1"].ebs_block_device : [volume.volume_type, volume.volume_size]
      ] ==
      [["gp2", 1000]]
    )
    error_message = "One gp2 of 1,000 GiB."
  }
  assert {
    condition = {
      for volume in aws_instance.machine["io2.database-1"].ebs_block_device :
      volume.device_name => [volume.volume_type, tostring(volume.volume_size)]
    } == { "/dev/sdf" = ["gp2", "50"], "/dev/sdg" = ["io2", "500"] }
    error_message = "Each volume has a device name of its own, by the order of their names."
  }
  assert {
    condition = (
      strcontains(aws_instance.machine["io2.database-1"].user_data, "\nebs_volume volume commitlog /dev/sdf\n") &&
      strcontains(aws_instance.machine["io2.database-1"].user_data, "\nebs_volume volume data /dev/sdg\n")
    )
    error_message = "The machine mounts both."
  }
  assert {
    condition = (
      toset(aws_instance.machine["striped.database-1"].ebs_block_device[*].device_name) ==
      toset(["/dev/sdf", "/dev/sdg"])
    )
    error_message = "Two volumes."
  }
  assert {
    condition = strcontains(
      aws_instance.machine["striped.database-1"].user_data,
      "\nebs_volume volume data /dev/sdf /dev/sdg\n"
    )
    error_message = "The machine makes one volume of them."
  }
  assert {
    condition = (
      strcontains(aws_instance.machine["nvme.database-1"].user_data, "\nvolume data \"$${disks[@]}\"\n") &&
      strcontains(aws_instance.machine["nvme.database-1"].user_data, "\nebs_volume volume commitlog /dev/sdf\n")
    )
    error_message = "The instance store becomes data; the commit log is on EBS."
  }
}

# aws_ebs_volume and launch templates of provider 5 end at 1,000 MiB/s; volumes that are part of an instance do not.
run "a_gp3_as_large_as_it_is_sold" {
  command = plan

  variables {
    machines = {
      "large.database-1" = {
        role    = "database", instance_type = "r6i.32xlarge", architecture = "x86_64", zone = 0, root_gib = 20
        volumes = { data = { type = "gp3", size_gib = 4000, iops = 80000, mib_per_s = 2000 } }
      }
    }
  }
  assert {
    condition = [
      for volume in aws_instance.machine["large.database-1"].ebs_block_device : [volume.iops, volume.throughput]
    ] == [[80000, 2000]]
    error_message = "80,000 IOPS and 2,000 MiB/s, which AWS sells since 2025-09."
  }
}

run "bandwidth_weighted_for_volumes" {
  command = plan

  variables {
    machines = {
      "weighted.database-1" = {
        role     = "database", instance_type = "m8i.large", architecture = "x86_64", zone = 0
        root_gib = 20, bandwidth_weighting = "ebs-1"
      }
      "plain.database-1" = {
        role     = "database", instance_type = "m8i.large", architecture = "x86_64", zone = 0
        root_gib = 20
      }
    }
  }
  assert {
    condition = (
      length(aws_instance.machine["weighted.database-1"].launch_template) == 1 &&
      length(aws_instance.machine["plain.database-1"].launch_template) == 0
    )
    error_message = "One machine is made from a template, the other one from none."
  }
  assert {
    condition = (
      jsondecode(
        aws_cloudformation_stack.weighting["ebs-1"].template_body
      ).Resources.Template.Properties.LaunchTemplateData ==
      { NetworkPerformanceOptions = { BandwidthWeighting = "ebs-1" } }
    )
    error_message = "The template states the weighting and nothing else."
  }
  assert {
    condition = contains(
      jsondecode(
        aws_cloudformation_stack.weighting["ebs-1"].template_body
      ).Resources.Template.Properties.TagSpecifications[0].Tags,
      { Key = "iopslab:run", Value = "gp3-or-io2" }
    )
    error_message = "The template has the run's tags."
  }
  assert {
    condition     = startswith(aws_cloudformation_stack.weighting["ebs-1"].name, "iopslab-gp3-or-io2-ebs-1-")
    error_message = "The stack is named by the run, the weighting and the machines."
  }
}

run "a_machine_that_is_known_before_its_first_answer" {
  command = plan

  variables {
    ssh_host_key = "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n"
    machines = {
      "known.database-1" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0
        root_gib = 20
      }
    }
  }

  assert {
    condition = strcontains(
      nonsensitive(aws_instance.machine["known.database-1"].user_data),
      "<<'KEY'\n-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\nKEY\n"
    )
    error_message = "The machine gives its sshd the key."
  }
}

run "a_volume_made_from_a_snapshot" {
  command = plan

  variables {
    machines = {
      "restored.database-1" = {
        role = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0, root_gib = 20
        volumes = {
          data      = { type = "gp3", size_gib = 200, snapshot_id = "snap-0123456789abcdef0" }
          commitlog = { type = "gp3", size_gib = 50 }
        }
      }
    }
  }
  assert {
    condition = one([
      for volume in aws_instance.machine["restored.database-1"].ebs_block_device :
      volume.snapshot_id if volume.device_name == "/dev/sdg"
    ]) == "snap-0123456789abcdef0"
    error_message = "The data volume is made from the snapshot."
  }
  assert {
    condition = (
      strcontains(
        aws_instance.machine["restored.database-1"].user_data, "\nebs_volume restored_volume data /dev/sdg\n"
      ) &&
      strcontains(aws_instance.machine["restored.database-1"].user_data, "\nebs_volume volume commitlog /dev/sdf\n")
    )
    error_message = "The machine makes a file system on the commit log alone."
  }
}

run "three_nodes_over_three_zones_and_a_client_in_another" {
  command = plan

  variables {
    zones = 3
    machines = {
      "gp3.database-1" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0
        root_gib = 20
      }
      "gp3.database-2" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 1
        root_gib = 20
      }
      "gp3.database-3" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 2
        root_gib = 20
      }
      "client-1" = {
        role     = "client", instance_type = "c6i.xlarge", architecture = "x86_64", zone = 1
        root_gib = 20
      }
    }
  }
  assert {
    condition     = join(" ", local.zone_names) == "eu-west-1a eu-west-1b eu-west-1c"
    error_message = "The zones that offer both types, by name."
  }
  assert {
    condition     = length(aws_instance.machine) == 4
    error_message = "Three nodes and a client."
  }
  assert {
    condition     = toset(keys(data.aws_ec2_instance_type_offerings.by_type)) == toset(["r6i.xlarge", "c6i.xlarge"])
    error_message = "Each type is asked for once."
  }
}

run "the_first_zone_that_offers_the_type_is_taken" {
  command = plan

  override_data {
    target = data.aws_ec2_instance_type_offerings.by_type
    values = { locations = ["eu-west-1c", "eu-west-1b"] }
  }
  assert {
    condition     = join(" ", local.zone_names) == "eu-west-1b"
    error_message = "eu-west-1a does not offer the type."
  }
}

run "zones_go_around_the_end_from_the_first" {
  command = plan

  variables {
    zones      = 2
    first_zone = 5
  }
  assert {
    condition     = join(" ", local.zone_names) == "eu-west-1c eu-west-1a"
    error_message = "5 of 3 zones is the third one; the next is the first again."
  }
}

run "zones_by_name" {
  command = plan

  variables {
    zone_names = ["eu-west-1c"]
  }
  assert {
    condition = (
      join(" ", local.zone_names) == "eu-west-1c" &&
      length(data.aws_ec2_instance_type_offerings.by_type) == 0
    )
    error_message = "The named zone, and nothing is asked."
  }
}

run "an_existing_network" {
  command = plan

  variables {
    public_address = false
    network        = { vpc_id = "vpc-0a", subnet_ids = ["subnet-0a", "subnet-0b"] }
    machines = {
      "gp3.database-1" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0
        root_gib = 20
      }
      "client-1" = {
        role     = "client", instance_type = "c6i.xlarge", architecture = "x86_64", zone = 1
        root_gib = 20
      }
    }
  }
  assert {
    condition = (
      aws_instance.machine["gp3.database-1"].subnet_id == "subnet-0a" &&
      aws_instance.machine["client-1"].subnet_id == "subnet-0b"
    )
    error_message = "Zones are the subnets in their order."
  }
  assert {
    condition     = !aws_instance.machine["client-1"].associate_public_ip_address && output.vpc_id == "vpc-0a"
    error_message = "No public address unless asked, in the network that was named."
  }
  assert {
    condition     = length(module.network) == 0 && aws_security_group.run.vpc_id == "vpc-0a"
    error_message = "No network is made."
  }
  assert {
    condition     = alltrue([for machine in output.machines : machine.public_address == null])
    error_message = "There are no public addresses to give out."
  }
}

run "graviton_and_an_image_of_ones_own" {
  command = plan

  variables {
    images = { arm64 = "ami-0fedcba987654321" }
    machines = {
      "arm.database-1" = {
        role     = "database", instance_type = "r7g.xlarge", architecture = "arm64", zone = 0
        root_gib = 20
      }
      "client-1" = {
        role     = "client", instance_type = "c6i.xlarge", architecture = "x86_64", zone = 0
        root_gib = 20
      }
    }
  }
  assert {
    condition = (
      aws_instance.machine["arm.database-1"].ami == "ami-0fedcba987654321" &&
      aws_instance.machine["client-1"].ami == "ami-0123456789abcdef0"
    )
    error_message = "Each architecture has its image."
  }
  assert {
    condition = (
      { for architecture, parameter in data.aws_ssm_parameter.image : architecture => parameter.name } ==
      { x86_64 = "/aws/service/debian/release/12/latest/amd64" }
    )
    error_message = "Only what is not an AMI is looked up."
  }
}

# A machine of its own: what an earlier run has made keeps its volumes (`ignore_changes`).
run "spot_in_a_placement_group_under_a_key_of_ones_own" {
  command = plan

  variables {
    placement_group = "cluster"
    kms_key_id      = "arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
    machines = {
      "gp3-6000.database-1" = {
        role    = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0, root_gib = 20
        volumes = { data = { type = "gp3", size_gib = 200 } }
      }
      "client-1" = {
        role     = "client", instance_type = "c6i.xlarge", architecture = "x86_64", zone = 0
        root_gib = 20, spot = true
      }
    }
  }
  assert {
    condition = (
      aws_instance.machine["client-1"].instance_market_options[0].market_type == "spot" &&
      aws_instance.machine["client-1"].instance_market_options[0].spot_options[0].spot_instance_type == "one-time" &&
      aws_instance.machine["client-1"].instance_market_options[0].spot_options[0].instance_interruption_behavior ==
      "terminate"
    )
    error_message = "A spot machine is asked for once and ends when it is interrupted."
  }
  assert {
    condition = (
      aws_placement_group.run[0].strategy == "cluster" &&
      aws_instance.machine["gp3-6000.database-1"].placement_group == "iopslab-gp3-or-io2"
    )
    error_message = "All machines stand in the group."
  }
  assert {
    condition = alltrue([
      for volume in aws_instance.machine["gp3-6000.database-1"].ebs_block_device :
      endswith(volume.kms_key_id, "1234567890ab")
    ])
    error_message = "Volumes are encrypted by the named key."
  }
}

# Applied: which groups these are is not known before. The last one, as what it makes stays.
run "caches_that_only_clients_reach" {
  command = apply

  variables {
    machines = {
      "gp3.database-1" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0
        root_gib = 20
      }
      "gp3.cache-1" = {
        role     = "cache", configuration = "gp3", instance_type = "r7g.large", architecture = "arm64", zone = 0
        root_gib = 20
      }
      "client-1" = {
        role     = "client", instance_type = "c6i.xlarge", architecture = "x86_64", zone = 0
        root_gib = 20
      }
    }
  }
  assert {
    condition = (
      aws_instance.machine["gp3.database-1"].vpc_security_group_ids == toset([aws_security_group.run.id]) &&
      aws_instance.machine["gp3.cache-1"].vpc_security_group_ids ==
      toset([aws_security_group.run.id, aws_security_group.of_role["caches"].id]) &&
      aws_instance.machine["client-1"].vpc_security_group_ids ==
      toset([aws_security_group.run.id, aws_security_group.of_role["clients"].id])
    )
    error_message = "Caches and clients have a group each, besides that of all hosts."
  }
  assert {
    condition = (
      aws_vpc_security_group_ingress_rule.memcached[0].security_group_id == aws_security_group.of_role["caches"].id &&
      aws_vpc_security_group_ingress_rule.memcached[0].referenced_security_group_id ==
      aws_security_group.of_role["clients"].id &&
      aws_vpc_security_group_ingress_rule.memcached[0].cidr_ipv4 == null &&
      aws_vpc_security_group_ingress_rule.memcached[0].from_port == 11211 &&
      aws_vpc_security_group_ingress_rule.memcached[0].to_port == 11211
    )
    error_message = "Clients reach the port of memcached on caches."
  }
  assert {
    condition = alltrue([
      for rule in values(aws_vpc_security_group_ingress_rule.between_hosts) :
      rule.ip_protocol == "icmp" || rule.to_port < 11211
    ])
    error_message = "Nobody else does."
  }
  assert {
    condition = (
      aws_vpc_security_group_egress_rule.memcached[0].security_group_id == aws_security_group.run.id &&
      aws_vpc_security_group_egress_rule.memcached[0].referenced_security_group_id == aws_security_group.of_role["caches"].id
    )
    error_message = "Clients may send to caches."
  }
  assert {
    condition = (
      strcontains(aws_instance.machine["gp3.cache-1"].user_data, "\nneed memcached memcached\n") &&
      !strcontains(aws_instance.machine["gp3.cache-1"].user_data, "\nneed java ") &&
      strcontains(aws_instance.machine["gp3.database-1"].user_data, "\nneed java ") &&
      !strcontains(aws_instance.machine["gp3.database-1"].user_data, "need memcached") &&
      !strcontains(aws_instance.machine["client-1"].user_data, "need memcached")
    )
    error_message = "A cache installs memcached, and nothing of a database."
  }
  assert {
    condition = (
      output.machines["gp3.cache-1"].role == "cache" && output.machines["gp3.cache-1"].configuration == "gp3"
    )
    error_message = "Its address is given out with its role and configuration."
  }
}
