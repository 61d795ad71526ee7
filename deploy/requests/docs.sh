#!/bin/sh
# GET /, /docs/openapi.json and /docs: the API description, without a key
set -eu
curl -sS --fail-with-body "$PRESSROOM_URL/docs/openapi.json"
curl -sS --fail-with-body -o docs.html "$PRESSROOM_URL/docs"
