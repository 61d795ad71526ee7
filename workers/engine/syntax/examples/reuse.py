"""The examples of messages, parts and conditional content."""

from __future__ import annotations

from typing import Final

MESSAGES: Final = """
<document lang="{{ customer.lang }}" currency="EUR">
  <data>
    <json>{ "customer": { "name": "Ada Example", "lang": "fr" }, "contracts": 2, "due": 1250.5 }</json>
  </data>
  <messages lang="en">
    <message key="dear">Dear {{ name }},</message>
    <message key="contracts" plural="one">you have {{ n }} contract</message>
    <message key="contracts" plural="other">you have {{ n }} contracts</message>
    <message key="visit" ordinal="one">your {{ n }}st visit</message>
    <message key="visit" ordinal="two">your {{ n }}nd visit</message>
    <message key="visit" ordinal="few">your {{ n }}rd visit</message>
    <message key="visit" ordinal="other">your {{ n }}th visit</message>
  </messages>
  <messages lang="fr">
    <message key="dear">Bonjour {{ name }},</message>
    <message key="contracts" plural="one">vous avez {{ n }} contrat</message>
    <message key="contracts" plural="other">vous avez {{ n }} contrats</message>
    <message key="visit" ordinal="one">votre {{ n }}re visite</message>
    <message key="visit" ordinal="other">votre {{ n }}e visite</message>
  </messages>
  <flow>
    <p>{{ 'dear' | t(name=customer.name) }}</p>
    <p>{{ 'contracts' | t(n=contracts) }} ({{ due | currency }}), {{ 'visit' | t(n=1) }}.</p>
    <p lang="en">{{ 'contracts' | t(n=contracts) }} ({{ due | currency }}), {{ 'visit' | t(n=3) }}.</p>
  </flow>
</document>
"""

PART: Final = """
<document lang="en-GB" currency="GBP">
  <data>
    <json>{ "buyer": { "name": "Ada Example", "town": "Leeds" }, "seller": { "name": "Northwind Tools" },
            "lines": [ { "text": "Cordless drill", "price": 89.9 }, { "text": "Saw", "price": 42 } ] }</json>
  </data>
  <part name="address" takes="who, heading='From'">
    <p><b>{{ heading }}</b><br/>{{ who.name }}</p>
    <slot><p color="#777777">No address</p></slot>
  </part>
  <part name="line" takes="line">
    <tr><td>{{ line.text }}</td><td text-align="end">{{ line.price | currency }}</td></tr>
  </part>
  <flow>
    <row>
      <div><use part="address" who="{{ buyer }}" heading="Bill to"><p>{{ buyer.town }}</p></use></div>
      <div><use part="address" who="{{ seller }}"/></div>
    </row>
    <table margin-top="3mm">
      <use for="line in lines" part="line" line="{{ line }}"/>
    </table>
  </flow>
</document>
"""

ELSE: Final = """
<document lang="en">
  <data><json>{ "paid": false, "lines": [] }</json></data>
  <flow>
    <p>The invoice is <b if="paid">paid</b><else>open since <i>2 March</i></else>.</p>
    <table if="lines"><tr for="line in lines"><td>{{ line }}</td></tr></table>
    <else>
      <p>Nothing was ordered.</p>
      <p>Write to us if that is wrong.</p>
    </else>
  </flow>
</document>
"""

IMPORT: Final = """
<document extends="letterhead@3">
  <import template="letterhead@3"/>
  <color name="brand" value="#993300"/>
  <flow name="text"><p>Thank you for your order.</p></flow>
</document>
"""
