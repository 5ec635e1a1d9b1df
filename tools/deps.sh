#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# deps.sh - installs the Debian packages that a set of tasks needs and this machine lacks.
#
#   tools/deps.sh [--check] SET...      SET: build peers lint fuzz arm64 proof bench
#
# Nothing missing: says nothing, needs no network, changes nothing. What is there without its
# package (a library built by hand) counts as there. --check only tells, and fails if something
# is missing. Without apt it can only tell, too.
set -eu

# set | package | how to see that it is there: a pkg-config module (lib:), a command (cmd:), a
# file that the compiler finds (inc:)
table='
build gcc cmd:cc
build libc6-dev inc:stdio.h
build make cmd:make
build meson cmd:meson
build ninja-build cmd:ninja
build pkg-config cmd:pkg-config
build python3 cmd:python3
build zstd cmd:zstd
build libcmocka-dev lib:cmocka
build libcurl4-openssl-dev lib:libcurl
build libgsl-dev lib:gsl
build libjansson-dev lib:jansson
build libmicrohttpd-dev lib:libmicrohttpd
build libpython3.11-dev lib:python-3.11-embed
build libseccomp-dev lib:libseccomp
build libsqlite3-dev lib:sqlite3
build libssl-dev lib:libcrypto
build libutf8proc-dev lib:libutf8proc
build libyaml-dev lib:yaml-0.1
build libzstd-dev lib:libzstd
peers nodejs cmd:node
peers npm cmd:npm
peers nginx-light cmd:/usr/sbin/nginx
peers openssl cmd:openssl
lint clang-format-14 cmd:clang-format-14
lint clang-tidy-14 cmd:clang-tidy-14
lint cppcheck cmd:cppcheck
fuzz clang-14 cmd:clang-14
fuzz libclang-rt-14-dev none:
arm64 gcc-aarch64-linux-gnu cmd:aarch64-linux-gnu-gcc
arm64 libc6-dev-arm64-cross none:
arm64 qemu-user cmd:qemu-aarch64
proof stockfish cmd:/usr/games/stockfish
bench pgn-extract cmd:/usr/games/pgn-extract
bench stockfish cmd:/usr/games/stockfish
bench zstd cmd:zstd
bench nginx-light cmd:/usr/sbin/nginx
bench wrk cmd:wrk
'

there() { # is PROBE satisfied?
    case $1 in
    cmd:*) command -v "${1#*:}" >/dev/null ;;
    lib:*) pkg-config --exists "${1#*:}" 2>/dev/null ;;
    inc:*) echo "#include <${1#*:}>" | cc -E - >/dev/null 2>&1 ;;
    *) false ;;
    esac
}
installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}
say() { echo "deps.sh: $*" >&2; }

check=no
if [ "${1-}" = --check ]; then
    check=yes
    shift
fi
case " $* " in
*" build "* | *" peers "* | *" lint "* | *" fuzz "* | *" arm64 "* | *" proof "* | *" bench "*) ;;
*) say "which set? give some of: build peers lint fuzz arm64 proof bench" && exit 2 ;;
esac

packages='' probes=''
while read -r set package probe; do
    case " $* " in *" $set "*) ;; *) continue ;; esac
    if installed "$package" || there "$probe"; then continue; fi
    packages="$packages $package"
    probes="$probes ${probe#none:}"
done <<END
$(echo "$table" | sed '/^$/d')
END
[ -n "$packages" ] || exit 0

if ! command -v apt-get >/dev/null; then
    say "missing here:$probes"
    say "this system has no apt: install them with its own package manager and repeat." \
        "(In Debian 12 they come with:$packages)"
    exit 1
fi
install="apt-get install -y --no-install-recommends$packages"
sudo=''
if [ $check = yes ]; then
    say "missing packages:$packages"
    say "install them with 'make deps', or as root: $install"
    exit 1
elif [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        sudo='sudo -n'
    elif command -v sudo >/dev/null && [ -t 0 ]; then
        sudo=sudo # asks for the password
    else
        say "missing packages:$packages"
        say "you are not root and sudo does not work here; as root give, then repeat:"
        say "    apt-get update && $install"
        exit 1
    fi
fi
say "installing:$packages"
run="$sudo env DEBIAN_FRONTEND=noninteractive"
$run apt-get -o DPkg::Lock::Timeout=300 update ||
    say "apt-get update failed; trying with the package lists that are here"
# shellcheck disable=SC2086 # the words of $install are meant to split
$run ${install} -o DPkg::Lock::Timeout=300 || {
    say "apt-get failed (see above); what is needed:$packages"
    exit 1
}
