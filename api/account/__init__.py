"""/v2/authcheck and /v2/account: what a key opens and what was used."""
