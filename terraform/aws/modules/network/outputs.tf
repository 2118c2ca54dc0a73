output "vpc_id" {
  description = "The VPC."
  value       = aws_vpc.run.id
}

output "subnet_ids" {
  description = "Its subnets, in the order of zone_names; they are given out once they have a way out."
  value       = aws_subnet.zone[*].id
  depends_on  = [aws_route_table_association.zone]
}
