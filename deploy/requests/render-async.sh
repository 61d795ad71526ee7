#!/bin/sh
# POST /v2/pdf with Prefer: respond-async and an Idempotency-Key; prints the job
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/pdf" \
    -H "Authorization: Bearer $PRESSROOM_KEY" -H "Content-Type: text/xml" \
    -H "Prefer: respond-async" -H "Idempotency-Key: ${2:?usage: render-async.sh DOCUMENT.xml KEY}" \
    --data-binary "@$1"
