import { FaultProxy } from "./fault-proxy.ts";
import { S3Server } from "./s3-server.ts";

const bucket = "trendvault";
const prefix = "lists";

/**
 * A real S3 server and a proxy in front of it that misbehaves as it is told. Writers and readers under test get
 * `settings`; `direct` passes the proxy by, for what somebody does to the bucket by hand.
 */
export class TestStore {
  /** Like s3://trendvault/lists: what PUBLISH_URL and bin/follow take. */
  readonly address = `s3://${bucket}/${prefix}`;
  readonly prefix = `${prefix}/`;

  private constructor(
    readonly server: S3Server,
    readonly proxy: FaultProxy,
  ) {}

  /** `folder` is where the buckets are (default: a new one). @throws Error when there is no S3 server here */
  static async start({ folder }: { folder?: string } = {}): Promise<TestStore> {
    const server = await S3Server.start({ bucket, ...(folder === undefined ? {} : { folder }) });
    return new TestStore(server, await FaultProxy.start(server.url, presigner(server)));
  }

  /** Where the bucket's objects can be read through the proxy without a signature, in Bun. */
  get readUrl(): string {
    return `${this.proxy.url}/${bucket}`;
  }

  /** The settings of writers and readers that reach the store through the proxy. */
  get settings(): Record<string, string> {
    const { accessKeyId, secretAccessKey, region } = this.server.credentials;
    return {
      S3_ENDPOINT_URL: this.proxy.url,
      S3_REGION: region,
      S3_ACCESS_KEY_ID: accessKeyId,
      S3_SECRET_ACCESS_KEY: secretAccessKey,
    };
  }

  /** Options of Bun's S3Client, past the proxy; keys begin with `prefix`. */
  get direct() {
    const { url, credentials } = this.server;
    return { endpoint: url, bucket, ...credentials };
  }

  async remove(): Promise<void> {
    await this.proxy.stop();
    await this.server.remove();
  }
}

function presigner({ url, credentials }: S3Server): ((key: string) => string) | undefined {
  if (typeof Bun === "undefined") return undefined;
  const client = new Bun.S3Client({ endpoint: url, bucket, ...credentials });
  return (key) => client.presign(key);
}
