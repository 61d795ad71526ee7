"""Examples of form fields."""

from __future__ import annotations

from typing import Final

INPUT: Final = """
<p>Name: <input name="name" label="Name" required="true" width="60mm"/></p>
<p>IBAN: <input name="iban" label="IBAN" comb="22" value="DE89370400440532013000"/></p>
<p><input type="radio" name="term" value="month" label="Monthly" checked="true"/> monthly
   <input type="radio" name="term" value="year" label="Yearly"/> yearly</p>
<p><input type="checkbox" name="news" label="Newsletter"/> Send me the newsletter.</p>
"""

TEXTAREA: Final = """
<textarea name="note" label="Note" height="24mm" max-length="500"
          value="{{ 'Ring twice.\\nThe parcel may be left with the neighbours.' }}"/>
"""

SELECT: Final = """
<document>
  <data><json>{ "buyer": { "country": "FR" }, "countries": { "DE": "Germany", "FR": "France" } }</json></data>
  <flow>
    <p>Country: <select name="country" label="Country" value="{{ buyer.country }}" width="50mm">
      <option for="code, name in countries" value="{{ code }}">{{ name }}</option>
    </select></p>
  </flow>
</document>
"""

SIGNATURE: Final = """
<signature name="customer" label="Signature of the customer" width="70mm" height="16mm"
           border="none" border-bottom="0.5pt solid black"/>
<p font-size="8pt">Place, date, signature</p>
"""
