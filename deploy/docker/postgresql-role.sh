#!/bin/sh
# Run by the image of PostgreSQL once, while the volume is empty: the farm's role owns its database, and is no
# superuser. The password is read from the environment, since arguments are readable by every process.
set -eu
psql --username "$POSTGRES_USER" --dbname postgres --no-psqlrc --set ON_ERROR_STOP=1 <<'SQL'
\getenv password PRESSROOM_PASSWORD
CREATE ROLE pressroom LOGIN PASSWORD :'password';
CREATE DATABASE pressroom OWNER pressroom;
REVOKE CONNECT ON DATABASE pressroom FROM PUBLIC;
SQL
