import type { PageLanguage } from "@trendvault/contract/page";
import ar from "./ar.json" with { type: "json" };
import cs from "./cs.json" with { type: "json" };
import da from "./da.json" with { type: "json" };
import de from "./de.json" with { type: "json" };
import en from "./en.json" with { type: "json" };
import es from "./es.json" with { type: "json" };
import fr from "./fr.json" with { type: "json" };
import it from "./it.json" with { type: "json" };
import type { Messages } from "./locale.ts";
import nl from "./nl.json" with { type: "json" };
import pl from "./pl.json" with { type: "json" };
import pt from "./pt.json" with { type: "json" };
import sv from "./sv.json" with { type: "json" };

/** The messages of every language, for programs that write pages in all of them. Browsers load one language: load.ts. */
export const allMessages: Readonly<Record<PageLanguage, Messages>> = {
  en,
  de,
  fr,
  es,
  it,
  nl,
  pl,
  sv,
  pt,
  da,
  cs,
  ar,
};
