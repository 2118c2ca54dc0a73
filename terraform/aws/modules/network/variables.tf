variable "name" {
  description = "Value of the tag Name."
  type        = string
}

variable "zone_names" {
  description = "Availability zones, a subnet in each."
  type        = list(string)
}

variable "cidr_block" {
  description = "Addresses of the VPC, a /16; subnet i has its i-th /24."
  type        = string
  default     = "10.80.0.0/16"
}
