# How machines share their bandwidth between volumes and network. A launch template can state it here: aws_instance has
# no such attribute in any version of the provider so far, and aws_launch_template has it from 6.29 on. A stack of
# CloudFormation makes such a template with each version that these modules allow.

locals {
  stack_of_run = replace(var.run, "/[^A-Za-z0-9]/", "-")
  weightings = toset([
    for machine in values(var.machines) : machine.bandwidth_weighting if machine.bandwidth_weighting != null
  ])
}

resource "aws_cloudformation_stack" "weighting" {
  for_each = local.weightings

  # Of letters, digits and '-' alone. A run may have other machines elsewhere in the account.
  name       = "iopslab-${local.stack_of_run}-${each.value}-${substr(sha256(join(" ", keys(var.machines))), 0, 8)}"
  on_failure = "DELETE"
  tags       = { Name = var.run }

  # The rest of a machine is in the request for it, which comes before what a template states.
  template_body = jsonencode({
    Resources = {
      Template = {
        Type = "AWS::EC2::LaunchTemplate"
        Properties = {
          LaunchTemplateData = { NetworkPerformanceOptions = { BandwidthWeighting = each.value } }
          TagSpecifications = [
            {
              ResourceType = "launch-template"
              Tags         = [for key, value in local.tags : { Key = key, Value = value }]
            }
          ]
        }
      }
    }
    Outputs = { Id = { Value = { Ref = "Template" } } }
  })

  lifecycle {
    # Other tags would make another template, and machines were made from this one.
    ignore_changes = all
  }
}
