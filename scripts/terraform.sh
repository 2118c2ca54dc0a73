#!/usr/bin/env bash
# The Terraform modules: format, validation, their tests against a mocked provider, the machines' first script; tflint and
# trivy where they are. Asks nothing of AWS. The provider comes from the directory IOPSLAB_TERRAFORM_PLUGINS (as of
# `terraform init -plugin-dir`), from /opt/tf-plugins where that exists, or from the registry.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '==> %s\n' "$*"; }
have() { command -v "$1" >/dev/null 2>&1; }

if ! have terraform; then
  say "no terraform here: terraform/aws is not checked"
  exit 0
fi

# A file of the user's that is not there is a warning each time.
if [ ! -e "${TF_CLI_CONFIG_FILE:-/}" ]; then unset TF_CLI_CONFIG_FILE; fi
# No question about newer versions; less time in garbage collection, as each test is a process of its own.
export CHECKPOINT_DISABLE=1 TF_IN_AUTOMATION=1 GOGC=400

terraform fmt -check -diff -recursive terraform

# init leaves a directory and a lock file: not in the tree.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r terraform/aws "$copy/aws"

plugins=${IOPSLAB_TERRAFORM_PLUGINS:-}
if [ -z "$plugins" ] && [ -d /opt/tf-plugins ]; then plugins=/opt/tf-plugins; fi
terraform -chdir="$copy/aws" init -input=false -no-color -backend=false ${plugins:+-plugin-dir="$plugins"} >"$copy/init.log" || {
  cat "$copy/init.log"
  exit 1
}
terraform -chdir="$copy/aws" validate -no-color
terraform -chdir="$copy/aws" test -no-color >"$copy/test.log" || {
  cat "$copy/test.log"
  exit 1
}
tail -1 "$copy/test.log"

# The first script of a machine with every kind of volume, as it is rendered.
mkdir "$copy/empty"
for volumes in '{}' '{ commitlog = ["/dev/sdf"], data = ["/dev/sdg", "/dev/sdh"], old = ["/dev/sdi"] }'; do
  for instance_store in false true; do
    echo "base64encode(templatefile(\"$PWD/terraform/aws/templates/first-boot.sh.tftpl\", { lifetime_s = 3600," \
      "ssh_user = \"admin\", volumes = $volumes, restored = [\"old\"], instance_store = $instance_store, host_key = \"a key\", programs = { java = [\"jre\", \"jre-of-dnf\"], fio = [\"fio\"] } }))" |
      terraform -chdir="$copy/empty" console | tr -d '"' | base64 -d >"$copy/first-boot.sh"
    bash -n "$copy/first-boot.sh"
    if have shellcheck; then shellcheck "$copy/first-boot.sh"; fi
  done
done

if have tflint; then tflint --chdir="$copy/aws" --recursive; else say "no tflint here: skipped"; fi
if have trivy; then trivy config --quiet --exit-code 1 terraform/aws; else say "no trivy here: skipped"; fi
