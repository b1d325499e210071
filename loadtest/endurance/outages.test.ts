import { expect, test } from "bun:test";
import { Outages } from "./outages.ts";

test("a request that was open while its site was away is torn, and no other", () => {
  const outages = new Outages();
  outages.begin("origin", 100)(200);
  const isTorn = (from: number, until: number) =>
    outages.excuseOf("origin", { from, until, failure: "closed" });
  expect([isTorn(50, 99), isTorn(50, 100), isTorn(150, 160), isTorn(200, 250), isTorn(201, 250)]).toEqual([
    null,
    "torn",
    "torn",
    "torn",
    null,
  ]);
  expect(outages.excuseOf("edge", { from: 150, until: 160, failure: "closed" })).toBeNull();
});

test("an outage that has not ended tears whatever comes", () => {
  const outages = new Outages();
  outages.begin("edge", 100);
  expect(outages.excuseOf("edge", { from: 5000, until: 6000, failure: "status 503" })).toBe("torn");
});

test("a wrong clock excuses refusals by it, and nothing else", () => {
  const outages = new Outages();
  outages.begin("origin", 100, "refused")(200);
  const excuse = (failure: string, from = 150) =>
    outages.excuseOf("origin", { from, until: from + 1, failure });
  const unsigned = '/: status 403: {"title":"The request has no valid edge signature"}';
  const outdated = "/: VerificationError: Cannot verify the answer: outdated";
  expect([excuse(unsigned), excuse(outdated)]).toEqual(["refused", "refused"]);
  expect([excuse(unsigned, 300), excuse("/: status 503: "), excuse("/: closed")]).toEqual([null, null, null]);
  expect(excuse("/: VerificationError: Cannot verify the answer: invalid")).toBeNull();
});
