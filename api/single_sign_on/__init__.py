"""Sign-in to the Studio at an OpenID Connect provider."""
