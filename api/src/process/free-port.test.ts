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

test("an address that this machine does not have is a matter of the host", () => {
  const host = "203.0.113.1"; // RFC 5737
  const reason = "this machine has no such address; set";
  expect(() => findFreePort(host, 80)).toThrow(`Cannot listen on ${host}:80: ${reason} HOST`);
  const bind = () => Bun.serve({ hostname: host, port: 0, fetch: () => new Response() });
  expect(() => explainBindError(host, 80, bind, "ADMIN_PORT")).toThrow(`${reason} ADMIN_HOST`);
});

test("a port for which rights are missing is a matter of the port", () => {
  const bind = () => {
    throw Object.assign(new Error("permission denied"), { code: "EACCES" });
  };
  expect(() => explainBindError("127.0.0.1", 80, bind)).toThrow("this user may not listen there; set PORT");
});
