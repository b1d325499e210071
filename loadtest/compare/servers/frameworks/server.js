// The servers of other projects' own tables: node or bun, then the kind. GET /api/trending answers a small JSON;
// VALIDATE=1 checks the query first, by the rules of our own. Fastify and Express also send the origin's export.
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";

const [, , kind] = process.argv;
const validates = process.env.VALIDATE === "1";
const address = { port: Number(process.env.PORT), hostname: "127.0.0.1" };
const hello = { hello: "world" };
const path = "/api/trending";
const exportPath = "/api/export/GB.ndjson";
const regions = process.env.REGIONS.split(",");
const windows = process.env.WINDOWS.split(",");

const kinds = { http, bun, fastify, express, "hono-node": honoOnNode, hono: honoOnBun, elysia };
await kinds[kind]();

function http() {
  const answer = JSON.stringify(hello);
  createServer((_, response) => {
    response
      .writeHead(200, { "Content-Type": "application/json", "Content-Length": answer.length })
      .end(answer);
  }).listen(address.port, address.hostname);
}

async function bun() {
  const schema = validates ? await querySchema() : null;
  Bun.serve({
    ...address,
    fetch(request) {
      if (schema === null) return Response.json(hello);
      const query = Object.fromEntries(new URL(request.url).searchParams);
      return schema.safeParse(query).success ? Response.json(hello) : new Response(null, { status: 400 });
    },
  });
}

async function fastify() {
  const { default: Fastify } = await import("fastify");
  const querystring = {
    type: "object",
    required: ["region"],
    properties: {
      region: { enum: regions },
      window: { enum: windows, default: "day" },
      limit: { type: "integer", minimum: 1, maximum: 50, default: 24 },
    },
  };
  const response = { 200: { type: "object", properties: { hello: { type: "string" } } } };
  const schema = validates ? { querystring, response } : { response };
  const app = Fastify();
  app.get(path, { schema }, (_, reply) => reply.send(hello));
  const exported = readExport();
  if (exported !== null) {
    app.get(exportPath, (_, reply) => reply.headers(exported.fields).send(exported.body));
  }
  await app.listen({ port: address.port, host: address.hostname });
}

async function express() {
  const { default: Express } = await import("express");
  const schema = validates ? await querySchema() : null;
  const app = Express();
  app.get(path, (request, response) => {
    if (schema?.safeParse(request.query).success === false) response.status(400).end();
    else response.json(hello);
  });
  const exported = readExport();
  if (exported !== null) {
    app.get(exportPath, (_, response) => response.set(exported.fields).send(exported.body));
  }
  app.listen(address.port, address.hostname);
}

async function makeHono() {
  const { Hono } = await import("hono");
  const app = new Hono();
  if (!validates) return app.get(path, (context) => context.json(hello));
  const { zValidator } = await import("@hono/zod-validator");
  return app.get(path, zValidator("query", await querySchema()), (context) => context.json(hello));
}

async function honoOnNode() {
  const { serve } = await import("@hono/node-server");
  serve({ ...address, fetch: (await makeHono()).fetch });
}

async function honoOnBun() {
  Bun.serve({ ...address, fetch: (await makeHono()).fetch });
}

async function elysia() {
  const { Elysia, t } = await import("elysia");
  const query = t.Object({
    region: t.UnionEnum(regions),
    window: t.Optional(t.UnionEnum(windows)),
    limit: t.Optional(t.Numeric({ minimum: 1, maximum: 50 })),
  });
  new Elysia().get(path, () => hello, validates ? { query } : {}).listen(address);
}

/** As loadtest/compare/environment.py has written it; null without it. */
function readExport() {
  const name = join(dirname(process.env.ANSWER ?? ""), "export");
  if (!existsSync(`${name}.json`)) return null;
  const { fields } = JSON.parse(readFileSync(`${name}.json`, "utf8"));
  return { fields, body: readFileSync(`${name}.body`) };
}

async function querySchema() {
  const { z } = await import("zod");
  return z.object({
    region: z.enum(regions),
    window: z.enum(windows).default("day"),
    limit: z.coerce.number().int().min(1).max(50).default(24),
  });
}
