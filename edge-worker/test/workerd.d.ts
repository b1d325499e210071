// What the Worker's sources use of workerd, for tests that run them in Bun.

interface Request {
  cf?: object;
}
type IncomingRequestCfProperties = { country?: string };
declare const caches: {
  open: (name: string) => Promise<{
    match: (key: URL) => Promise<{ json: <T>() => Promise<T> } | undefined>;
    put: (key: URL, response: Response) => Promise<void>;
  }>;
};
