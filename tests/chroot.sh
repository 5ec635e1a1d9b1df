#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# chroot.sh [COMMAND] - does `make test` (or `make COMMAND`) work on a fresh machine?
#
# Puts the committed tree (HEAD) into a minimal Debian 12 that has nothing but apt, installs make
# there, and runs the command twice: the second time must install nothing. Needs root, debootstrap,
# network; run by hand and before a release. MIRROR chooses the mirror, KEEP=1 keeps the folder.
set -euo pipefail
cd "$(dirname "$0")/.."
command=${1:-test}
[ "$(id -u)" -eq 0 ] || { echo "chroot.sh: needs root (debootstrap, chroot)" >&2; exit 1; }
command -v debootstrap >/dev/null || {
    echo "chroot.sh: install debootstrap: apt-get install debootstrap" >&2
    exit 1
}
root=$(mktemp -d "${TMPDIR:-/var/tmp}/rookery-chroot.XXXXXX")
cleanup() {
    # Never remove below a mount that is still there.
    if mountpoint -q "$root/proc"; then umount "$root/proc"; fi
    [ -n "${KEEP:-}" ] || rm -rf --one-file-system "$root"
}
trap cleanup EXIT
chmod 755 "$root" # a root directory that only root may enter is no fresh machine

debootstrap --variant=minbase bookworm "$root" "${MIRROR:-http://deb.debian.org/debian}"
cp /etc/resolv.conf "$root/etc/resolv.conf"
mount -t proc proc "$root/proc" || echo "chroot.sh: no /proc in there; going on" >&2
mkdir "$root/rookery"
git archive HEAD | tar -x -C "$root/rookery"

inside() { chroot "$root" env -i HOME=/ PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb "$@"; }
inside apt-get update
inside env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends make
inside make -C /rookery "$command"
before=$(inside dpkg-query -W | sha256sum)
inside make -C /rookery "$command" | tee "$root/second.log"
[ "$before" = "$(inside dpkg-query -W | sha256sum)" ] && ! grep -q '^Get:' "$root/second.log" || {
    echo "chroot.sh: the second run installed something" >&2
    exit 1
}
echo "chroot.sh: make $command works on a fresh Debian 12, and needs nothing the second time"
