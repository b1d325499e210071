import openapi from "@trendvault/contract/openapi.json" with { type: "text" };
import { builtInRegions, type Region, type RegionTable } from "@trendvault/contract/regions";

const committed = openapi as unknown as string; // 165 KB

const builtInCodes = builtInRegions.regions.map(({ code }) => code);
const builtInNames = builtInRegions.regions.map(({ name }) => name).join("|");
const codesInExamples = new RegExp(
  `(?<=^|region=|/feeds/|"region":")(${builtInCodes.join("|")})(?=$|[&".-])`,
  "g",
);
const namesInExamples = new RegExp(`\\b(${builtInNames})\\b`, "g");

/**
 * The description of the API (JSON), as committed or of a deployment with regions of its own: the built-in ones are
 * replaced where they are listed, in patterns, as the default, and in examples, which are then of the default region.
 */
export function describeApi(table: RegionTable | null): string {
  if (table === null) return committed;
  const region = table.regions.find(({ code }) => code === table.default) as Region;
  const codes = table.regions.map(({ code }) => code);
  const document = rewrite(JSON.parse(committed), { codes, region, isExample: false });
  return `${JSON.stringify(document, null, 2)}\n`;
}

type Own = { codes: string[]; region: Region; isExample: boolean };

function rewrite(value: unknown, own: Own): unknown {
  if (typeof value === "string") return own.isExample ? inExample(value, own) : inPattern(value, own);
  if (Array.isArray(value))
    return Bun.deepEquals(value, builtInCodes) ? own.codes : value.map((one) => rewrite(one, own));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, rewriteMember(key, member, own)]);
  return { ...Object.fromEntries(entries), ...descriptionOf(value, own) };
}

function rewriteMember(key: string, member: unknown, own: Own): unknown {
  if (key === "default" && member === builtInRegions.default) return own.region.code;
  return rewrite(member, { ...own, isExample: own.isExample || key === "example" || key === "examples" });
}

/** A region as /api/regions describes it. */
function descriptionOf(value: object, { region, isExample }: Own): Partial<Region> {
  const { code, name, languages } = region;
  return isExample && "code" in value && "languages" in value ? { code, name, languages } : {};
}

function inExample(text: string, { region: { code, name } }: Own): string {
  return text.replace(codesInExamples, code).replace(namesInExamples, () => name);
}

function inPattern(text: string, { codes }: Own): string {
  return text.replace(builtInCodes.join("|"), codes.join("|"));
}
