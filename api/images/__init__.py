"""/v2/images: the stored images of a workspace."""
