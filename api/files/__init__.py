"""/v2/images and /v2/fonts: the files stored in a workspace."""
