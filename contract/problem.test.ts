import { expect, test } from "bun:test";
import { problemKinds, problems, renderProblemPage } from "./problem.ts";

test.each(problemKinds)("the type of %s is the address of a page with its title and status", (kind) => {
  const page = renderProblemPage(kind);
  expect(page).toContain(`<h1>${problems[kind].title}</h1>`);
  expect(page).toContain(`HTTP status ${problems[kind].status}, type <code>/problems/${kind}</code>`);
  expect(page).not.toContain("`");
});
