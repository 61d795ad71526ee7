"""Pages: flows paginated into areas, with running content, footnotes and paper (language.md 1.7)."""
