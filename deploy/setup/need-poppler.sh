#!/bin/sh
# Install poppler's bindings for Python if they are missing: tests fill in forms with them.
set -eu

found() { /usr/bin/python3 -c "import gi; gi.require_version('Poppler', '0.18')" 2>/dev/null; }

if found; then
    exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "poppler's bindings are missing; run: sudo apt-get install gir1.2-poppler-0.18 python3-gi" >&2
    exit 1
fi
echo "installing poppler's bindings"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends gir1.2-poppler-0.18 python3-gi >/dev/null
found
