"""Examples of elements, which LANGUAGE.md lists with pictures.

Each is a document, or the content of a flow. They use a stored image `logo` and a stored font `brand`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from workers.engine.syntax.examples.einvoice import EINVOICE
from workers.engine.syntax.examples.forms import INPUT, SELECT, SIGNATURE, TEXTAREA
from workers.engine.syntax.examples.payments import PAYMENT_SLIP, QR_BILL
from workers.engine.syntax.examples.references import CONTENTS, FIGURE, INDEX, REFERENCE, RUNNING
from workers.engine.syntax.examples.reuse import ELSE, IMPORT, MESSAGES, PART

_DOCUMENT: Final = """
<document version="1" title="Invoice {{ number }}" author="Northwind Tools Ltd" lang="en-GB"
          currency="GBP" timezone="Europe/London" filename="invoice-{{ number }}.pdf">
  <data>
    <json>{ "number": "2026-0042", "total": 1299.5 }</json>
  </data>
  <flow>
    <p>Invoice {{ number }}: {{ total | currency }}</p>
  </flow>
</document>
"""

_DATA: Final = """
<document lang="en-GB" currency="EUR">
  <data>
    <json>{ "buyer": "Example GmbH", "date": "2026-03-02",
            "lines": [ { "text": "Cordless drill", "qty": 2, "price": 89.90 },
                       { "text": "Drill bits", "qty": 1, "price": 19.50 } ] }</json>
    <field name="buyer" required="true"/>
    <field name="date" type="date"/>
    <dataset name="lines" min-rows="1">
      <field name="text"/>
      <field name="qty" type="decimal" min="0"/>
      <field name="price" type="decimal"/>
    </dataset>
    <let name="net" value="lines | sum('qty * price')"/>
    <assert test="net > 0" message="The invoice has no amount"/>
  </data>
  <flow>
    <p>{{ buyer }} pays {{ net | currency }} by {{ date | add(days=14) | date('long') }}.</p>
  </flow>
</document>
"""

_JSON: Final = """
<document lang="en">
  <data>
    <json><![CDATA[{
      "name": "Ada",
      "address": { "street": "12 High Street", "town": "Leeds" },
      "tags": [ "new", "<10 orders" ]
    }]]></json>
  </data>
  <flow>
    <p>{{ name }}, {{ address.street }}, {{ address.town }}: {{ tags | join(' and ') }}</p>
  </flow>
</document>
"""

_FIELD: Final = r"""
<document lang="de-DE" currency="EUR">
  <data>
    <json>{ "number": "2026-0042", "due": "2026-03-16", "method": "transfer", "rate": "0.19" }</json>
    <field name="number" label="Invoice number" required="true" pattern="\d{4}-\d{4}"/>
    <field name="due" type="date" min="2026-01-01"/>
    <field name="method" values="transfer, card, cash"/>
    <field name="rate" type="decimal" min="0" max="1"/>
    <field name="remark" maxlength="200"/>
  </data>
  <flow>
    <p>Rechnung {{ number }}, fällig am {{ due | date('long') }} ({{ method }})</p>
    <p>Umsatzsteuer {{ rate | percent }}. {{ remark | default('Keine Bemerkung.') }}</p>
  </flow>
</document>
"""

_DATASET: Final = """
<document lang="en-GB" currency="GBP">
  <data>
    <json>{ "bookings": [ { "date": "2026-01-02", "details": "Card payment", "amount": "-12.40" },
                          { "date": "2026-01-05", "details": "Salary", "amount": "2850.00" } ] }</json>
    <dataset name="bookings" label="Bookings" csv="true" delimiter=";" min-rows="1">
      <field name="date" type="date" required="true" label="Booked on"/>
      <field name="details" required="true" maxlength="300"/>
      <field name="amount" type="decimal"/>
    </dataset>
  </data>
  <flow>
    <p for="b in bookings">{{ b.date | date }}: {{ b.details }}, {{ b.amount | currency }}</p>
  </flow>
