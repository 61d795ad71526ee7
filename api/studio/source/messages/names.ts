/** Names of the public templates in German, by the English ones. */

import { currentLanguage } from "../lib/messages";

/** Return the name of a public template in the user's language. */
export function nameTemplate(name: string): string {
  return (currentLanguage() === "de" && NAMES[name]) || name;
}

const NAMES: Record<string, string> = {
  "Account statement": "Kontoauszug",
  "Brand parts": "Bausteine der Marke",
  "Catalogue page": "Katalogseite",
  Certificate: "Urkunde",
  Contract: "Vertrag",
  "Credit note": "Gutschrift",
  "Delivery note": "Lieferschein",
  "Dunning letter": "Mahnung",
  "Event ticket": "Eintrittskarte",
  Form: "Formular",
  "Insurance policy": "Versicherungsschein",
  Invoice: "Rechnung",
  "Lab report": "Laborbericht",
  Labels: "Etiketten",
  Letter: "Brief",
  Minutes: "Protokoll",
  Payslip: "Entgeltabrechnung",
  "Purchase order": "Bestellung",
  "QR bill": "QR-Rechnung",
  Quote: "Angebot",
  Receipt: "Kassenbon",
  "Received invoice": "Eingangsrechnung",
  Report: "Bericht",
  "Shipping label": "Versandetikett",
  "Simple invoice": "Einfache Rechnung",
  Statement: "Kontoübersicht",
  "Tax certificate": "Steuerbescheinigung",
  Timesheet: "Stundenzettel",
  "US invoice": "US-Rechnung",
  "US letter": "US-Brief",
  "Utility bill": "Energieabrechnung",
  Voucher: "Gutschein",
};
