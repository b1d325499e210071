import { expect, test } from "bun:test";
import { DatabaseBuilder } from "../../test-support/database-builder.ts";
import { placesSql } from "./videos.ts";

test("the places of a video are looked up by its id, not by reading the generation", () => {
  const builder = new DatabaseBuilder();
  const plan = builder.database.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${placesSql}`).all();
  builder.remove();
  expect(plan.map(({ detail }) => detail)).toEqual([
    "SEARCH trending USING INDEX trending_by_video (generation=? AND video_id=?)",
  ]);
});
