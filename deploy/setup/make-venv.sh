#!/bin/sh
# Make a virtual environment with pip at $1, on a machine that may have Python but not its venv package.
set -eu

venv=$1
needed='import sys; sys.exit(sys.version_info < (3, 11))'

python=
for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    if "$candidate" -c "$needed" 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    echo "Python 3.11 or newer is needed, and none was found; name one with PYTHON=/path/to/python3" >&2
    exit 1
fi

if "$python" -c 'import ensurepip' 2>/dev/null; then
    exec "$python" -m venv "$venv"
fi

# Debian and Ubuntu keep ensurepip in a package of its own, named after the minor version.
package=$("$python" -c 'import sys; print("python3.%d-venv" % sys.version_info.minor)')
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "$python cannot make virtual environments; run: sudo apt-get install $package" >&2
    exit 1
fi
echo "installing $package"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq "$package" >/dev/null
exec "$python" -m venv "$venv"
