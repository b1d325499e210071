import { ago, always, growing, names, type Series, type Value } from "./healthy-system.ts";

/** When a fault begins, in minutes. */
export const begin = 30;

export type AlertCase = {
  alert: string;
  /** What is wrong, in the words of a test. */
  fault: string;
  /** Series from `begin` on, until the fault is mended. */
  broken: Series;
  /** Minutes of the fault after which the alert does not fire yet, and after which it does. */
  quiet: number;
  firing: number;
  /** Minutes after its end until it is over, if they are more than 1. */
  over?: number;
  /** Other alerts that rightly fire, too. */
  also?: readonly string[];
};

const gone: Value = () => null;
/** A series that ends is there for five minutes more. */
const leavingMinutes = 6;

/** A time that stands still from `begin` on, and was so many seconds ago then. */
const stoppedAt = (seconds: number): Value => always(60 * begin - seconds);

export const alertCases: readonly AlertCase[] = [
  {
    alert: "TrendVaultWriterStopped",
    fault: "no generation is published any more",
    broken: {
      [names.generationTime]: stoppedAt(40),
      [names.generationAge]: (minute) => 60 * (minute - begin),
    },
    quiet: 4,
    firing: 7,
  },
  {
    alert: "TrendVaultWriterStopped",
    fault: "nothing is published, and so nothing reaches the store and followers",
    broken: {
      [names.generationTime]: stoppedAt(40),
      [names.storeTime]: stoppedAt(40),
      [names.bundleTime]: stoppedAt(60),
      [names.followedTime]: stoppedAt(40),
    },
    quiet: 4,
    firing: 30,
  },
  {
    alert: "TrendVaultWriterFailing",
    fault: "the disk was full at each run",
    broken: { [names.exitCode]: always(7) },
    quiet: 4,
    firing: 6,
  },
  {
    alert: "TrendVaultSourceFailing",
    fault: "a source fails in each run",
    broken: { [names.exitCode]: always(4) },
    quiet: 9,
    firing: 11,
  },
  {
    alert: "TrendVaultEditorialRefused",
    fault: "the editorial file is wrong",
    broken: { [names.editorialFailed]: always(1) },
    quiet: 4,
    firing: 6,
  },
  {
    alert: "TrendVaultStoreBehind",
    fault: "the store fails in each run, and no source does",
    broken: {
      [names.exitCode]: always(4),
      [names.storeFailed]: always(1),
      [names.storeTime]: stoppedAt(40),
      [names.bundleTime]: stoppedAt(60),
      [names.followedTime]: stoppedAt(42),
    },
    quiet: 4,
    firing: 20,
  },
  {
    alert: "TrendVaultMarketStale",
    fault: "a region's source gives nothing",
    broken: { [names.observationTime]: stoppedAt(100) },
    quiet: 120,
    firing: 124,
  },
  {
    alert: "TrendVaultLinesRejected",
    fault: "a producer writes lines that are no JSON",
    broken: { [names.rejected]: always(1200) },
    quiet: 9,
    firing: 11,
  },
  {
    alert: "TrendVaultSourcePaused",
    fault: "a quota is used up",
    broken: { [names.sourceRetry]: ago(-3600) },
    quiet: 119,
    firing: 121,
    over: leavingMinutes,
  },
  {
    alert: "TrendVaultBundleBehind",
    fault: "the renderer fails",
    broken: { [names.bundleTime]: stoppedAt(60) },
    quiet: 11,
    firing: 14,
  },
  {
    alert: "TrendVaultBackupOld",
    fault: "no backup succeeds for two days",
    broken: { [names.backupTime]: stoppedAt(180_000 - 600), [names.backupFailed]: always(1) },
    quiet: 69,
    firing: 72,
  },
  {
    alert: "TrendVaultBackupOld",
    fault: "the first backup fails",
    broken: { [names.backupTime]: gone, [names.backupFailed]: always(1) },
    quiet: 59,
    firing: 61 + leavingMinutes,
  },
  {
    alert: "TrendVaultDatabaseDamaged",
    fault: "the daily check finds damage",
    broken: { [names.damaged]: always(1) },
    quiet: -1,
    firing: 1,
  },
  {
    alert: "TrendVaultDatabaseUnchecked",
    fault: "no check ends any more",
    broken: { [names.checkTime]: stoppedAt(259_200 - 600) },
    quiet: 69,
    firing: 72,
  },
  {
    alert: "TrendVaultWalGrows",
    fault: "a reader keeps the write-ahead log from being emptied",
    broken: { [names.walBytes]: growing(100e6) },
    quiet: 29,
    firing: 31,
  },
  {
    alert: "TrendVaultOriginDown",
    fault: "the origin does not run",
    broken: { [names.originUp]: always(0), [names.generationAge]: gone },
    quiet: 0,
    firing: 2,
  },
  {
    alert: "TrendVaultOriginFrozen",
    fault: "the origin does not follow the writer",
    broken: { [names.generationAge]: (minute) => 40 + 60 * (minute - begin) },
    quiet: 4,
    firing: 7,
  },
  {
    alert: "TrendVaultOriginDegraded",
    fault: "the origin gives a reason at /readyz",
    broken: { [names.degradedReasons]: always(1) },
    quiet: 1,
    firing: 3,
  },
  {
    alert: "TrendVaultWorkersRestart",
    fault: "workers hang and crash",
    broken: {
      [names.workerHung]: (minute) => (minute - begin) / 4,
      [names.workerCrashed]: (minute) => (minute - begin) / 4,
    },
    quiet: 2,
    firing: 10,
    over: 16,
  },
  {
    alert: "TrendVaultErrors",
    fault: "one answer in fifty is 500",
    broken: { [names.requestsFailed]: (minute) => 12 * (minute - begin) },
    quiet: 1,
    firing: 8,
    over: 6,
  },
  {
    alert: "TrendVaultSlow",
    fault: "one request in twenty waits for more than 0.1 s",
    broken: { [names.requestsFast]: (minute) => 600 * begin + 570 * (minute - begin) },
    quiet: 4,
    firing: 12,
    over: 6,
  },
  {
    alert: "TrendVaultEdgeRefused",
    fault: "the edge signs with a key that the origin does not have",
    broken: {
      [names.requestsServed]: always(600 * begin),
      [names.requestsRefused]: (minute) => begin + 60 * (minute - begin),
    },
    quiet: 4,
    firing: 12,
    over: 6,
  },
  {
    alert: "TrendVaultKeysRejected",
    fault: "a key file is bad at a reload",
    broken: { [names.keysRejected]: always(1), [names.degradedReasons]: always(1) },
    quiet: -1,
    firing: 5,
  },
  {
    alert: "TrendVaultEdgeDown",
    fault: "the edge gives no list",
    broken: { [names.edgeAnswers]: always(0), [names.edgeSource]: always(0) },
    quiet: 1,
    firing: 10,
  },
  {
    alert: "TrendVaultEdgeFallsBack",
    fault: "the edge answers from what it had stored",
    broken: { [names.edgeSource]: always(0) },
    quiet: 4,
    firing: 6,
  },
  {
    alert: "TrendVaultEdgeFallsBack",
    fault: "the edge answers from what it had stored, and one answer in four comes too late",
    broken: { [names.edgeSource]: always(0), [names.edgeAnswers]: (minute) => (minute % 4 === 0 ? 0 : 1) },
    quiet: 4,
    firing: 7,
  },
  {
    alert: "TrendVaultCertificateExpires",
    fault: "a certificate is not renewed",
    broken: { [names.certificateEnd]: ago(-13 * 86_400) },
    quiet: 59,
    firing: 61,
  },
  {
    alert: "TrendVaultFollowerBehind",
    fault: "a follower stops",
    broken: { [names.followedTime]: stoppedAt(42) },
    quiet: 4,
    firing: 7,
  },
  {
    alert: "TrendVaultFollowerFailing",
    fault: "a follower may not read the store",
    broken: { [names.followFailing]: always(1) },
    quiet: 4,
    firing: 6,
  },
  {
    alert: "TrendVaultFollowerClock",
    fault: "a machine's clock is ahead",
    broken: { [names.followClock]: always(-90) },
    quiet: 9,
    firing: 11,
  },
  {
    alert: "TrendVaultDiskFull",
    fault: "a twentieth of the disk is left",
    broken: { [names.diskFree]: always(5e9) },
    quiet: 9,
    firing: 11,
  },
  {
    alert: "TrendVaultDiskFull",
    fault: "a disk that was a quarter free loses a gigabyte a minute",
    broken: { [names.diskFree]: (minute) => 25e9 - 0.2e9 * (minute - begin) },
    quiet: 5,
    firing: 40,
  },
  {
    alert: "TrendVaultMetricsMissing",
    fault: "the machine's metrics do not arrive",
    broken: { [names.machineUp]: always(0) },
    quiet: 9,
    firing: 11,
  },
  {
    alert: "TrendVaultMetricsMissing",
    fault: "the collector cannot read a file",
    broken: { [names.textfileError]: always(1) },
    quiet: 9,
    firing: 11,
  },
  {
    alert: "TrendVaultMetricsMissing",
    fault: "the writer leaves no metrics",
    broken: { [names.generationTime]: gone },
    quiet: 9,
    firing: 11 + leavingMinutes,
  },
];