</document>
"""

_LET: Final = """
<document lang="en-GB" currency="GBP">
  <data>
    <json>{ "rate": 0.2, "lines": [ { "qty": 2, "price": 89.90 }, { "qty": 1, "price": 19.50 } ] }</json>
    <let name="net" value="lines | sum('qty * price')"/>
    <let name="vat" value="(net * rate) | round(2)"/>
  </data>
  <flow>
    <p>{{ net | currency }} and {{ rate | percent }} VAT {{ vat | currency }}</p>
    <group for="line in lines">
      <let name="amount" value="line.qty * line.price"/>
      <p if="amount > 100">Line {{ loop.index }}: {{ amount | currency }}</p>
    </group>
  </flow>
</document>
"""

_ASSERT: Final = """
<document lang="en-GB" currency="GBP">
  <data>
    <json>{ "total": 199.30, "lines": [ { "amount": 179.80 }, { "amount": 19.50 } ] }</json>
    <let name="sum" value="lines | sum('amount')"/>
    <assert test="sum == total"
            message="The lines add up to {{ sum | currency }}, stated is {{ total | currency }}"/>
    <assert test="lines | count &lt; 100" severity="warning" message="That is a long invoice"/>
  </data>
  <flow>
    <p>Total {{ total | currency }}</p>
  </flow>
</document>
"""

_STYLE: Final = """
<document>
  <color name="brand" value="#00539c"/>
  <style element="document" font-family="Noto Serif" font-size="11pt"/>
  <style element="h2" color="brand" margin-bottom="1mm"/>
  <style name="note" font-size="9pt" padding="2mm 3mm" border-left="2pt solid brand"/>
  <style name="warning" extends="note" background="#fff4d6" font-weight="bold"/>
  <page size="130mm 46mm" margin="6mm"/>
  <flow>
    <h2>A heading in the brand's colour</h2>
    <div class="note">A note</div>
    <div class="warning" margin-top="2mm">A warning: a note, and more</div>
  </flow>
</document>
"""

_FONT: Final = """
<document>
  <font family="Brand" src="brand"/>
  <font family="Brand Slanted" src="brand" font-variation-settings="'slnt' -10"/>
  <page size="130mm 34mm" margin="5mm"/>
  <flow font-family="Brand, Noto Sans">
    <p>A variable font, <span font-weight="300">light</span>, <span font-weight="600">semibold</span>
      and <span font-weight="900">black</span></p>
    <p font-family="Brand Slanted">with its axis of slant</p>
    <p>and Ж, which it does not have, from the next family.</p>
  </flow>
</document>
"""

_COLOR: Final = """
<document>
  <color name="brand" value="#00539c"/>
  <color name="spot" value="cmyk(0 60 90 0)"/>
  <page size="130mm 30mm" margin="5mm"/>
  <flow>
    <row gap="2mm">
      <box height="16mm" padding="2mm" background="brand" color="white">brand</box>
      <box height="16mm" padding="2mm" background="spot">spot</box>
      <box height="16mm" padding="2mm" border="2pt dashed brand" color="brand">as a border</box>
    </row>
  </flow>
</document>
"""

_PAGE: Final = """
<document lang="en-GB">
  <page size="90mm 70mm" margin="8mm 10mm" background="#fbf8f1">
    <header margin-bottom="5mm"><p font-size="8pt">Northwind Tools Ltd</p></header>
    <footer font-size="7pt" text-align="end"><p>Page {{ page.number }} of {{ page.count }}</p></footer>
  </page>
  <page on="first">
    <header margin-bottom="5mm"><img src="logo" height="9mm" alt="Northwind"/></header>
    <box left="3mm" top="23mm" width="4mm" height="0.3mm" background="#999999"/>
  </page>
  <flow>
    <p>The flow fills the region between the header and the footer.</p>
    <p for="n in range(1, 7)">Paragraph {{ n }}</p>
  </flow>
</document>
"""

_AREA: Final = """
<document>
  <page size="130mm 60mm" margin="8mm">
    <area width="70mm" columns="2" column-gap="6mm" column-rule="0.5pt solid #999999"/>
    <area flow="aside" left="78mm" padding="2mm"/>
  </page>
  <flow>
    <p>The body fills the two columns of the first area, one after the other, and goes on in the same
      area of the next page where there is more of it than fits.</p>
    <p>A side that is not given is the edge of the region.</p>
  </flow>
  <flow name="aside">
    <h3 margin-top="0">Aside</h3>
    <p>Another flow has an area of its own.</p>
  </flow>
