/** A query, and what its lines are called: labels of the series in braces. */
type Query = { expr: string; legend: string };

export type PanelSpec = {
  title: string;
  description: string;
  /** As Grafana names units: https://grafana.com/docs/grafana/latest/panels-visualizations/configure-standard-options/#unit */
  unit: string;
  queries: readonly Query[];
  /** Where a line begins to be bad. */
  limit?: number;
  /** The axis ends here (default: with the data). */
  max?: number;
};

export type RowSpec = { title: string; panels: readonly PanelSpec[] };

const rate = (series: string) => `rate(${series}[$__rate_interval])`;
const requests = "trendvault_requests_total";
const latency = "trendvault_sampled_request_duration_seconds_bucket";
const quantile = (share: number) => `histogram_quantile(${share}, sum by (le) (${rate(latency)}))`;

/** What is on the dashboard, row by row: first what visitors get, then what that is made of. */
export const rows: readonly RowSpec[] = [
  {
    title: "What visitors get",
    panels: [
      {
        title: "Requests",
        description: "Answers of the origins by route. The edge answers most visitors without asking them.",
        unit: "reqps",
        queries: [{ expr: `sum by (route) (${rate(requests)})`, legend: "{{route}}" }],
      },
      {
        title: "Errors",
        description: "The share of answers that are 5xx.",
        unit: "percentunit",
        limit: 0.01,
        queries: [
          {
            expr: `(sum(${rate(`${requests}{status=~"5.."}`)}) or vector(0)) / sum(${rate(requests)})`,
            legend: "errors",
          },
        ],
      },
      {
        title: "Time to answer",
        description: "In the origin, of a sample of requests.",
        unit: "s",
        limit: 0.1,
        queries: [
          { expr: quantile(0.5), legend: "half of all" },
          { expr: quantile(0.99), legend: "99 of 100" },
        ],
      },
      {
        title: "Age of the list",
        description: "Time since the generation that an origin serves was published.",
        unit: "s",
        limit: 300,
        queries: [{ expr: "max by (instance) (trendvault_generation_age_seconds)", legend: "{{instance}}" }],
      },
    ],
  },
  {
    title: "Edge",
    panels: [
      {
        title: "A list is there",
        description: "Asked as a visitor asks: 1 where the edge gives a list.",
        unit: "short",
        max: 1,
        queries: [{ expr: 'probe_success{job="trendvault-edge"}', legend: "{{instance}}" }],
      },
      {
        title: "From the newest source",
        description:
          "0 where the edge answers from what it had stored, because the origin or the store fails.",
        unit: "short",
        max: 1,
        queries: [{ expr: 'probe_success{job="trendvault-edge-source"}', legend: "{{instance}}" }],
      },
      {
        title: "Time to a list",
        description: "The whole way of the probe.",
        unit: "s",
        queries: [{ expr: 'probe_duration_seconds{job="trendvault-edge"}', legend: "{{instance}}" }],
      },
      {
        title: "Refused by the origin",
        description: "The share of the origin's requests without a valid signature of the edge.",
        unit: "percentunit",
        queries: [
          {
            expr: `(sum(${rate(`${requests}{status="403"}`)}) or vector(0)) / sum(${rate(requests)})`,
            legend: "403",
          },
        ],
      },
    ],
  },
  {
    title: "Origin",
    panels: [
      {
        title: "From the cache",
        description: "The share of answers that needed no build.",
        unit: "percentunit",
        max: 1,
        queries: [
          {
            expr: `sum(${rate("trendvault_cache_hits_total")}) / (sum(${rate("trendvault_cache_hits_total")}) + sum(${rate("trendvault_cache_misses_total")}))`,
            legend: "hits",
          },
        ],
      },
      {
        title: "Builds",
        description: "Answers that were built, on request or ahead.",
        unit: "ops",
        queries: [{ expr: `sum by (instance) (${rate("trendvault_builds_total")})`, legend: "{{instance}}" }],
      },
      {
        title: "Workers",
        description:
          "Workers that report, reasons why the origin is degraded, and workers that crashed or hung.",
        unit: "short",
        queries: [
          { expr: "sum by (instance) (trendvault_workers)", legend: "{{instance}} workers" },
          { expr: "sum by (instance) (trendvault_degraded_reasons)", legend: "{{instance}} reasons" },
          {
            expr: "sum by (instance) (increase(trendvault_worker_exits_total[15m]))",
            legend: "{{instance}} ended",
          },
        ],
      },
      {
        title: "Memory",
        description: "By worker.",
        unit: "bytes",
        queries: [{ expr: "trendvault_resident_memory_bytes", legend: "{{instance}} worker {{worker}}" }],
      },
    ],
  },
  {
    title: "Writer",
    panels: [
      {
        title: "Time since the last list",
        description: "Of each writer.",
        unit: "s",
        limit: 300,
        queries: [
          { expr: "time() - trendvault_writer_generation_timestamp_seconds", legend: "{{instance}}" },
        ],
      },
      {
        title: "Time of a run",
        description: "The last run of each command.",
        unit: "s",
        limit: 60,
        queries: [{ expr: "trendvault_writer_run_duration_seconds", legend: "{{command}}" }],
      },
      {
        title: "Exit code",
        description: "0 is good; docs/operations.md explains the others.",
        unit: "short",
        queries: [{ expr: "trendvault_writer_run_exit_code", legend: "{{command}}" }],
      },
      {
        title: "Videos",
        description: "In the newest generation, and with view counts by market.",
        unit: "short",
        queries: [
          { expr: "trendvault_writer_generation_videos", legend: "in the lists" },
          { expr: "sum by (region) (trendvault_writer_videos)", legend: "{{region}}" },
        ],
      },
      {
        title: "Freshness by market",
        description: "Time since the newest view count.",
        unit: "s",
        limit: 7200,
        queries: [
          {
            expr: "time() - max by (region) (trendvault_writer_newest_observation_timestamp_seconds)",
            legend: "{{region}}",
          },
        ],
      },
      {
        title: "Lines of the last day",
        description: "By what became of them.",
        unit: "short",
        queries: [{ expr: "sum by (outcome) (trendvault_writer_lines_last_day)", legend: "{{outcome}}" }],
      },
      {
        title: "Rejected in the last day",
        description: "Lines by reason.",
        unit: "short",
        queries: [
          { expr: "sum by (reason) (trendvault_writer_rejected_lines_last_day)", legend: "{{reason}}" },
        ],
      },
      {
        title: "Failed sources",
        description:
          "Runs of the last day in which a source failed; a platform that is left alone for a while is not asked.",
        unit: "short",
        queries: [
          { expr: "sum by (source) (trendvault_writer_source_failures_last_day)", legend: "{{source}}" },
        ],
      },
      {
        title: "YouTube's quota",
        description:
          "Units used since midnight Pacific time, at most. A project has 10,000 of each, unless it got more.",
        unit: "short",
        limit: 10_000,
        queries: [{ expr: "trendvault_writer_youtube_quota_units_today", legend: "{{quota}}" }],
      },
      {
        title: "Pulled from the edge",
        description: "Looks and views that visitors told, a minute.",
        unit: "short",
        queries: [
          {
            expr: `60 * (sum(${rate("trendvault_writer_pulled_looks_total")}) or vector(0))`,
            legend: "looks",
          },
          {
            expr: `60 * (sum(${rate("trendvault_writer_pulled_views_total")}) or vector(0))`,
            legend: "views",
          },
        ],
      },
    ],
  },
  {
    title: "Database and disk",
    panels: [
      {
        title: "Database",
        description: "The file and its write-ahead log.",
        unit: "bytes",
        queries: [
          { expr: "trendvault_writer_database_bytes", legend: "{{instance}} database" },
          { expr: "trendvault_writer_wal_bytes", legend: "{{instance}} log" },
        ],
      },
      {
        title: "Space left",
        description: "The share of each file system.",
        unit: "percentunit",
        max: 1,
        queries: [
          {
            expr: 'node_filesystem_avail_bytes{fstype!~"squashfs|ramfs|erofs|iso9660"} / node_filesystem_size_bytes',
            legend: "{{instance}} {{mountpoint}}",
          },
        ],
      },
      {
        title: "Damage",
        description: "1 where the last check found some.",
        unit: "short",
        max: 1,
        queries: [{ expr: "trendvault_writer_database_damaged", legend: "{{instance}}" }],
      },
      {
        title: "Time since the last check",
        description: "Of the whole file, which a run makes once a day.",
        unit: "s",
        limit: 259_200,
        queries: [{ expr: "time() - trendvault_writer_check_timestamp_seconds", legend: "{{instance}}" }],
      },
    ],
  },
  {
    title: "Store and followers",
    panels: [
      {
        title: "Time since something was published",
        description: "Generations and bundles in the store.",
        unit: "s",
        limit: 300,
        queries: [
          { expr: "time() - trendvault_writer_store_timestamp_seconds", legend: "{{store}}" },
          { expr: "time() - trendvault_writer_store_bundle_timestamp_seconds", legend: "{{store}} bundle" },
        ],
      },
      {
        title: "Time to publish",
        description: "A generation; rendering and publishing a bundle.",
        unit: "s",
        queries: [
          { expr: "trendvault_writer_store_duration_seconds", legend: "{{store}}" },
          { expr: "trendvault_writer_store_bundle_duration_seconds", legend: "{{store}} bundle" },
        ],
      },
      {
        title: "Time since the last backup",
        description: "One is made each day.",
        unit: "s",
        limit: 180_000,
        queries: [{ expr: "time() - trendvault_writer_backup_timestamp_seconds", legend: "{{store}}" }],
      },
      {
        title: "Followers: age of the list",
        description: "Time since the generation in a follower's file was published.",
        unit: "s",
        limit: 300,
        queries: [
          {
            expr: "time() - trendvault_follow_published_timestamp_seconds",
            legend: "{{instance}} {{store}}",
          },
        ],
      },
      {
        title: "Followers: time to adopt",
        description: "From publishing until it was in the file.",
        unit: "s",
        queries: [{ expr: "trendvault_follow_lag_seconds", legend: "{{instance}} {{store}}" }],
      },
      {
        title: "Followers: failures",
        description: "By reason, a minute.",
        unit: "short",
        queries: [
          {
            expr: `60 * sum by (reason) (${rate("trendvault_follow_failures_total")}) or vector(0)`,
            legend: "{{reason}}",
          },
        ],
      },
    ],
  },
];
