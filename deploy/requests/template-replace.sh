#!/bin/sh
# PUT /v2/templates/{id}: replace the live content
set -eu
curl -sS --fail-with-body -X PUT "$PRESSROOM_URL/v2/templates/${1:?usage: template-replace.sh ID TEMPLATE.xml}" \
    -H "Authorization: Bearer $PRESSROOM_KEY" -H "Content-Type: application/xml" \
    --data-binary "@$2"