</document>
"""

_HEADER_FOOTER: Final = """
<document lang="en-GB">
  <page size="100mm 75mm" margin="8mm">
    <header margin-bottom="4mm" border-bottom="0.5pt solid #999999" padding-bottom="1mm">
      <row><p>Northwind Tools Ltd</p><p text-align="end" if="page.first">2 March 2026</p></row>
    </header>
    <footer font-size="8pt" color="#666666" text-align="center">
      <p>Page {{ page.number }} of {{ page.count }}<span if="not page.last">, continued overleaf</span></p>
    </footer>
  </page>
  <flow>
    <p>The first page tells the date.</p>
    <break/>
    <p>The last page does not go on.</p>
  </flow>
</document>
"""

_FLOW: Final = """
<document>
  <flow>
    <h2>Invoice 2026-0042</h2>
    <p>The flow named body, which is its name unless it has another, fills the pages.</p>
    <insert flow="notes"/>
  </flow>
  <flow name="notes">
    <p>A Markdown payload for the flow “notes” replaces this paragraph.</p>
  </flow>
</document>
"""

_SECURITY: Final = """
<document lang="en-GB">
  <security print="low" modify="false" copy="false" annotate="false"/>
  <flow>
    <p>This page may be printed in low resolution; changing and copying are disabled.</p>
  </flow>
</document>
"""

_ATTACHMENT: Final = """
<document lang="en-GB" profile="pdf/a-3b" title="Invoice {{ number }}">
  <data>
    <json>{ "number": "2026-0042", "date": "2026-03-02", "lines": [{ "text": "Paper", "price": 4.95 }] }</json>
  </data>
  <flow>
    <p>The lines of this invoice lie in the file, for programs to read.</p>
  </flow>
  <attachment name="lines.json" relationship="data" description="The lines" value="lines"/>
  <attachment name="order.xml" relationship="source" modified="{{ date }}"><![CDATA[
    <order number="{{ number }}"/>
  ]]></attachment>
</document>
"""

_WATERMARK: Final = """
<document lang="en-GB">
  <data>
    <json>{ "copies": 2 }</json>
  </data>
  <page size="A6 landscape" margin="10mm"/>
  <watermark text="COPY" if="copies > 1" color="#00539c" opacity="0.2" layer="under"/>
  <flow>
    <h1>Delivery note</h1>
    <p>The mark stands across every page, here under the text.</p>
  </flow>
</document>
"""

_PARAGRAPH: Final = """
<p>A paragraph, set <b>in lines</b> as wide as its place.</p>
<p text-align="justify" text-indent="5mm" line-height="1.5">A paragraph may be justified, with the
  first line indented and more space between the lines. It ends where it ends.</p>
<p font-size="8pt" color="#666666" text-align="end">Small, grey, at the end of the line</p>
"""

_HEADINGS: Final = """
<h1>Annual report</h1>
<h2>Markets</h2>
<h3>Northern Europe</h3>
<h4>Denmark</h4>
<h5>Copenhagen</h5>
<h6>Nørrebro</h6>
<p>Headings are bold, stay with what follows, and make the outline that viewers show.</p>
"""

_DIV: Final = """
<div padding="3mm" background="#eef3f8" border-left="3pt solid #00539c" break-inside="avoid">
  <h3 margin-top="0">Please note</h3>
  <p>A box as wide as its place and as high as what is in it.</p>
  Loose text in it makes a paragraph of its own.
</div>
<div columns="2" column-gap="6mm" margin-top="4mm">
  <p>Columns end at one height, so that they share what there is.</p>
  <p>What does not fit goes on in columns on the next page.</p>
</div>
"""

_ROW: Final = """
<row gap="4mm" align-items="center">
  <img src="logo" width="30mm" alt="Northwind"/>
  <p>A block without a width takes 1fr: an equal share of what is left.</p>
  <p width="2fr" background="#eef3f8">This one has 2fr, so it is twice as wide.</p>
