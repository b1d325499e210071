import type { Random } from "@trendvault/contract/test-support/random";

const pieces = [
  "<script>alert(1)</script>",
  "</script><script>alert(1)</script>",
  "<!--",
  "-->",
  "<![CDATA[",
  "]]>",
  "<img src=x onerror=alert(1)>",
  "<svg/onload=alert(1)>",
  "</template></ol></body>",
  "<template shadowrootmode=open>",
  "<plaintext>",
  "<textarea>",
  '" onmouseover="alert(1)',
  "' onclick='alert(1)",
  "javascript:alert(1)",
  "&lt;b&gt;",
  "&amp",
  "&#x3c;",
  "\\u003c/script>",
  '"token":""',
  '","token":"',
  "\0",
  "\r\n",
  "\ud83d",
  "\u2028",
  "\u202e",
  "\u0085",
  "مرحبا بالعالم",
  "שלום",
  "👩‍👩‍👧‍👦🏳️‍🌈",
  "é",
  "Ünïcödé",
  "$\u007balert(1)}",
  "%3Cscript%3E",
  "{n}",
  "a".repeat(300),
  " ",
  "A film",
];

/** A text of up to eight pieces that markup, attributes, data blocks and templates stumble over. */
export function hostileText(random: Random): string {
  return Array.from({ length: 1 + random.below(8) }, () => random.pick(pieces)).join("");
}
