#!/usr/bin/env bash
# A machine like the users': Debian 12 (kernel 6.1, cgroup v2) in QEMU, in which are run: the stories of storage and monitor; served
# volumes by hand, and what is said where there is no FUSE; RAID 0 of volumes; one tiny whole run with a real Cassandra, a second
# time with a client in another zone (netem), once on served volumes of which one stalls, and once on a RAID 0 of which a member is
# slow. The machine this is developed on has cgroup v1, a newer kernel, no netem and no md driver; every current distribution has v2.
#
#   scripts/vm.sh           everything (the image is made once and kept in ~/.cache/iopslab)
#   scripts/vm.sh --fast    without the runs with Cassandra
#   scripts/vm.sh PART...   only these parts, a boot for each: stories, volumes, arrays, whole (the two runs), served, raid; image makes
#                           it only
#
# Needs root, qemu-system-x86_64, debootstrap and mkfs.ext4 (installed here if missing, with apt-get). Without KVM the machine is
# emulated, which is 10 to 30 times slower than the real one. IOPSLAB_DEBIAN_MIRROR names another mirror.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  '') PARTS=(stories volumes arrays whole served raid) ;;
  --fast) PARTS=(stories volumes arrays) ;;
  *) PARTS=("$@") ;;
esac
for part in "${PARTS[@]}"; do
  case "$part" in
    image | stories | volumes | arrays | whole | served | raid) ;;
    *) echo "error: no part $part: stories, volumes, arrays, whole, served, raid, image" >&2; exit 2 ;;
  esac
