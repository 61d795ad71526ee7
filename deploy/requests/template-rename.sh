#!/bin/sh
# PATCH /v2/templates/{template_id}: rename a template
set -eu
curl -sS --fail-with-body -X PATCH "$PRESSROOM_URL/v2/templates/${1:?usage: template-rename.sh ID NAME}" \
    -H "Authorization: Bearer $PRESSROOM_KEY" -H "Content-Type: application/json" --data-binary "{\"name\": \"$2\"}"
