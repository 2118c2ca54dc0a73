# What is measured, and until when

variable "run" {
  description = "Name of the run: part of the names of what is made here, and the value of the tag iopslab:run."
  type        = string

  validation {
    condition     = can(regex("^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$", var.run))
    error_message = "run: letters, digits, '.', '_' and '-', at most 100, beginning with a letter or digit."
  }
}

variable "expires" {
  description = "When this may be removed by anyone (RFC 3339, UTC): the value of the tag iopslab:expires."
  type        = string

  validation {
    condition     = can(timeadd(var.expires, "0s"))
    error_message = "expires: a moment in RFC 3339, such as 2026-11-23T18:00:00Z."
  }
}

variable "lifetime_s" {
  description = "A machine ends itself when nobody has touched its /var/lib/iopslab/alive for so many seconds."
  type        = number

  validation {
    condition     = var.lifetime_s >= 600 && var.lifetime_s <= 30 * 24 * 3600
    error_message = "lifetime_s: from 600 (a machine needs minutes to become ready) to 2592000 (30 days)."
  }
}

variable "tags" {
  description = "Tags of your own for everything that is made here."
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition     = alltrue([for key in keys(var.tags) : !startswith(key, "iopslab:") && !startswith(key, "aws:")])
    error_message = "tags: keys that begin with iopslab: or aws: are not yours to set."
  }

  validation {
    condition     = !contains(keys(var.tags), "Name")
    error_message = "tags: Name is set here, to the run and the machine."
  }
}

# Where

variable "region" {
  description = "Region, such as eu-west-1."
  type        = string
}

variable "profile" {
  description = "Named profile of your AWS configuration; null takes the usual chain of credentials."
  type        = string
  default     = null
}

variable "network" {
  description = <<-EOT
    An existing network: its VPC, and a subnet for each zone (machine with zone = 1 stands in subnet_ids[1]). Its
    subnets need a way out, for packages, and you need a way in, for SSH. Null makes a VPC for the run.
  EOT
  type = object({
    vpc_id     = string
    subnet_ids = list(string)
  })
  default = null

  validation {
    condition     = try(length(var.network.subnet_ids) > 0, true)
    error_message = "network: subnet_ids names a subnet for each zone, so at least one."
  }
}

variable "zones" {
  description = "Availability zones of the network that is made here; ignored with an existing one."
  type        = number
  default     = 1
  nullable    = false

  validation {
    condition     = var.zones >= 1 && var.zones <= 6 && floor(var.zones) == var.zones
    error_message = "zones: a whole number from 1 to 6."
  }
}

variable "first_zone" {
  description = "Of the zones that are chosen here, which one comes first, from 0: another one where the first has no room."
  type        = number
  default     = 0
  nullable    = false

  validation {
    condition     = var.first_zone >= 0 && floor(var.first_zone) == var.first_zone
    error_message = "first_zone: a whole number from 0."
  }
}

variable "zone_names" {
  description = <<-EOT
    Names of the zones of the network that is made here, in their order. Null takes the first ones, by name, that
    offer every instance type of the run.
  EOT
  type        = list(string)
  default     = null
}

variable "controller_cidr" {
  description = "The only source of SSH: the address of the machine from which you work, such as 198.51.100.7/32."
  type        = string

  validation {
    condition     = can(cidrnetmask(var.controller_cidr)) && !endswith(var.controller_cidr, "/0")
    error_message = "controller_cidr: IPv4 addresses of yours, such as 198.51.100.7/32; the whole internet is refused."
  }
}

variable "public_address" {
  description = "Whether machines get public addresses. A network that is made here needs them."
  type        = bool
  default     = false
  nullable    = false
}

# Machines

variable "ssh_public_key" {
  description = "Public key in OpenSSH's form; becomes the key pair of the run."
  type        = string

  validation {
    condition     = can(regex("^(ssh-ed25519|ssh-rsa) [A-Za-z0-9+/=]+", var.ssh_public_key))
    error_message = "ssh_public_key: a public key such as \"ssh-ed25519 AAAA...\"; EC2 knows ed25519 and RSA."
  }
}