done
# Whether any of these parts is asked for.
has_part() {
  local part
  for part in "$@"; do [[ " ${PARTS[*]} " == *" $part "* ]] && return; done
  return 1
}
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/iopslab
IMAGE=$CACHE/vm-bookworm-3
apt_mirror() {
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
    sed -n 's/^deb \(\[[^]]*\] \)\?\(http[^ ]*\) bookworm main.*/\2/p; s/^URIs: \(http[^ ]*debian\)\/\?$/\1/p' | head -1
}
MIRROR=${IOPSLAB_DEBIAN_MIRROR:-$(apt_mirror || true)}
MIRROR=${MIRROR:-http://deb.debian.org/debian}
LIMIT_S=3600

say() { printf '==> %s\n' "$*"; }

[ "$(id -u)" = 0 ] || { echo "error: needs root: sudo scripts/vm.sh" >&2; exit 1; }

missing=()
command -v qemu-system-x86_64 >/dev/null || missing+=(qemu-system-x86)
command -v debootstrap >/dev/null || missing+=(debootstrap)
command -v mkfs.ext4 >/dev/null || missing+=(e2fsprogs)
if [ ${#missing[@]} -gt 0 ]; then
  say "installing with apt-get: ${missing[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

work=$(mktemp -d "${TMPDIR:-/var/tmp}/iopslab-vm.XXXXXX")
trap 'rm -rf "$work"' EXIT

make_image() {
  say "making the image (Debian 12 from $MIRROR)"
  local root=$work/root
  debootstrap --variant=minbase --include=linux-image-cloud-amd64,systemd-sysv,udev,dbus,kmod,procps,util-linux,xfsprogs,mdadm,fio,openjdk-17-jre-headless,ca-certificates,iproute2 \
    bookworm "$root" "$MIRROR" >"$work/debootstrap.log" 2>&1 || { tail -20 "$work/debootstrap.log" >&2; return 1; }
  echo iopslab-vm >"$root/etc/hostname"
  # Cassandra refuses to start where the host's name does not resolve.
  printf '127.0.0.1 localhost\n127.0.1.1 iopslab-vm\n' >"$root/etc/hosts"
  printf '/dev/vda / ext4 rw,noatime 0 1\n/dev/vdb /payload ext4 ro 0 2\n' >"$root/etc/fstab"
  mkdir -p "$root/payload"
  cat >"$root/etc/systemd/system/iopslab-tests.service" <<'UNIT'
[Unit]
Description=The stories of iopslab
RequiresMountsFor=/payload
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/bin/bash -c 'exec bash /payload/inside.sh >/dev/ttyS0 2>&1'
ExecStopPost=/bin/systemctl poweroff --force
TimeoutStartSec=infinity
[Install]
WantedBy=graphical.target
UNIT
  mkdir -p "$root/etc/systemd/system/graphical.target.wants"
  ln -s ../iopslab-tests.service "$root/etc/systemd/system/graphical.target.wants/"
  # Its hang-up would end whatever writes to the console.
  ln -s /dev/null "$root/etc/systemd/system/serial-getty@ttyS0.service"
  rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
  mkdir -p "$IMAGE.part"
  cp "$root"/boot/vmlinuz-* "$IMAGE.part/vmlinuz"
  cp "$root"/boot/initrd.img-* "$IMAGE.part/initrd"
  truncate -s 12G "$IMAGE.part/root.img"
  mkfs.ext4 -q -F -d "$root" "$IMAGE.part/root.img"
  rm -rf "$root"
  mv "$IMAGE.part" "$IMAGE"
}

[ -d "$IMAGE" ] || make_image
[ "${PARTS[*]}" != image ] || exit 0

say "building the stories"
# What goes into the machine: the test programs of storage and monitor, and iopslab itself.
built=
if has_part stories volumes arrays; then
  built=$(cargo test --locked --no-run --message-format=json -p storage -p monitor 2>/dev/null |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | sort -u)
fi
cargo build --locked -q -p iopslab
target=$(cargo metadata --format-version 1 --no-deps | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')

payload=$work/payload
mkdir -p "$payload/tests"
for program in $built; do strip -o "$payload/tests/$(basename "$program")" "$program"; done
strip -o "$payload/iopslab" "$target/debug/iopslab"
cp scripts/vm-inside.sh "$payload/inside.sh"
cp scripts/vm-tiny.toml "$payload/tiny.toml"
cp scripts/vm-served.toml "$payload/served.toml"
cp scripts/vm-raid.toml "$payload/raid.toml"
# Test programs keep their files where they were built.
echo "$target/tmp" >"$payload/scratch"
if has_part whole served raid; then
  downloads=${IOPSLAB_CACHE:-/var/cache/iopslab}
  [ -d "$downloads/cassandra" ] || { echo "error: no Cassandra in $downloads/cassandra; run once: iopslab db start && iopslab db stop" >&2; exit 1; }
  cp -a "$downloads/cassandra" scripts/java-for-tests.sh "$payload/"
  # This machine's Java too: what was kept for shorter starts (minutes, when emulated) belongs to one.
  java_home=${JAVA_HOME:+$JAVA_HOME/bin/java}
  java_home=$(readlink -f "${java_home:-$(command -v java)}")
  java_home=${java_home%/bin/java}
  cp -a "$java_home" "$payload/java"
  echo "$java_home" >"$payload/java-home"
  echo "$downloads" >"$payload/cache"
fi
size_mib=$(($(du -sm "$payload" | cut -f1) * 12 / 10 + 64))
truncate -s "${size_mib}M" "$work/payload.img"
mkfs.ext4 -q -F -d "$payload" "$work/payload.img"

# Boots once for a part. Says what its console says on our own lines.
boot() {
  local part=$1 accelerator=$2 cpu=max console=$CACHE/vm-console-$1.log began vm seen=0 now
  # KVM must work, not merely exist.
  if [ -w /dev/kvm ] && [ -n "${IOPSLAB_VM_KVM:-}" ]; then accelerator=kvm; cpu=host; fi
  say "booting for the part $part (accelerator $accelerator); its console goes to $console"
  began=$(date +%s)
  : >"$console"
  timeout "$LIMIT_S" qemu-system-x86_64 -machine q35 -accel "$accelerator" -cpu "$cpu" -smp 2 -m 4096 \
    -nographic -no-reboot -nic none -serial "file:$console" -monitor none \
    -kernel "$IMAGE/vmlinuz" -initrd "$IMAGE/initrd" \
    -append "root=/dev/vda rw console=ttyS0 quiet systemd.show_status=0 iopslab.part=$part" \
    -drive "file=$IMAGE/root.img,if=virtio,format=raw,snapshot=on" \
    -drive "file=$work/payload.img,if=virtio,format=raw,readonly=on" </dev/null &
  vm=$!
  trap 'kill $vm 2>/dev/null || true; wait $vm 2>/dev/null || true; rm -rf "$work"' EXIT
  while kill -0 $vm 2>/dev/null; do
    sleep 2
    now=$(grep -c '^vm: ' "$console" 2>/dev/null || true)
    if [ "${now:-0}" -gt "$seen" ]; then
      grep '^vm: ' "$console" | tail -n "+$((seen + 1))"
      seen=$now
    fi
  done
  wait $vm || true
  trap 'rm -rf "$work"' EXIT
  grep '^vm: ' "$console" | tail -n "+$((seen + 1))" || true
  say "$(($(date +%s) - began)) s in the machine"
  if ! grep -q '^vm: all passed' "$console"; then
    echo "error: the part $part did not pass; the end of the console:" >&2
    tail -60 "$console" >&2
    exit 1
  fi
}

# Emulated CPUs on threads of their own take turns with what a JIT compiler has just written: Java ends with SIGILL. On one
# thread it does not.
for part in "${PARTS[@]}"; do
  case "$part" in
    stories | volumes | arrays) boot "$part" tcg,thread=multi ;;
    whole | served | raid) boot "$part" tcg,thread=single ;;
    image) ;;
  esac
done
