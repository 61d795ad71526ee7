"""Files of accounts: images and fonts."""
