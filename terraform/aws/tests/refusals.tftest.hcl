# What several variables say together, and is refused before anything is made.

mock_provider "aws" {
  mock_data "aws_ssm_parameter" {
    defaults = { value = "ami-0123456789abcdef0" }
  }
  mock_data "aws_availability_zones" {
    defaults = { names = ["eu-west-1a", "eu-west-1b", "eu-west-1c"] }
  }
  mock_data "aws_ec2_instance_type_offerings" {
    defaults = { locations = ["eu-west-1a", "eu-west-1b"] }
  }
}

variables {
  run             = "gp3-or-io2"
  expires         = "2026-11-23T18:00:00Z"
  lifetime_s      = 3600
  region          = "eu-west-1"
  controller_cidr = "198.51.100.7/32"
  public_address  = true
  ssh_public_key  = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJvd6Wp0Yk0SSlSj8YKZ7bC0Fd9pyrC1c1c4QmW3yVYq test"
  machines = {
    "database-1" = {
      role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0
      root_gib = 20
    }
  }
}

run "a_network_made_here_without_public_addresses" {
  command = plan

  variables {
    public_address = false
  }
  expect_failures = [terraform_data.checked]
}

run "a_zone_too_many" {
  command = plan

  variables {
    machines = {
      "a" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 1
        root_gib = 20
      }
    }
  }
  expect_failures = [terraform_data.checked]
}

run "a_subnet_too_few" {
  command = plan

  variables {
    network = { vpc_id = "vpc-0a", subnet_ids = ["subnet-0a"] }
    machines = {
      "a" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 1
        root_gib = 20
      }
    }
  }
  expect_failures = [terraform_data.checked]
}

run "more_zones_than_offer_the_types" {
  command = plan

  variables {
    zones = 3
  }
  expect_failures = [terraform_data.checked]
}

run "fewer_named_zones_than_asked_for" {
  command = plan

  variables {
    zones      = 2
    zone_names = ["eu-west-1a"]
  }
  expect_failures = [terraform_data.checked]
}

run "a_key_without_encryption" {
  command = plan

  variables {
    encrypted  = false
    kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/1"
  }
  expect_failures = [terraform_data.checked]
}

run "a_cluster_over_zones" {
  command = plan

  variables {
    zones           = 2
    placement_group = "cluster"
    machines = {
      "a" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0
        root_gib = 20
      }
      "b" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 1
        root_gib = 20
      }
    }
  }
  expect_failures = [aws_placement_group.run[0]]
}
