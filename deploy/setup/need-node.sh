#!/bin/sh
# Install npm if it is missing: it builds the Studio, and installs the schemas of Grafana and KEDA.
set -eu

if command -v npm >/dev/null; then
    exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "npm is missing; run: sudo apt-get install npm" >&2
    exit 1
fi
echo "installing npm"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends npm >/dev/null
command -v npm >/dev/null
