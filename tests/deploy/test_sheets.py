"""The pages of pictures that `make gallery` writes."""

from __future__ import annotations

from tests.sheets import HEIGHT, WIDTH, draw_sheet


def test_a_sheet_has_a_column_a_language_and_a_row_a_size_of_data():
    sheet = draw_sheet("service-receipt", ("en", "th"))
    assert sheet.size == (2 * WIDTH, 4 * HEIGHT)
    for row in range(4):
        english, thai = (
            sheet.crop((left, row * HEIGHT, left + WIDTH, (row + 1) * HEIGHT)).convert("L")
            for left in (0, WIDTH)
        )
        assert english.getextrema()[0] < 150
        assert thai.getextrema()[0] < 150
        assert english.tobytes() != thai.tobytes()
