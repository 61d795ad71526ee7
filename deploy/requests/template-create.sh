#!/bin/sh
# POST /v2/templates: create a template; NAME is URL-encoded; without a file it has no content yet
set -eu
name=${1:?usage: template-create.sh NAME [TEMPLATE.xml]}
curl -sS --fail-with-body -X POST "$PRESSROOM_URL/v2/templates?name=$name" \
    -H "Authorization: Bearer $PRESSROOM_KEY" -H "Content-Type: application/xml" \
    --data-binary "@${2:-/dev/null}"
