import { expect, test } from "bun:test";
import { splitTarget } from "./request-target.ts";

test.each([
  ["http://host/api/trending?region=DE", "/api/trending", "region=DE"],
  ["http://host:80/api/trending", "/api/trending", ""],
  ["http://host", "/", ""],
  ["http://[::1]:3000/a?b?c", "/a", "b?c"],
  ["/api/trending?x", "/api/trending", "x"], // Host was empty or invalid
  ["//double/slash", "//double/slash", ""],
  ["host:443", "/", ""], // CONNECT
])("%p is path %p and query %p", (url, path, search) => {
  expect(splitTarget(url)).toEqual({ path, search });
});
