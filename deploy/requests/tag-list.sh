#!/bin/sh
# GET /v2/templates/{id}/tags: list the tags of a template by name
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/templates/${1:?usage: tag-list.sh ID}/tags" -H "Authorization: Bearer $PRESSROOM_KEY"
