"""/v2/images and /v2/fonts: the stored files of a workspace."""
