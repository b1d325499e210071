import { defineList } from "../client/src/element/trendvault-list.ts";

/**
 * What WordPress hears of a page that it frames, in wp-embed.js: how high it is, and which link was opened. In the sandbox
 * of what it discovers (`allow-scripts` alone) nothing else can be done about either.
 */
type Message = { message: "height"; value: number } | { message: "link"; value: string };

/** By which WordPress knows its frame; "" in a frame of anybody else. It may come after this page. */
const secret = () => /\bsecret=([a-zA-Z0-9]+)/.exec(location.hash)?.[1] ?? "";

// To whoever frames the page: anybody may.
const tell = (message: Message) => parent.postMessage({ ...message, secret: secret() }, "*");

const tellHeight = () =>
  tell({ message: "height", value: Math.ceil(document.body.getBoundingClientRect().height) });

addEventListener("message", ({ source, data }) => {
  if (source === parent && data?.message === "ready") tellHeight();
});
addEventListener("hashchange", tellHeight);
addEventListener("click", (event) => {
  const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement);
  if (secret() === "" || link === undefined || event.defaultPrevented) return;
  event.preventDefault();
  const page = document.querySelector<HTMLAnchorElement>("h1 a")?.href ?? "";
  tell({ message: "link", value: link.host === location.host ? link.href : page }); // it follows none to another host
});
new ResizeObserver(tellHeight).observe(document.body);
defineList();
