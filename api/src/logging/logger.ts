/** What is worth a line of the log. `message` is a sentence; `facts` are in snake_case, with units in their names. */
export type LogLevel = "info" | "warning" | "error";

export type LogFacts = Record<string, unknown>;

/** Writes a line. `event` names what happened, in snake_case, and never changes; people read `message`. */
export type Logger = (level: LogLevel, event: string, message: string, facts?: LogFacts) => void;
