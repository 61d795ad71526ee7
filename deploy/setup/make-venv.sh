#!/bin/sh
# Create a virtual environment with pip at $1; installs the venv package if the machine lacks it.
#
# The distribution's Python is preferred: it is built with profile-guided optimization, which locally
# compiled ones usually are not. Decision 0302.
set -eu

venv=$1
is_new_enough='import sys; sys.exit(sys.version_info < (3, 11))'
candidates=${PYTHON:-/usr/bin/python3 python3 python3.14 python3.13 python3.12 python3.11}

first=
for python in $candidates; do
    "$python" -c "$is_new_enough" 2>/dev/null || continue
    if "$python" -c 'import ensurepip' 2>/dev/null; then
        exec "$python" -m venv "$venv"
    fi
    first=${first:-$python}
done
if [ -z "$first" ]; then
    echo "Python 3.11 or newer is needed, and none was found; name one with PYTHON=/path/to/python3" >&2
    exit 1
fi

# Debian and Ubuntu keep ensurepip in a package of its own, named after the minor version.
package=$("$first" -c 'import sys; print("python3.%d-venv" % sys.version_info.minor)')
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "$first cannot make virtual environments; run: sudo apt-get install $package" >&2
    exit 1
fi
echo "installing $package"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq "$package" >/dev/null
exec "$first" -m venv "$venv"
