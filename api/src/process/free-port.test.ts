import { expect, test } from "bun:test";
import { freePort } from "@trendvault/kit/machine";
import { explainBindError, findFreePort } from "./free-port.ts";

test("a port that another program has is refused with the setting to change", async () => {
  const port = await freePort();
  const server = Bun.serve({ hostname: "127.0.0.1", port, fetch: () => new Response() });
  expect(() => findFreePort("127.0.0.1", port)).toThrow(
    `Cannot listen on 127.0.0.1:${port}: another program listens there; stop it or set PORT`,
  );
  void server.stop(true);
  expect(findFreePort("127.0.0.1", port)).toBe(port);
});

test("for port 0 the system chooses one", () => {
  expect(findFreePort("127.0.0.1", 0)).toBeGreaterThan(0);
});

test.each([
  ["PORT", "HOST"],
  ["ADMIN_PORT", "ADMIN_HOST"],
] as const)("an address that this machine does not have is a matter of the host, beside %s", (port, host) => {
  const bind = () => Bun.serve({ hostname: "203.0.113.1", port: 0, fetch: () => new Response() }); // RFC 5737
  expect(() => explainBindError("203.0.113.1", 80, bind, port)).toThrow(
    `Cannot listen on 203.0.113.1:80: this machine has no such address; set ${host}`,
  );
});

test("a port for which rights are missing is a matter of the port", () => {
  const bind = () => {
    throw Object.assign(new Error("permission denied"), { code: "EACCES" });
  };
  expect(() => explainBindError("127.0.0.1", 80, bind)).toThrow("this user may not listen there; set PORT");
});
