import { expect, test } from "bun:test";
import { FollowFailure } from "./failure.ts";
import { attempt, FailureLog, type Loop, retryDelaySeconds } from "./follow-store.ts";
import { Metrics } from "./metrics.ts";

function startLog() {
  const said: string[] = [];
  const metrics = new Metrics();
  const loop: Loop = {
    store: "s3://bucket",
    poll: async () => true,
    intervalSeconds: 1,
    log: (_level, event, _message, facts) => said.push(`${event} ${facts?.reason ?? ""}`.trim()),
    metrics,
  };
  return { said, metrics, loop, failures: new FailureLog(loop) };
}

test("a failure is said at once, then each minute while it lasts, another one at once, and the end of it", () => {
  const { said, failures } = startLog();
  for (let second = 0; second < 90; second++)
    failures.note(new FollowFailure("stale", `The pointer is ${second} s old.`), second * 1000);
  expect(said).toEqual(["store_failed stale", "store_failed stale"]);
  expect(failures.inARow).toBe(90);
  failures.note(new FollowFailure("denied", "Refused."), 90_000);
  failures.note(null, 91_000);
  failures.note(null, 92_000);
  expect(said.slice(2)).toEqual(["store_failed denied", "store_recovered"]);
  expect(failures.inARow).toBe(0);
});

test("failures are counted by reason, and one that lasts shows", async () => {
  const { metrics, failures } = startLog();
  failures.note(new FollowFailure("timeout", "Late."));
  failures.note(new FollowFailure("timeout", "Late."));
  expect(await metrics.text()).toContain('failures_total{store="s3://bucket",reason="timeout"} 2\n');
  expect(await metrics.text()).toContain('failing{store="s3://bucket"} 1\n');
  failures.note(null);
  expect(await metrics.text()).toContain('failing{store="s3://bucket"} 0\n');
});

test("a bug is a failure with its place, and does not end the loop", async () => {
  const { loop } = startLog();
  const poll = () => Promise.reject(new TypeError("nothing is not a function"));
  const failure = await attempt({ ...loop, poll }, new AbortController().signal);
  expect(failure?.reason).toBe("internal");
  expect(failure?.message).toContain("nothing is not a function");
});

test.each([
  [0, 1, 0.9, 1],
  [1, 1, 0, 1],
  [1, 1, 1, 2],
  [3, 1, 1, 8],
  [9, 1, 0, 7.5],
  [9999, 1, 1, 15],
  [3, 60, 1, 60],
  [0, 0.1, 0, 0.1],
])(
  "after %p failures, with an interval of %p s, %p is drawn: %p s",
  (failures, intervalSeconds, random, delay) => {
    expect(retryDelaySeconds(failures, { intervalSeconds, random })).toBe(delay);
  },
);
