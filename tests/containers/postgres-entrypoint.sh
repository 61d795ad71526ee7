#!/bin/sh
# What PostgreSQL's own image does at its start: make the cluster once, and run the scripts beside it.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    password=$(mktemp)
    printf %s "$POSTGRES_PASSWORD" > "$password"
    initdb --username="$POSTGRES_USER" --pwfile="$password" --encoding=UTF8 --locale=C.UTF-8 \
        --auth-local=trust --auth-host=scram-sha-256 >/dev/null
    rm "$password"
    echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
    pg_ctl start --wait --silent --options="-c listen_addresses="
    for script in /docker-entrypoint-initdb.d/*.sh; do
        . "$script"
    done
    pg_ctl stop --wait --silent --mode=fast
fi
exec postgres -c listen_addresses='*'
