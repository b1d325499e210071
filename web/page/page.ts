import { defineList } from "../client/src/element/define.ts";
import type {} from "../client/src/element.ts"; // the type of its tag and events
import { keepOffline } from "./browser/keep-offline.ts";
import { LivePage } from "./browser/live-page.ts";
import type { PageData } from "./page-model.ts";

defineList();
const list = document.querySelector("trendvault-list");
const notice = document.getElementById("notice");
const data = document.getElementById("page-data")?.textContent;
if (list !== null && notice !== null && data) {
  void new LivePage({ list, notice, data: JSON.parse(data) as PageData }).start();
}
addEventListener("load", () => void keepOffline().catch(() => {})); // a browser may refuse to store anything
