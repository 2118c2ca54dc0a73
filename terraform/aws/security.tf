# SSH from the controller, the database's ports between the hosts of the run, memcached's from clients to caches, nothing
# else.

locals {
  has_caches = anytrue([for machine in values(var.machines) : machine.role == "cache"])

  between_hosts = {
    cql     = { what = "CQL", protocol = "tcp", from = 9042, to = 9042 }
    storage = { what = "Storage port (plain, TLS)", protocol = "tcp", from = 7000, to = 7001 }
    icmp    = { what = "Ping and path MTU", protocol = "icmp", from = -1, to = -1 }
  }
}

resource "aws_security_group" "run" {
  name_prefix = "iopslab-${var.run}-"
  description = "Hosts of the iopslab run ${var.run}"
  vpc_id      = local.vpc_id
  tags        = { Name = var.run }

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_vpc_security_group_ingress_rule" "ssh" {
  security_group_id = aws_security_group.run.id
  description       = "SSH from the controller"
  cidr_ipv4         = var.controller_cidr
  ip_protocol       = "tcp"
  from_port         = 22
  to_port           = 22
}

resource "aws_vpc_security_group_ingress_rule" "between_hosts" {
  for_each = local.between_hosts

  security_group_id            = aws_security_group.run.id
  description                  = "${each.value.what} between the hosts of the run"
  referenced_security_group_id = aws_security_group.run.id
  ip_protocol                  = each.value.protocol
  from_port                    = each.value.from
  to_port                      = each.value.to
}

resource "aws_vpc_security_group_egress_rule" "between_hosts" {
  for_each = local.between_hosts

  security_group_id            = aws_security_group.run.id
  description                  = "${each.value.what} between the hosts of the run"
  referenced_security_group_id = aws_security_group.run.id
  ip_protocol                  = each.value.protocol
  from_port                    = each.value.from
  to_port                      = each.value.to
}

# memcached asks nobody for a password: whoever reaches it may read, change and empty it.
resource "aws_security_group" "of_role" {
  for_each = toset(local.has_caches ? ["clients", "caches"] : [])

  name_prefix = "iopslab-${var.run}-${each.key}-"
  description = "${title(each.key)} of the iopslab run ${var.run}"
  vpc_id      = local.vpc_id
  tags        = { Name = "${var.run} ${each.key}" }

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_vpc_security_group_ingress_rule" "memcached" {
  count = local.has_caches ? 1 : 0

  security_group_id            = aws_security_group.of_role["caches"].id
  description                  = "memcached from clients of the run"
  referenced_security_group_id = aws_security_group.of_role["clients"].id
  ip_protocol                  = "tcp"
  from_port                    = 11211
  to_port                      = 11211
}

# In the group of all hosts: two groups that name each other could only be removed once their rules are. Caches take it
# from clients alone.
resource "aws_vpc_security_group_egress_rule" "memcached" {
  count = local.has_caches ? 1 : 0

  security_group_id            = aws_security_group.run.id
  description                  = "memcached to caches of the run"
  referenced_security_group_id = aws_security_group.of_role["caches"].id
  ip_protocol                  = "tcp"
  from_port                    = 11211
  to_port                      = 11211
}

# DNS, time and the metadata service of the VPC are not subject to security groups.
resource "aws_vpc_security_group_egress_rule" "packages" {
  for_each = { http = 80, https = 443 }

  security_group_id = aws_security_group.run.id
  description       = "Packages and S3 by ${each.key}"
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "tcp"
  from_port         = each.value
  to_port           = each.value
}
