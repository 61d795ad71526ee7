#!/bin/sh
# DELETE /v2/templates/{id}/tags/{tag}
set -eu
curl -sS --fail-with-body -X DELETE "$PRESSROOM_URL/v2/templates/${1:?usage: tag-remove.sh ID TAG}/tags/$2" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
