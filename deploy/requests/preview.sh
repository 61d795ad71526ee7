#!/bin/sh
# POST /v2/preview: the first page of TEMPLATE as JSON, the image in .file.data
set -eu
template=${1:?usage: preview.sh TEMPLATE [DATA.json]}
data=$(cat "${2:-/dev/null}")
printf '{"template": "%s", "payload": %s}' "$template" "${data:-null}" |
    curl -sS --fail-with-body "$PRESSROOM_URL/v2/preview" \
        -H "Authorization: Bearer $PRESSROOM_KEY" -H 'Content-Type: application/json' --data-binary @-