</row>
"""

_MARKDOWN: Final = """
<document>
  <data>
    <json>{ "buyer": "Ada *Example*", "note": "Please pay **within 14 days**." }</json>
  </data>
  <flow>
    <markdown>
      Dear {{ buyer }},

      1. unpack the *drill*
      2. charge the battery
    </markdown>
    <markdown value="note" font-size="9pt"/>
  </flow>
</document>
"""

_GRID: Final = """
<grid grid-template-columns="repeat(3, 1fr)" grid-auto-rows="14mm" column-gap="3mm" row-gap="3mm" skip="1">
  <box for="name in ['Hinge', 'Latch', 'Handle', 'Lock']" border="0.5pt solid #cccccc" padding="2mm">
    <p><b>{{ name }}</b></p>
  </box>
</grid>
"""

_BOX: Final = """
<row>
  <box width="40mm" height="22mm" padding="2mm" border="0.7pt solid #00539c" border-radius="3mm">
    <p>Content that is taller than 22mm would be an error.</p>
  </box>
  <box width="40mm" height="22mm" padding="2mm" background="#fff4d6" rotate="-6deg">
    <p>A turned box</p>
  </box>
</row>
<box height="24mm" background="#eef3f8" margin-top="4mm">
  <box left="4mm" top="3mm" width="50mm" height="8mm">At the upper left</box>
  <box right="4mm" bottom="3mm" width="50mm" height="8mm" text-align="end">At the lower right</box>
</box>
"""

_UNORDERED: Final = """
<ul>
  <li>Saws</li>
  <li>Drills
    <ul list-style-type="dash"><li>corded</li><li>cordless</li></ul>
  </li>
  <li for="item in ['Clamps', 'Vices']">{{ item }}</li>
  <li checked="true">Delivered</li>
  <li checked="false">Paid</li>
</ul>
"""

_ORDERED: Final = """
<ol>
  <li>Read the terms.</li>
  <li>Sign
    <ol list-style-type="lower-alpha"><li>the order,</li><li>the receipt.</li></ol>
  </li>
</ol>
<ol list-style-type="upper-roman" start="9"><li>Nine</li><li>Ten</li></ol>
"""

_IMAGE: Final = """
<img src="logo" width="50mm" alt="Northwind"/>
<p>In a line <img src="logo" height="4mm" alt="Northwind"/> it is as high as it says.</p>
<row gap="4mm">
  <img src="logo" width="30mm" height="20mm" object-fit="contain" border="0.5pt solid #999999" alt="contain"/>
  <img src="logo" width="30mm" height="20mm" object-fit="cover" border="0.5pt solid #999999" alt="cover"/>
  <img src="logo" width="30mm" height="20mm" object-fit="fill" border="0.5pt solid #999999" alt="fill"/>
</row>
"""

_RULE: Final = """
<p>Above</p>
<hr/>
<p>Between</p>
<hr border-top="2pt dotted #00539c" margin="3mm 20mm"/>
<p>Below</p>
"""

_PREFORMATTED: Final = """
<pre background="#f4f4f4" padding="2mm">for line in lines:
    total = total + line.qty * line.price</pre>
"""

_QUOTATION: Final = """
<p>As the saying goes:</p>
<blockquote font-style="italic" border-left="2pt solid #999999" padding-left="3mm">
  <p>Measure twice, cut once.</p>
</blockquote>
"""

_BARCODE: Final = """
<row gap="6mm">
  <barcode type="qr" width="25mm" value="https://example.com/invoices/2026-0042" alt="Address of the invoice"/>
  <barcode type="epc-qr" width="30mm" alt="Payment code"
    value="{{ { 'name': 'Northwind Tools Ltd', 'iban': 'GB33BUKB20201555555555',
                'bic': 'BUKBGB22XXX', 'amount': 199.30, 'text': '2026-0042' } }}"/>
  <barcode type="gs1-datamatrix" width="25mm" show-text="true" alt="Batch and expiry"
    value="(01)09506000134352(17)280630(10)B26-118"/>
