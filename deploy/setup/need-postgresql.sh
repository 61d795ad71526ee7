#!/bin/sh
# Install PostgreSQL's programs if they are missing; the tests start their own server.
set -eu

programs() { ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1; }

if [ -n "$(programs)" ]; then
    exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "PostgreSQL is missing; run: sudo apt-get install postgresql" >&2
    exit 1
fi
echo "installing postgresql"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends postgresql >/dev/null
[ -n "$(programs)" ]
