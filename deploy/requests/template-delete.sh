#!/bin/sh
# DELETE /v2/templates/{id}
set -eu
curl -sS --fail-with-body -X DELETE "$PRESSROOM_URL/v2/templates/${1:?usage: template-delete.sh ID}" \
    -H "Authorization: Bearer $PRESSROOM_KEY"
