terraform {
  required_version = ">= 1.5"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.2, < 7.0"
    }
  }
}

provider "aws" {
  # The provider's own 25 go on for an hour where there is no capacity; these for about half a minute.
  max_retries = 9

  region  = var.region
  profile = var.profile

  default_tags {
    tags = local.tags
  }
}
