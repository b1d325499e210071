/** What a worker has to say. The supervisor writes it; see process/log-writer.ts. */
export type LogLevel = "info" | "warn" | "error";

export type Logger = (level: LogLevel, event: string, fields?: Record<string, unknown>) => void;
