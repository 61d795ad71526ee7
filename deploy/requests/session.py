"""POST, GET and DELETE /v2/session: sign in to the Studio and sign out, as its page does."""

import os
from urllib.request import Request, urlopen

URL = os.environ["PRESSROOM_URL"] + "/v2/session"
PAGE = {"X-Pressroom-Studio": "1", "Sec-Fetch-Site": "same-origin"}
key = {"Authorization": f"Bearer {os.environ['PRESSROOM_KEY']}"}

with urlopen(Request(URL, method="POST", headers=PAGE | key), timeout=30) as answer:
    cookie = {"Cookie": answer.headers["Set-Cookie"].partition(";")[0]}
with urlopen(Request(URL, headers=PAGE | cookie), timeout=30) as answer:
    print(answer.read().decode())
with urlopen(Request(URL, method="DELETE", headers=PAGE | cookie), timeout=30):
    pass
