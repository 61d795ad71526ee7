"""Examples of what refers to other places of a document: contents, index, references, running heads."""

from __future__ import annotations

from typing import Final

CONTENTS: Final = """
<document lang="en-GB">
  <style element="h1" number="1" font-size="12pt"/>
  <style element="h2" number="1.1" font-size="10pt"/>
  <style name="toc-1" font-weight="bold"/>
  <style element="caption" number="Table 1:"/>
  <page size="130mm 92mm" margin="6mm"/>
  <flow>
    <toc levels="1-2"/>
    <toc of="table" leader="line"/>
    <h1>Delivery</h1>
    <h2>Times</h2>
    <p>Goods arrive in the week after the order.</p>
    <h2>Costs</h2>
    <table><caption>Rates</caption><tr><td>Up to 5 kg</td><td>4.90</td></tr></table>
    <h1>Returns</h1>
    <p>Within thirty days.</p>
  </flow>
</document>
"""

REFERENCE: Final = """
<document lang="en-GB">
  <style element="h1" number="1" number-width="8mm" font-size="12pt"/>
  <style name="clause" number="{h1}.{clause}" number-width="8mm"/>
  <style name="item" number="({item:a})" number-width="6mm" margin-left="8mm"/>
  <page size="130mm 62mm" margin="6mm"/>
  <flow>
    <h1>Payment</h1>
    <p class="clause" id="due" counter-reset="item">Invoices are due in thirty days:</p>
    <p class="item">by transfer, and</p>
    <p class="item" id="currency">in the currency of the invoice</p>
    <h1>Interest</h1>
    <p class="clause">After the date in clause <ref to="due" show="number"/><ref to="currency" show="number"/>
      on page <ref to="currency" show="page"/>, “<ref to="currency"/>”, interest runs.</p>
  </flow>
</document>
"""

INDEX: Final = """
<document lang="en-GB">
  <style name="index-letter" margin-top="2mm"/>
  <page size="130mm 62mm" margin="6mm"/>
  <flow>
    <p>Interest<mark term="Interest, default"/> runs from the due date at four per cent above the
      <mark term="Rates, base">base rate</mark>; goods<mark term="Goods"/> stay ours until paid.</p>
    <p>Defects<mark term="Goods, defects of"/> are told in a week.</p>
    <div columns="2"><index/></div>
  </flow>
</document>
"""

RUNNING: Final = """
<document lang="en-GB">
  <data><json>{ "sections": [ { "title": "Tools", "items": ["Drill", "Saw", "Plane"] },
                              { "title": "Timber", "items": ["Oak", "Ash", "Beech"] } ] }</json></data>
  <page size="74mm 52mm" margin="6mm">
    <header font-size="7pt" margin-bottom="2mm">
      <p>Price list – {{ running.section.first }}</p>
    </header>
  </page>
  <flow>
    <group for="s in sections">
      <running name="section" value="s.title"/>
      <h2>{{ s.title }}</h2>
      <p for="item in s.items">{{ item }}</p>
    </group>
  </flow>
</document>
"""

FIGURE: Final = """
<document lang="en-GB">
  <page size="130mm 75mm" margin="6mm"/>
  <flow>
    <p>Use falls in summer: <ref to="use" show="number"/> on page <ref to="use" show="page"/>.</p>
    <figure id="use" float="bottom" width="80mm">
      <chart type="column" data="kwh in [310, 290, 250, 180, 140, 120]" x="loop.index" y="kwh" height="35mm"
          alt="Use in the first six months"/>
      <caption>Use by month, in kWh</caption>
    </figure>
    <p>The text continues while the figure is at the foot of the page.</p>
  </flow>
</document>
"""
