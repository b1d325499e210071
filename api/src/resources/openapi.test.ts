import { expect, test } from "bun:test";
import { builtInRegions } from "@trendvault/contract/regions";
import { describeApi } from "./openapi.ts";

const table = {
  default: "CA",
  regions: [
    { code: "US", name: "United States", languages: ["en"] },
    { code: "CA", name: "Canada", languages: ["en", "fr"] },
  ],
};

test("the description of other regions names none of the built-in ones, outside of tokens", () => {
  const text = describeApi(table);
  const { default: _, regions } = builtInRegions;
  const words = regions.flatMap(({ code, name }) => [`\\b${code}\\b`, name]).join("|");
  const found = text.split("\n").filter((line) => new RegExp(words).test(line.replace(/eyJ[\w.-]+/g, "")));
  expect(found).toEqual([]);
});

test("it lists them, has their default, and examples of that region", () => {
  const { components, paths } = JSON.parse(describeApi(table));
  const [{ schema }] = paths["/api/trending"].get.parameters;
  expect(components.schemas.Region.enum).toEqual(["US", "CA"]);
  expect([schema.enum, schema.default]).toEqual([["US", "CA"], "CA"]);
  const { content } = paths["/api/regions"].get.responses["200"];
  expect(content["application/json"].example.regions[0]).toMatchObject(table.regions[1] ?? {});
  expect(JSON.stringify(paths["/api/videos/{id}/explain"])).toContain("in the list of Canada for");
});

test("of the built-in regions it is the committed description but for the examples' region", () => {
  const text = describeApi(builtInRegions);
  expect(text.split("\n")).toHaveLength(describeApi(null).split("\n").length);
});
