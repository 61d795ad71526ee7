#!/bin/sh
# DELETE /v2/fonts/{name}
set -eu
curl -sS --fail-with-body -X DELETE "$PRESSROOM_URL/v2/fonts/${1:?usage: font-delete.sh NAME}" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
