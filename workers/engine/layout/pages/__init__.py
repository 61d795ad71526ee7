"""Pages: flows paginated into areas, with running content, footnotes and paper."""