</row>
<row gap="6mm" margin-top="4mm">
  <barcode type="ean13" width="40mm" height="20mm" value="401234567890" show-text="true" alt="Article"/>
  <barcode type="code128" width="60mm" height="16mm" value="PR-2026-0042" show-text="true" alt="Parcel"/>
</row>
"""

_INSERT: Final = """
<document>
  <page size="130mm 50mm" margin="8mm"/>
  <flow>
    <p>Before the terms</p>
    <div padding="2mm" background="#eef3f8"><insert flow="terms"/></div>
    <p>After the terms</p>
  </flow>
  <flow name="terms">
    <p>Payment within 14 days.</p>
    <p>Delivery free of charge.</p>
  </flow>
</document>
"""

_BREAK: Final = """
<document>
  <page size="60mm 50mm" margin="6mm"/>
  <flow>
    <p>First page</p>
    <break/>
    <p>Second page, with room for more</p>
    <break need="30mm"/>
    <p>Less than 30mm were left.</p>
  </flow>
</document>
"""

_GROUP: Final = """
<group for="p in [{'name': 'Ada', 'notes': ['prepaid']}, {'name': 'Ben', 'notes': []}]">
  <h3>{{ loop.index }}. {{ p.name }}</h3>
  <group if="p.notes">
    <p>Notes: {{ p.notes | join(', ') }}</p>
  </group>
</group>
"""

_TABLE: Final = """
<table stripe="white #eef3f8" cell-padding="1mm 2mm">
  <col width="1fr"/>
  <col width="20mm" text-align="end"/>
  <col text-align="end" white-space="nowrap"/>
  <thead><tr><th>Item</th><th>Pieces</th><th>Amount</th></tr></thead>
  <tr><td>Cordless drill</td><td>2</td><td>{{ 179.8 | currency('EUR') }}</td></tr>
  <tr><td>Drill bits, set of ten</td><td>1</td><td>{{ 19.5 | currency('EUR') }}</td></tr>
  <tr><td>Delivery</td><td>1</td><td>{{ 0 | currency('EUR') }}</td></tr>
</table>
"""

_COLUMN: Final = """
<table border="0.5pt solid #999999">
  <col width="25mm" font-weight="bold"/>
  <col width="1fr" background="#eef3f8"/>
  <col span="2" text-align="end"/>
  <tr><td>25mm</td><td>what is left</td><td>by content</td><td>too</td></tr>
  <tr><td>25mm</td><td>what is left</td><td>1</td><td>22</td></tr>
</table>
"""

_SECTIONS: Final = """
<document lang="en-GB">
  <data>
    <json>{ "months": [ { "name": "January", "rows": [12, 30] }, { "name": "February", "rows": [7, 9] } ] }</json>
  </data>
  <page size="70mm 56mm" margin="6mm"/>
  <flow>
    <table>
      <col width="1fr"/><col text-align="end"/>
      <thead><tr><th>Month</th><th>Pieces</th></tr></thead>
      <tbody for="m in months">
        <tr repeat="true" background="#eef3f8"><td colspan="2">{{ m.name }}</td></tr>
        <tr for="pieces in m.rows"><td>Week {{ loop.index }}</td><td>{{ pieces }}</td></tr>
      </tbody>
      <tfoot font-weight="bold" border-top="0.5pt solid black">
        <tr><td>Total</td><td>58</td></tr>
      </tfoot>
    </table>
  </flow>
</document>
"""

_CAPTION: Final = """
<table>
  <caption font-weight="bold" color="#00539c">Prices from March</caption>
  <caption on="rest" font-style="italic">Prices from March, continued</caption>
  <col width="1fr"/><col text-align="end"/>
  <tr><td>Cordless drill</td><td>89.90</td></tr>
  <tr><td>Drill bits, set of 10</td><td>19.50</td></tr>
