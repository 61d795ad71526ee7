#!/bin/sh
# GET /v2/slugs/{slug}: check whether a slug is available
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/slugs/${1:?usage: slug-check.sh SLUG}" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
