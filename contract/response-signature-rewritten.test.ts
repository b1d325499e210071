import { describe, expect, test } from "bun:test";
import { drawsOf, Random } from "./test-support/random.ts";
import { fields, inputOfOurs, signatureOfOurs, verify } from "./test-support/signed-example.ts";

describe("drawn at random", () => {
  const random = new Random();
  const { seed } = random;
  const below = (limit: number) => random.below(limit);
  const pick = <T>(choices: readonly T[]): T => random.pick(choices);
  const draws = drawsOf({ usual: 200, long: 5000 });

  /** The same two fields, as a proxy may write them: another label, other signatures, other whitespace. */
  function rewrite(input: string, signature: string): Record<string, string> {
    const label = pick(["tv", "sig1", "*a-b.c_d", "origin"]);
    const [inputs, signatures] = [[`${label}=${input}`], [`${label}=${signature}`]];
    for (let n = below(4); n > 0; n--) {
      const [other, at] = [`p${n}`, below(inputs.length + 1)];
      const components = pick(["", '"@status"', '"date" "via";req', '"x, (y)";key="a\\"b"']);
      inputs.splice(at, 0, `${other}=(${components});created=${below(1e9)};keyid="${pick(["s1", "p"])}"`);
      signatures.splice(below(signatures.length + 1), 0, `${other}=:${btoa(String(random.next()))}:`);
    }
    const comma = () => `${pick(["", " ", "\t", "  "])},${pick(["", " ", "\t \t"])}`;
    const join = (members: string[]) => members.reduce((left, right) => left + comma() + right);
    return { "signature-input": join(inputs), signature: join(signatures) };
  }

  /** Other whitespace between components and before parameters: the same structured value. */
  function respace(input: string): string {
    return input
      .replace(/[( ](?=")/g, (found) => found + " ".repeat(below(3)))
      .replace(/;(?=[a-z])/g, (found) => found + " ".repeat(below(3)));
  }

  test(`ours stays valid (TEST_SEED=${seed})`, async () => {
    for (let n = 0; n < draws; n++) {
      const changed = rewrite(respace(inputOfOurs.slice(3)), signatureOfOurs.slice(3));
      expect([await verify(changed), changed]).toEqual(["valid", changed]);
    }
  });

  test(`a change of any character of ours makes it invalid (TEST_SEED=${seed})`, async () => {
    for (let n = 0; n < draws; n++) {
      const name = pick(Object.keys(fields) as (keyof typeof fields)[]);
      const value = fields[name];
      const first = name.startsWith("signature") ? 3 : 0; // the label may change
      const last = name === "signature" ? value.length - 4 : value.length; // "Q==:" and "R==:" are the same bytes
      const at = first + below(last - first);
      const character = pick([...'abcXYZ0189+/=:;"()-_'].filter((other) => other !== value[at]));
      const damaged: Record<string, string> = {
        ...fields,
        [name]: value.slice(0, at) + character + value.slice(at + 1),
      };
      const { "signature-input": input = "", signature = "" } = damaged;
      const changed = { ...damaged, ...rewrite(input.slice(3), signature.slice(3)) };
      const verdict = await verify(changed);
      expect([verdict === "valid", changed]).toEqual([false, changed]);
    }
  });
});
