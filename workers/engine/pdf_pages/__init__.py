"""Pages of PDF files as content: read within limits, without anything active, ready to be written again."""

from workers.engine.pdf_pages.file import is_pdf
from workers.engine.pdf_pages.form_fields import read_form
from workers.engine.pdf_pages.objects import UnusablePdfError
from workers.engine.pdf_pages.pages import ImportedPage, import_page
