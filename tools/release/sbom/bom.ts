import { Enums, Models, Serialize, Spec, Validation } from "@cyclonedx/cyclonedx-library";
import type { Part } from "./component.ts";

const scopes = {
  required: Enums.ComponentScope.Required,
  optional: Enums.ComponentScope.Optional,
  excluded: Enums.ComponentScope.Excluded,
} as const;

/**
 * The bill of materials of a release, as CycloneDX 1.6 in JSON: the same bytes for the same release. `time` is the commit's.
 *
 * @throws Error when it does not keep to the schema of CycloneDX
 */
export async function billOfMaterials(
  parts: readonly Part[],
  { version, time }: { version: string; time: Date },
): Promise<string> {
  const bom = new Models.Bom();
  bom.metadata.timestamp = time;
  const product = new Models.Component(Enums.ComponentType.Application, "trendvault", {
    version,
    purl: `pkg:github/trendvault/trendvault@v${version}`,
    bomRef: "trendvault",
  });
  bom.metadata.component = product;
  const components = new Map(parts.map((part) => [part.purl, componentOf(part)]));
  for (const { purl, need, needs } of parts) {
    const component = components.get(purl);
    if (component === undefined) continue;
    bom.components.add(component);
    for (const needed of needs) {
      const target = components.get(needed);
      if (target !== undefined) component.dependencies.add(target.bomRef);
    }
    if (need !== "excluded") product.dependencies.add(component.bomRef);
  }
  const spec = Spec.Spec1dot6;
  const json = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(spec)).serialize(bom, {
    sortLists: true,
    space: 1,
  });
  const errors = await new Validation.JsonStrictValidator(spec.version).validate(json);
  if (errors !== null) throw new Error(`The bill of materials breaks CycloneDX: ${JSON.stringify(errors)}`);
  return `${json}\n`;
}

function componentOf({ purl, name, version, need, hashes }: Part): Models.Component {
  const component = new Models.Component(Enums.ComponentType.Library, name, { version, purl, bomRef: purl });
  component.scope = scopes[need];
  for (const { algorithm, hex } of hashes) component.hashes.set(algorithm as Enums.HashAlgorithm, hex);
  return component;
}