</table>
"""

_TOTAL: Final = """
<document lang="en-GB" currency="GBP">
  <data>
    <json>{ "opening": 120, "bookings": [
      { "text": "Groceries", "amount": -12.4 }, { "text": "Salary", "amount": 2850 },
      { "text": "Rent", "amount": -940.25 }, { "text": "Refund", "amount": 31.5 },
      { "text": "Bookshop", "amount": -27 } ] }</json>
  </data>
  <page size="80mm 54mm" margin="6mm"/>
  <flow>
    <table>
      <col width="1fr"/><col text-align="decimal"/><col text-align="decimal"/>
      <total name="balance" value="b.amount" start="opening"/>
      <total name="number" mode="count"/>
      <thead><tr><th>Booking</th><th>Amount</th><th>Balance</th></tr></thead>
      <thead on="rest" font-style="italic">
        <tr><td colspan="2">Brought forward</td><td>{{ totals.balance.before | number(2) }}</td></tr>
      </thead>
      <tr for="b in bookings">
        <td>{{ b.text }}</td><td>{{ b.amount | number(2) }}</td>
        <td>{{ totals.balance.running | number(2) }}</td>
      </tr>
      <tfoot on="not-last" font-style="italic">
        <tr><td colspan="2">Carried forward</td><td>{{ totals.balance.after | number(2) }}</td></tr>
      </tfoot>
      <tfoot font-weight="bold">
        <tr><td colspan="2">{{ totals.number.all }} bookings</td>
          <td>{{ totals.balance.all | number(2) }}</td></tr>
      </tfoot>
    </table>
    <p>The balance is {{ totals.balance.all | currency }}.</p>
  </flow>
</document>
"""

_ROWS: Final = """
<table>
  <col width="1fr"/><col text-align="end"/>
  <tr for="n in range(1, 4)" background="{{ '#eef3f8' if loop.first else 'transparent' }}">
    <td>Row {{ n }} of {{ loop.length }}</td><td>{{ n * n }}</td>
  </tr>
  <tr border-top="0.5pt solid black" font-weight="bold"><td>Sum</td><td>14</td></tr>
</table>
"""

_CELLS: Final = """
<table cell-padding="1.5mm 2mm">
  <col width="30mm"/><col width="1fr"/><col width="25mm"/>
  <tr><th>Article</th><th colspan="2" text-align="center">Two columns wide</th></tr>
  <tr>
    <td rowspan="2" vertical-align="middle" background="#eef3f8">4711, over two rows</td>
    <td border="0.5pt solid #999999"><p>A cell holds text</p><ul><li>or any blocks</li></ul></td>
    <td vertical-align="bottom" text-align="end">bottom</td>
  </tr>
  <tr><td>below</td><td text-align="end">end</td></tr>
</table>
"""

_SPAN: Final = """
<p>Text <span color="#c1121f">in red</span>, <span background="#fff4d6">marked</span>,
  <span font-size="14pt">large</span>, <span vertical-align="2pt">raised</span>,
  <span font-family="Noto Serif" letter-spacing="1pt">apart</span>, and
  <span for="w in ['a', 'b', 'c']" font-weight="bold">{{ w }} </span></p>
"""

_MARKS: Final = """
<p><b>bold</b>, <i>italic</i>, <b><i>both</i></b>, <u>underlined</u>, <s>struck through</s>,
  H<sub>2</sub>O, 10 m<sup>2</sup>, <code>total = 3</code></p>
"""

_LINK: Final = """
<p>Write to <a href="mailto:office@example.com" color="#00539c">office@example.com</a>, see
  <a href="https://example.com/terms" text-decoration="underline">our terms</a>, or go to
  <a href="#annex">the annex</a>.</p>
