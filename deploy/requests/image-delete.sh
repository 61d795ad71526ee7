#!/bin/sh
# DELETE /v2/images/{name}
set -eu
curl -sS --fail-with-body -X DELETE "$PRESSROOM_URL/v2/images/${1:?usage: image-delete.sh NAME}" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
