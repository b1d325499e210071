// What the Worker's sources use of workerd, for tests that run them in Bun.

interface Request {
  cf?: object;
}
type IncomingRequestCfProperties = { country?: string };
type StoredBody = { json: <T>() => Promise<T>; arrayBuffer: () => Promise<ArrayBuffer> };
declare const caches: {
  open: (name: string) => Promise<{
    match: (key: URL) => Promise<StoredBody | undefined>;
    delete: (key: URL) => Promise<boolean>;
    put: (key: URL, response: Response) => Promise<void>;
  }>;
};
