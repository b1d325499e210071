import { expect, test } from "bun:test";
import { canRead, oldestReadableVersion, supportedSchemaVersion } from "./schema-version.ts";

test.each([
  [supportedSchemaVersion, 0, true],
  [oldestReadableVersion, 0, true],
  [oldestReadableVersion - 1, 0, false],
  [supportedSchemaVersion + 1, 0, false],
  [supportedSchemaVersion + 5, supportedSchemaVersion, true],
  [supportedSchemaVersion + 5, 1, true],
  [supportedSchemaVersion + 5, supportedSchemaVersion + 1, false],
])("a schema of version %p whose writer says %p can be read: %p", (version, oldestReader, expected) => {
  expect(canRead(version, oldestReader)).toBe(expected);
});
