import { expect, test } from "bun:test";
import { rateLimitKey } from "./rate-limit-key.ts";

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8:1:2::1", "2001:db8:1:2"],
  ["2001:db8::a:b:c:d", "2001:db8:0:0"],
  ["2001:db8::", "2001:db8:0:0"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["::1", "0:0:0:0"],
  ["", ""],
])("%p is counted under %p", (address, network) => {
  expect(rateLimitKey(address)).toBe(network);
});
