# What a variable alone refuses. The module is variables.tf without the rest, so that no provider has to be started.

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


run "a_machine_that_is_accepted" {
  command = plan

  module {
    source = "./tests/variables"
  }

  assert {
    condition     = var.ssh_user == "admin" && !var.machines["database-1"].spot && var.encrypted
    error_message = "Defaults hold."
  }
}

run "a_run_without_a_usable_name" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    run = "a b"
  }
  expect_failures = [var.run]
}

run "an_expiry_that_is_no_moment" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    expires = "tomorrow"
  }
  expect_failures = [var.expires]
}

run "a_lifetime_too_short_to_start" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    lifetime_s = 60
  }
  expect_failures = [var.lifetime_s]
}

run "tags_that_are_iopslabs" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    tags = { "iopslab:run" = "mine" }
  }
  expect_failures = [var.tags]
}

run "a_tag_that_is_set_here" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    tags = { Name = "mine" }
  }
  expect_failures = [var.tags]
}

run "ssh_from_everywhere" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    controller_cidr = "0.0.0.0/0"
  }
  expect_failures = [var.controller_cidr]
}

run "a_controller_that_is_no_address" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    controller_cidr = "here"
  }
  expect_failures = [var.controller_cidr]
}

run "a_private_key" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    ssh_public_key = "-----BEGIN OPENSSH PRIVATE KEY-----"
  }
  expect_failures = [var.ssh_public_key]
}

run "a_host_key_that_is_public" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    ssh_host_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJvd6Wp0Yk0SSlSj8YKZ7bC0Fd9pyrC1c1c4QmW3yVYq test"
  }
  expect_failures = [var.ssh_host_key]
}

run "a_user_who_is_none" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    ssh_user = "a b"
  }
  expect_failures = [var.ssh_user]
}

run "an_image_that_is_none" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    images = { x86_64 = "debian-12" }
  }
  expect_failures = [var.images]
}

run "seven_zones" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    zones = 7
  }
  expect_failures = [var.zones]
}

run "a_network_without_subnets" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    network = { vpc_id = "vpc-0a", subnet_ids = [] }
  }
  expect_failures = [var.network]
}

run "an_unknown_strategy" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    placement_group = "tight"
  }
  expect_failures = [var.placement_group]
}

run "no_machines" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    machines = {}
  }
  expect_failures = [var.machines]
}

run "a_name_with_a_space" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    machines = {
      "a b" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0
        root_gib = 20
      }
    }
  }
  expect_failures = [var.machines]
}

run "an_unknown_role" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    machines = {
      "a" = {
        role     = "observer", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0
        root_gib = 20
      }
    }
  }
  expect_failures = [var.machines]
}

run "an_unknown_architecture" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    machines = {
      "a" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "riscv64", zone = 0
        root_gib = 20
      }
    }
  }
  expect_failures = [var.machines]
}

run "an_unknown_weighting" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    machines = {
      "a" = {
        role     = "database", instance_type = "m8i.large", architecture = "x86_64", zone = 0
        root_gib = 20, bandwidth_weighting = "ebs-2"
      }
    }
  }
  expect_failures = [var.machines]
}

run "half_a_zone" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    machines = {
      "a" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0.5
        root_gib = 20
      }
    }
  }
  expect_failures = [var.machines]
}

run "a_root_volume_smaller_than_the_image" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    machines = {
      "a" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0
        root_gib = 4
      }
    }
  }
  expect_failures = [var.machines]
}

run "a_volume_named_as_a_path" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    machines = {
      "a" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0
        root_gib = 20, volumes = { "../data" = { type = "gp3", size_gib = 10 } }
      }
    }
  }
  expect_failures = [var.machines]
}

run "an_unknown_type" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    machines = {
      "a" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0
        root_gib = 20, volumes = { data = { type = "gp4", size_gib = 10 } }
      }
    }
  }
  expect_failures = [var.machines]
}

run "an_empty_volume" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    machines = {
      "a" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0
        root_gib = 20, volumes = { data = { type = "gp3", size_gib = 0 } }
      }
    }
  }
  expect_failures = [var.machines]
}

run "io2_without_iops" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    machines = {
      "a" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0
        root_gib = 20, volumes = { data = { type = "io2", size_gib = 100 } }
      }
    }
  }
  expect_failures = [var.machines]
}

run "gp2_with_iops" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    machines = {
      "a" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0
        root_gib = 20, volumes = { data = { type = "gp2", size_gib = 100, iops = 3000 } }
      }
    }
  }
  expect_failures = [var.machines]
}

run "io2_with_throughput" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    machines = {
      "a" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0
        root_gib = 20
        volumes  = { data = { type = "io2", size_gib = 100, iops = 3000, mib_per_s = 250 } }
      }
    }
  }
  expect_failures = [var.machines]
}

run "no_members" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    machines = {
      "a" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0
        root_gib = 20, volumes = { data = { type = "gp3", size_gib = 100, members = 0 } }
      }
    }
  }
  expect_failures = [var.machines]
}

run "twelve_volumes" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    machines = {
      "a" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0
        root_gib = 20, volumes = { data = { type = "gp3", size_gib = 100, members = 12 } }
      }
    }
  }
  expect_failures = [var.machines]
}

run "two_volumes_called_data" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    machines = {
      "a" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0
        root_gib = 20, instance_store = true, volumes = { data = { type = "gp3", size_gib = 10 } }
      }
    }
  }
  expect_failures = [var.machines]
}

run "a_snapshot_of_another_kind" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    machines = {
      "a" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0
        root_gib = 20
        volumes  = { data = { type = "gp3", size_gib = 100, snapshot_id = "ami-0123456789abcdef0" } }
      }
    }
  }
  expect_failures = [var.machines]
}

run "a_snapshot_of_two_members" {
  command = plan

  module {
    source = "./tests/variables"
  }

  variables {
    machines = {
      "a" = {
        role     = "database", instance_type = "r6i.xlarge", architecture = "x86_64", zone = 0
        root_gib = 20
        volumes  = { data = { type = "gp3", size_gib = 100, members = 2, snapshot_id = "snap-0123456789abcdef0" } }
      }
    }
  }
  expect_failures = [var.machines]
}