<h3 id="annex">Annex</h3>
"""

_LINE_BREAK: Final = """
<p>Example GmbH<br/>Musterweg 5<br/>10115 Berlin</p>
"""

_CHART: Final = """
<document lang="en-GB">
  <page size="130mm 150mm" margin="5mm"/>
  <color name="brand" value="#00539c"/>
  <data>
    <json>{ "months": [ { "name": "Jan", "power": 310, "gas": 420 }, { "name": "Feb", "power": 290, "gas": 380 },
            { "name": "Mar", "power": 250, "gas": 310 }, { "name": "Apr", "power": 180, "gas": 190 },
            { "name": "May", "power": 140, "gas": null }, { "name": "Jun", "power": 120, "gas": 60 } ],
            "parts": [ { "name": "Heating", "kwh": 1360 }, { "name": "Kitchen", "kwh": 540 },
            { "name": "Light", "kwh": 410 }, { "name": "Other", "kwh": 340 } ] }</json>
  </data>
  <flow>
    <chart type="column" data="m in months" x="m.name" y="m.power" height="38mm" colors="brand"
           title="Power by month" values="true" alt="Power by month: 310 kWh in January, 120 in June">
      <axis side="start" title="kWh"/>
    </chart>
    <row margin-top="5mm">
      <chart type="line" data="m in months" x="m.name" height="42mm" alt="Power and gas fall towards June">
        <series y="m.power" label="Power" color="brand"/>
        <series y="m.gas" label="Gas"/>
        <axis side="start" min="0" format="number"/>
      </chart>
      <chart type="donut" data="p in parts" x="p.name" y="p.kwh" height="42mm" values="true" alt="Half of it is heating"/>
    </row>
    <row margin-top="5mm">
      <chart type="bar" stack="share" data="m in months" x="m.name" height="42mm" alt="Shares of power and gas">
        <series for="kind in ['power', 'gas']" y="m[kind]" label="{{ kind | capitalize }}"/>
      </chart>
      <div>
        <p>Power <chart type="sparkline" data="m in months" y="m.power" alt="falling"/> fell by half.</p>
        <p>Of the year, 74 %: <chart type="gauge" value="740" max="1000" alt="74 %"/></p>
      </div>
    </row>
  </flow>
</document>
"""

_TEXTS: Final[Mapping[str, str]] = {
    "document": _DOCUMENT,
    "data": _DATA,
    "json": _JSON,
    "field": _FIELD,
    "dataset": _DATASET,
    "let": _LET,
    "assert": _ASSERT,
    "style": _STYLE,
    "color": _COLOR,
    "font": _FONT,
    "messages": MESSAGES,
    "message": MESSAGES,
    "part": PART,
    "use": PART,
    "slot": PART,
    "else": ELSE,
    "import": IMPORT,
    "page": _PAGE,
    "area": _AREA,
    "header": _HEADER_FOOTER,
    "footer": _HEADER_FOOTER,
    "flow": _FLOW,
    "security": _SECURITY,
    "attachment": _ATTACHMENT,
    "einvoice": EINVOICE,
    "watermark": _WATERMARK,
    "p": _PARAGRAPH,
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), _HEADINGS),
    "div": _DIV,
    "figure": FIGURE,
    "row": _ROW,
    "grid": _GRID,
    "markdown": _MARKDOWN,
    "box": _BOX,
    "ul": _UNORDERED,
    "ol": _ORDERED,
    "li": _UNORDERED,
    "img": _IMAGE,
    "hr": _RULE,
    "pre": _PREFORMATTED,
    "blockquote": _QUOTATION,
    "barcode": _BARCODE,
    "qr-bill": QR_BILL,
    "payment-slip": PAYMENT_SLIP,
    **dict.fromkeys(("chart", "series", "axis"), _CHART),
    "input": INPUT,
    "textarea": TEXTAREA,
    **dict.fromkeys(("select", "option"), SELECT),
    "signature": SIGNATURE,
    "insert": _INSERT,
    "toc": CONTENTS,
    "index": INDEX,
    "ref": REFERENCE,
    "mark": INDEX,
    "running": RUNNING,
    "break": _BREAK,
    "group": _GROUP,
    "table": _TABLE,
    "caption": _CAPTION,
    "col": _COLUMN,
    "total": _TOTAL,
    **dict.fromkeys(("thead", "tbody", "tfoot"), _SECTIONS),
    "tr": _ROWS,
    **dict.fromkeys(("td", "th"), _CELLS),
    "span": _SPAN,
    **dict.fromkeys(("b", "i", "u", "s", "sub", "sup", "code"), _MARKS),
    "a": _LINK,
    "br": _LINE_BREAK,
}

EXAMPLES: Final[Mapping[str, str]] = MappingProxyType(
    {name: text.strip() for name, text in _TEXTS.items()}
)
