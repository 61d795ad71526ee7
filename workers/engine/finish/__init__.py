"""Stage six: metadata that paint writes, encryption, and the files that join others."""
