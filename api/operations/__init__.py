"""Operations of the API, declared beside their views."""
