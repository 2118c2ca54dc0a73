# SSH from the controller, the database's ports between the hosts of the run, nothing else.

locals {
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
