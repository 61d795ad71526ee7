#!/bin/sh
# POST, GET and DELETE /v2/session: sign in to the Studio and sign out, as its page does
set -eu
ask() {
    curl -sS --fail-with-body -H "X-Pressroom-Studio: 1" -H "Sec-Fetch-Site: same-origin" \
        "$@" "$PRESSROOM_URL/v2/session"
}
cookie=$(ask -X POST -H "Authorization: Bearer $PRESSROOM_KEY" -o /dev/null -D - |
    sed -n 's/^[Ss]et-[Cc]ookie: \([^;]*\);.*/\1/p')
ask -H "Cookie: $cookie"
ask -H "Cookie: $cookie" -X DELETE
