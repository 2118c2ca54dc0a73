# A VPC for one run: a public subnet a zone, and a way out. What may come in is the security group's matter.

resource "aws_vpc" "run" {
  cidr_block           = var.cidr_block
  enable_dns_support   = true
  enable_dns_hostnames = true
  tags                 = { Name = var.name }
}

resource "aws_internet_gateway" "run" {
  vpc_id = aws_vpc.run.id
  tags   = { Name = var.name }
}

resource "aws_route_table" "run" {
  vpc_id = aws_vpc.run.id
  tags   = { Name = var.name }

  route {
    cidr_block = "0.0.0.0/0"
    gateway_id = aws_internet_gateway.run.id
  }
}

resource "aws_subnet" "zone" {
  count = length(var.zone_names)

  vpc_id            = aws_vpc.run.id
  availability_zone = var.zone_names[count.index]
  cidr_block        = cidrsubnet(var.cidr_block, 8, count.index)
  tags              = { Name = "${var.name} ${var.zone_names[count.index]}" }
}

resource "aws_route_table_association" "zone" {
  count = length(var.zone_names)

  subnet_id      = aws_subnet.zone[count.index].id
  route_table_id = aws_route_table.run.id
}
