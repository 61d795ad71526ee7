#!/bin/sh
# GET /studio and /studio/{file}: the web page for template authors, without a key
set -eu
curl -sS --fail-with-body -o studio.html "$PRESSROOM_URL/studio"
curl -sS --fail-with-body "$PRESSROOM_URL/studio/licenses.txt"
