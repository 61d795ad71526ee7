"""Who may do what: accounts and their keys, admission by rate and quota, sessions of the Studio."""
