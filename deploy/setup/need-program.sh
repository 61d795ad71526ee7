#!/bin/sh
# Install the package $2 if the program $1 is missing; the tests start their own instances of it.
set -eu

program=$1 package=$2
found() { PATH="$PATH:/usr/sbin" command -v "$program" >/dev/null; }

if found; then
    exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "$program is missing; run: sudo apt-get install $package" >&2
    exit 1
fi
echo "installing $package"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "$package" >/dev/null
found
