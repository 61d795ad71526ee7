"""/v2/authcheck, /v2/account, /v2/keys and /v2/session: the account, its usage, keys and sessions."""
