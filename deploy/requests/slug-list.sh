#!/bin/sh
# GET /v2/slugs: list the slugs of the workspace
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/v2/slugs" -H "Authorization: Bearer $PRESSROOM_KEY"