variable "ssh_host_key" {
  description = <<-EOT
    Private key, ed25519 in OpenSSH's form, by which the machines show who they are: whoever made it knows them before their
    first answer. Whoever reads the machines' user data or the state has it. Null leaves the keys of each machine's own.
  EOT
  type        = string
  default     = null
  sensitive   = true

  validation {
    condition     = try(startswith(var.ssh_host_key, "-----BEGIN OPENSSH PRIVATE KEY-----\n"), true)
    error_message = "ssh_host_key: a private key in OpenSSH's form, as ssh-keygen -t ed25519 makes it."
  }
}

variable "ssh_user" {
  description = "User of the image who gets the key, and owns the volumes: admin (Debian), ec2-user (Amazon Linux)."
  type        = string
  default     = "admin"
  nullable    = false

  validation {
    condition     = can(regex("^[a-z_][a-z0-9_-]{0,31}$", var.ssh_user))
    error_message = "ssh_user: a Linux user name."
  }
}

variable "images" {
  description = "Image for each architecture: an AMI (ami-...), or an SSM parameter that names one (/...)."
  type = object({
    x86_64 = optional(string, "/aws/service/debian/release/12/latest/amd64")
    arm64  = optional(string, "/aws/service/debian/release/12/latest/arm64")
  })
  default  = {}
  nullable = false

  validation {
    condition     = alltrue([for image in values(var.images) : can(regex("^(ami-[0-9a-f]+|/.+)$", image))])
    error_message = "images: an AMI (ami-0123...), or an SSM parameter's path (/aws/service/...)."
  }
}

