import { expect, test } from "bun:test";
import { Outages } from "./outages.ts";

test("a request that was open while its site was away is torn, and no other", () => {
  const outages = new Outages();
  outages.begin("origin", 100)(200);
  const isTorn = (from: number, until: number) => outages.hasTorn("origin", { from, until });
  expect([isTorn(50, 99), isTorn(50, 100), isTorn(150, 160), isTorn(200, 250), isTorn(201, 250)]).toEqual([
    false,
    true,
    true,
    true,
    false,
  ]);
  expect(outages.hasTorn("edge", { from: 150, until: 160 })).toBe(false);
});

test("an outage that has not ended tears whatever comes", () => {
  const outages = new Outages();
  outages.begin("edge", 100);
  expect(outages.hasTorn("edge", { from: 5000, until: 6000 })).toBe(true);
});
