import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";

type Service = {
  image: string;
  read_only?: boolean;
  cap_drop?: string[];
  ports?: string[];
  volumes?: string[];
  build?: { target: string };
};

const root = join(import.meta.dir, "../..");
const dockerfile = await Bun.file(join(root, "Dockerfile")).text();
const compose = Bun.YAML.parse(await Bun.file(join(root, "compose.yml")).text()) as {
  services: Record<string, Service>;
};
const services = Object.values(compose.services);

test("the image is built from every workspace that bun.lock names", async () => {
  const { workspaces } = (await Bun.file(join(root, "package.json")).json()) as { workspaces: string[] };
  for (const workspace of workspaces)
    expect(dockerfile).toContain(`COPY ${workspace}/package.json ${workspace}/\n`);
});

test("every stage that is started runs as a user without rights, and says when it is healthy", () => {
  for (const stage of ["writer", "origin", "edge-for-trying"]) {
    const parts = dockerfile.split(/^(?=FROM )/m);
    const text = parts.find((part) => part.split("\n", 1)[0]?.endsWith(` AS ${stage}`));
    expect(text).toMatch(/^USER 10001:10001$/m);
    expect(text).toMatch(/^HEALTHCHECK /m);
    expect(text).toMatch(/^CMD \[/m);
  }
});

test("the edge is healthy when it answers what an edge has", async () => {
  const path = /fetch\('http:\/\/127\.0\.0\.1:8787([^']+)'\)/.exec(dockerfile)?.[1];
  const { paths } = await Bun.file(join(root, "contract/openapi.json")).json();
  const ofEdge = Object.keys(paths).filter((name) => name !== "/healthz"); // an origin's
  expect(ofEdge).toContain(path ?? "");
});

test("every service has a read-only root file system and no capabilities, and listens on this machine only", () => {
  for (const service of services) {
    expect(service.read_only).toBe(true);
    expect(service.cap_drop).toEqual(["ALL"]);
    for (const port of service.ports ?? []) expect(port).toStartWith("127.0.0.1:");
  }
});

test("Prometheus in compose has the jobs that rules and dashboard name", async () => {
  const jobs = async (path: string) => {
    const text = await Bun.file(join(root, path)).text();
    return [...text.matchAll(/job_name: (\S+)/g)].map(([, name]) => name);
  };
  const documented = await jobs("ops/prometheus/prometheus.yml");
  expect(await jobs("ops/container/prometheus.yml")).toEqual(documented);
});

test("what is not built here has a version, and what is mounted from here is there", () => {
  for (const { image, build, volumes = [] } of services) {
    if (build === undefined) expect(image).toMatch(/:v?\d+\.\d+\.\d+$/);
    for (const volume of volumes.filter((text) => text.startsWith("./")))
      expect(existsSync(join(root, volume.split(":")[0] ?? ""))).toBe(true);
  }
});
