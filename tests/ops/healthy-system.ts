/** A value of a series at a minute of a test, whose clock begins at Unix time 0; null while the series is not there. */
export type Value = (minute: number) => number | null;
export type Series = Readonly<Record<string, Value>>;

const machine = 'instance="a:9100",job="trendvault-machines"';
const origin = 'instance="a:9464",job="trendvault-origin"';
const edge = 'instance="https://lists.example"';
const store = `${machine},store="s3://lists"`;
const disk = `${machine},fstype="ext4",mountpoint="/"`;

export const always =
  (value: number): Value =>
  () =>
    value;

/** A time that is always so many seconds ago. */
export const ago =
  (seconds: number): Value =>
  (minute) =>
    60 * minute - seconds;

/** A counter. */
export const growing =
  (perMinute: number): Value =>
  (minute) =>
    perMinute * minute;

/** Names of series, so that a case can say what becomes of one. */
export const names = {
  machineUp: `up{${machine}}`,
  textfileError: `node_textfile_scrape_error{${machine}}`,
  diskFree: `node_filesystem_avail_bytes{${disk}}`,
  generationTime: `trendvault_writer_generation_timestamp_seconds{${machine}}`,
  exitCode: `trendvault_writer_run_exit_code{${machine},command="cron"}`,
  observationTime: `trendvault_writer_newest_observation_timestamp_seconds{${machine},region="DE"}`,
  rejected: `trendvault_writer_rejected_lines_last_day{${machine},reason="not_json"}`,
  sourceRetry: `trendvault_writer_source_retry_timestamp_seconds{${machine},source="youtube"}`,
  editorialFailed: `trendvault_writer_editorial_failed{${machine}}`,
  storeTime: `trendvault_writer_store_timestamp_seconds{${store}}`,
  storeFailed: `trendvault_writer_store_failed{${store}}`,
  bundleTime: `trendvault_writer_store_bundle_timestamp_seconds{${store}}`,
  backupTime: `trendvault_writer_backup_timestamp_seconds{${store}}`,
  backupFailed: `trendvault_writer_backup_failed{${store}}`,
  damaged: `trendvault_writer_database_damaged{${machine}}`,
  checkTime: `trendvault_writer_check_timestamp_seconds{${machine}}`,
  walBytes: `trendvault_writer_wal_bytes{${machine}}`,
  originUp: `up{${origin}}`,
  generationAge: `trendvault_generation_age_seconds{${origin}}`,
  degradedReasons: `trendvault_degraded_reasons{${origin}}`,
  keysRejected: `trendvault_keys_rejected{${origin}}`,
  workerHung: `trendvault_worker_exits_total{${origin},reason="hung"}`,
  workerCrashed: `trendvault_worker_exits_total{${origin},reason="crashed"}`,
  requestsServed: `trendvault_requests_total{${origin},route="trending",status="200"}`,
  requestsFailed: `trendvault_requests_total{${origin},route="trending",status="500"}`,
  requestsRefused: `trendvault_requests_total{${origin},route="none",status="403"}`,
  requestsFast: `trendvault_sampled_request_duration_seconds_bucket{${origin},le="0.1"}`,
  requestsWaiting: `trendvault_sampled_request_duration_seconds_bucket{${origin},le="1"}`,
  requestsTimed: `trendvault_sampled_request_duration_seconds_bucket{${origin},le="+Inf"}`,
  edgeAnswers: `probe_success{${edge},job="trendvault-edge"}`,
  edgeSource: `probe_success{${edge},job="trendvault-edge-source"}`,
  certificateEnd: `probe_ssl_earliest_cert_expiry{${edge},job="trendvault-edge"}`,
  followedTime: `trendvault_follow_published_timestamp_seconds{${store}}`,
  followFailing: `trendvault_follow_failing{${store}}`,
  followClock: `trendvault_follow_clock_difference_seconds{${store}}`,
} as const;

const day = 86_400;

/** What is scraped of a system that has all parts, and in which all is well. */
export const healthySystem: Series = {
  [names.machineUp]: always(1),
  [names.textfileError]: always(0),
  [names.diskFree]: always(60e9),
  [`node_filesystem_size_bytes{${disk}}`]: always(100e9),
  [names.generationTime]: ago(40),
  [names.exitCode]: always(0),
  [names.observationTime]: ago(100),
  [names.rejected]: always(3),
  [`trendvault_writer_lines_last_day{${machine},outcome="accepted"}`]: always(100_000),
  [names.storeTime]: ago(40),
  [names.editorialFailed]: always(0),
  [names.storeFailed]: always(0),
  [names.bundleTime]: ago(60),
  [names.backupTime]: ago(day),
  [names.backupFailed]: always(0),
  [names.damaged]: always(0),
  [names.checkTime]: ago(day),
  [names.walBytes]: always(0),
  [names.originUp]: always(1),
  [names.generationAge]: always(40),
  [names.degradedReasons]: always(0),
  [names.keysRejected]: always(0),
  [names.workerHung]: always(0),
  [names.workerCrashed]: always(0),
  [names.requestsServed]: growing(600),
  [names.requestsRefused]: growing(1),
  [`trendvault_requests_total{${origin},route="none",status="505"}`]: growing(20), // somebody speaks another HTTP
  [names.requestsFast]: growing(600),
  [names.requestsWaiting]: growing(600),
  [names.requestsTimed]: growing(600),
  [names.edgeAnswers]: always(1),
  [names.edgeSource]: always(1),
  [names.certificateEnd]: ago(-60 * day),
  [names.followedTime]: ago(42),
  [names.followFailing]: always(0),
  [names.followClock]: always(0),
};