variable "machines" {
  description = <<-EOT
    Machines by name, such as "gp3-3000.database-1" or "client-1". Each has a role (database, cache or client), the
    configuration it belongs to, an instance type and its architecture, a zone (0 is the first), and the size of its
    root volume. volumes: EBS volumes by name; several members are striped (RAID0); snapshot_id: the volume is made
    from it, and has its XFS. instance_store: its NVMe disks are the volume "data". ebs_optimized: null is what the
    type does by default. bandwidth_weighting: null is as the type has it; ebs-1 gives its volumes more MB/s and its
    network less, vpc-1 the reverse.
  EOT
  type = map(object({
    role          = string
    configuration = optional(string, "")
    instance_type = string
    architecture  = string
    zone          = number
    root_gib      = number
    spot          = optional(bool, false)
    ebs_optimized = optional(bool)

    bandwidth_weighting = optional(string)
    volumes = optional(map(object({
      type        = string
      size_gib    = number
      iops        = optional(number)
      mib_per_s   = optional(number)
      members     = optional(number, 1)
      snapshot_id = optional(string)
    })), {})
    instance_store = optional(bool, false)
  }))
  nullable = false

  validation {
    condition     = length(var.machines) > 0
    error_message = "machines: at least one."
  }

  validation {
    condition     = alltrue([for name in keys(var.machines) : can(regex("^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$", name))])
    error_message = "machines: a name has letters, digits, '.', '_' and '-', at most 100."
  }

  validation {
    condition = alltrue([
      for machine in values(var.machines) : contains(["database", "cache", "client"], machine.role)
    ])
    error_message = "machines: role is \"database\", \"cache\" or \"client\"."
  }

  validation {
    condition     = alltrue([for machine in values(var.machines) : contains(["x86_64", "arm64"], machine.architecture)])
    error_message = "machines: architecture is \"x86_64\" or \"arm64\"."
  }

  validation {
    condition = alltrue([
      for machine in values(var.machines) :
      contains(["ebs-1", "vpc-1"], coalesce(machine.bandwidth_weighting, "ebs-1"))
    ])
    error_message = "machines: bandwidth_weighting is \"ebs-1\" or \"vpc-1\"; null is as the type has it."
  }

  validation {
    condition = alltrue([
      for machine in values(var.machines) : machine.zone >= 0 && floor(machine.zone) == machine.zone
    ])
    error_message = "machines: zone is a whole number; 0 is the first zone."
  }

  validation {
    condition     = alltrue([for machine in values(var.machines) : machine.root_gib >= 8])
    error_message = "machines: root_gib is at least 8, the size of the images."
  }

  validation {
    condition = alltrue(flatten([
      for machine in values(var.machines) : [
        for name in keys(machine.volumes) : can(regex("^[a-z][a-z0-9-]{0,30}$", name))
      ]
    ]))
    error_message = "machines: a volume's name has small letters, digits and '-', at most 31: it is a directory's name."
  }

  validation {
    condition = alltrue(flatten([
      for machine in values(var.machines) : [
        for volume in values(machine.volumes) :
        contains(["gp2", "gp3", "io1", "io2", "st1", "sc1", "standard"], volume.type)
      ]
    ]))
    error_message = "machines: a volume's type is gp2, gp3, io1, io2, st1, sc1 or standard."
  }

  validation {
    condition = alltrue(flatten([
      for machine in values(var.machines) : [for volume in values(machine.volumes) : volume.size_gib >= 1]
    ]))
    error_message = "machines: a volume's size_gib is at least 1 (for each member)."
  }

  validation {
    condition = alltrue(flatten([
      for machine in values(var.machines) : [
        for volume in values(machine.volumes) : volume.iops != null || !contains(["io1", "io2"], volume.type)
      ]
    ]))
    error_message = "machines: volumes of type io1 and io2 need iops (for each member)."
  }

  validation {
    condition = alltrue(flatten([
      for machine in values(var.machines) : [
        for volume in values(machine.volumes) : volume.iops == null || contains(["gp3", "io1", "io2"], volume.type)
      ]
    ]))
    error_message = "machines: only volumes of type gp3, io1 and io2 have iops; those of other types follow their size."
  }

  validation {
    condition = alltrue(flatten([
      for machine in values(var.machines) : [
        for volume in values(machine.volumes) : volume.mib_per_s == null || volume.type == "gp3"
      ]
    ]))
    error_message = "machines: only volumes of type gp3 have mib_per_s; that of other types follows size or IOPS."
  }

  validation {
    condition = alltrue(flatten([
      for machine in values(var.machines) : [
        for volume in values(machine.volumes) : volume.members >= 1 && floor(volume.members) == volume.members
      ]
    ]))
    error_message = "machines: members of a volume is a whole number, at least 1."
  }

  validation {
    condition = alltrue(flatten([
      for machine in values(var.machines) : [
        for volume in values(machine.volumes) :
        volume.snapshot_id == null || (can(regex("^snap-[0-9a-f]{8,17}$", volume.snapshot_id)) && volume.members == 1)
      ]
    ]))
    error_message = "machines: snapshot_id of a volume is such as snap-0123456789abcdef0, and the volume has one member."
  }

  validation {
    condition = alltrue([
      for machine in values(var.machines) :
      length(flatten([for volume in values(machine.volumes) : range(volume.members)])) <= 11
    ])
    error_message = "machines: at most 11 EBS volumes (all members) a machine, the device names /dev/sdf to /dev/sdp."
  }

  validation {
    condition = alltrue([
      for machine in values(var.machines) : !(machine.instance_store && contains(keys(machine.volumes), "data"))
    ])
    error_message = "machines: instance_store is the volume \"data\" already; leave out the EBS volume of that name."
  }
}

variable "programs" {
  description = <<-EOT
    What machines of a role need besides: programs, each with the package that has it on Debian, and that of Amazon
    Linux where it has another name.
  EOT
  type        = map(map(list(string)))
  default = {
    database = { java = ["openjdk-17-jre-headless", "java-17-amazon-corretto-headless"], fio = ["fio"] }
    cache    = { memcached = ["memcached"] }
  }
  nullable = false
}

variable "placement_group" {
  description = "Strategy of a placement group for all machines: cluster, spread or partition. Null makes none."
  type        = string
  default     = null

  validation {
    condition     = try(contains(["cluster", "spread", "partition"], var.placement_group), var.placement_group == null)
    error_message = "placement_group: \"cluster\", \"spread\" or \"partition\"; null for none."
  }
}

variable "encrypted" {
  description = "Whether volumes are encrypted. An account that encrypts by default does so in any case."
  type        = bool
  default     = true
  nullable    = false
}

variable "kms_key_id" {
  description = "ARN of the KMS key of the volumes; null takes the account's own for EBS."
  type        = string
  default     = null
}
