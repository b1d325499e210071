import { junit } from "node:test/reporters";

/** What this needs to know of an event of node's test runner. */
type TestEvent = {
  type: string;
  data: { name: string; nesting: number; file?: string; line?: number; details?: { error?: TestError } };
};
type TestError = Error & { failureType?: string; cause?: unknown };

/**
 * Node's JUnit reporter, with one failed test more for each suite whose hook failed. The reporter itself drops that
 * error, and of the tests inside it says no more than that they were cancelled.
 */
// biome-ignore lint/style/noDefaultExport: node takes a reporter from the default export of its file
export default async function* (source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  yield* junit(withHookFailures(source) as never) as AsyncIterable<string>;
}

/** The events, with those of the added tests first in their suites: a report shows the first failures. */
async function* withHookFailures(source: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent> {
  const events = await Array.fromAsync(source); // the reporter writes at the end, too
  const failed = events.filter(({ type, data }) => type === "test:fail" && isOfHook(data.details?.error));
  const added = new Map(failed.map((event) => [events.indexOf(startOf(event, events)), event]));
  for (const [index, event] of events.entries()) {
    yield event;
    const failure = added.get(index);
    if (failure !== undefined) yield* describeHook(failure);
  }
}

function isOfHook(error: TestError | undefined): boolean {
  return error?.failureType === "hookFailed";
}

function startOf({ data }: TestEvent, events: TestEvent[]): TestEvent {
  const start = events.find(
    (event) =>
      event.type === "test:start" &&
      event.data.name === data.name &&
      event.data.nesting === data.nesting &&
      event.data.file === data.file &&
      event.data.line === data.line,
  );
  if (start === undefined) throw new Error(`node has told of no start of "${data.name}"`);
  return start;
}

function describeHook({ data }: TestEvent): [TestEvent, TestEvent] {
  const error = data.details?.error;
  const test = { ...data, name: `a hook of: ${data.name}`, nesting: data.nesting + 1 };
  const cause = error?.cause instanceof Error ? error.cause : error;
  return [
    { type: "test:start", data: test },
    { type: "test:fail", data: { ...test, details: { ...data.details, error: cause } as never } },
  ];
}
