import { defineList, TrendvaultList } from "./element/trendvault-list.ts";

// The file of the script tag, as a site serves it: elements without `src` show the lists of that site.
TrendvaultList.defaultSrc = new URL(import.meta.url).origin;
defineList();
