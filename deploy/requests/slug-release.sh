#!/bin/sh
# DELETE /v2/slugs/{slug}
set -eu
curl -sS --fail-with-body -X DELETE "$PRESSROOM_URL/v2/slugs/${1:?usage: slug-release.sh SLUG}" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
