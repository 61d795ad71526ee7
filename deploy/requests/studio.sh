#!/bin/sh
# GET /studio, /studio/{file} and /studio/sign-in: the web page for template authors, without a key.
# Browsers alone go on from there to /studio/sign-in/begin and /studio/sign-in/callback.
set -eu
curl -sS --fail-with-body -o studio.html "$PRESSROOM_URL/studio"
curl -sS --fail-with-body "$PRESSROOM_URL/studio/licenses.txt"
curl -sS --fail-with-body "$PRESSROOM_URL/studio/sign-in"
