"""The account of a request, its keys, and the session of the Studio."""
