/**
 * A line of the log. `event` is a stable name in snake_case, `message` a sentence for people; the other members are
 * facts. Nothing about a visitor may be in it.
 */
export type LogEntry = { level: "warning" | "error"; event: string; message: string } & Record<
  string,
  unknown
>;

export type Logger = (entry: LogEntry) => void;

/** Writes a line in the shape that all parts share: time, level, event, message, facts. */
export const logToConsole: Logger = ({ level, event, message, ...facts }) => {
  console.error(JSON.stringify({ time: new Date().toISOString(), level, event, message, ...facts }));
};
