import { expect, test } from "bun:test";
import { exportedRegionAt, exportUrl, parseExportQuery } from "./queries.ts";

function canonical(path: string, search: string): string | null {
  const region = exportedRegionAt(path);
  const query = region === null ? null : parseExportQuery(region, search).query;
  return query && exportUrl(query);
}

test.each([
  ["/api/export/PL.ndjson", "", "/api/export/PL.ndjson"],
  ["/api/export/pl.ndjson", "?", "/api/export/PL.ndjson"],
  ["/api/export/DE.ndjson", "?window=day", "/api/export/DE.ndjson?window=day"],
  ["/api/export/DE.ndjson", "?&window=%6eow", "/api/export/DE.ndjson?window=now"],
])("the export %s%s is %s", (path, search, url) => {
  expect(canonical(path, search)).toBe(url);
  const [again = "", query = ""] = url.split("?");
  expect(canonical(again, query)).toBe(url);
});

test.each([
  "/api/export/XX.ndjson",
  "/api/export/PL",
  "/api/export/PL.json",
  "/api/export/PL.NDJSON",
  "/api/export/PL.ndjson/",
  "/api/export/.ndjson",
  "/api/export/P%4c.ndjson",
  "/api/export/",
])("%s is no export", (path) => {
  expect(exportedRegionAt(path)).toBeNull();
});

test.each([
  "?region=PL",
  "?limit=5",
  "?cursor=1-50",
  "?fields=chart",
  "?category=Music",
  "?window=hour",
  "?window=",
  "?window=now&window=now",
])("an export of %p is refused, with what is allowed", (search) => {
  expect(parseExportQuery("PL", search).invalid?.[0]?.detail).toStartWith("expected");
});
