#!/bin/sh
# POST /v2/forms/extract: extract the fields of a filled-in form
set -eu
form=${1:?usage: form-extract.sh FORM.pdf}
curl -sS --fail-with-body "$PRESSROOM_URL/v2/forms/extract" \
    -H "Authorization: Bearer $PRESSROOM_KEY" -H "Content-Type: application/pdf" --data-binary "@$form"
