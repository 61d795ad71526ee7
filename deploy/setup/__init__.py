"""Setup of environments: prerequisites, and tests with newer dependencies."""
