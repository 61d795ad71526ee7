#!/bin/sh
# See to it that prometheus and promtool are on this machine; the tests start a server of their own.
set -eu

if command -v prometheus >/dev/null && command -v promtool >/dev/null; then
    exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "Prometheus is missing; run: sudo apt-get install prometheus" >&2
    exit 1
fi
echo "installing prometheus"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends prometheus >/dev/null
command -v promtool >/dev/null
