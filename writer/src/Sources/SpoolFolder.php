<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Override;
use SplMaxHeap;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\WriterLock;
use TrendVault\Writer\Time\SystemClock;

/** A folder into which producers rename files of NDJSON. The writer moves them out and writes nothing there. */
final readonly class SpoolFolder implements SourceKind
{
    /** Bounds the memory of a run; newer ones are for the next one, since a later line replaces an earlier one. */
    private const int MOST_FILES = 10_000;
    private const int MOST_RUNS_WITH_OTHERS = 2;
    private const int PAUSE_SECONDS = 3600;

    private TakenFiles $taken;

    public function __construct(private Context $context, Database $database)
    {
        $this->taken = new TakenFiles(
            WriterLock::resolve($context->settings->databasePath),
            $context->settings->rejectedFolder(),
        );
    }

    /**
     * None of a folder is begun later than one of them may take: its producers cannot keep those of another one waiting.
     *
     * @return iterable<string, SpoolFile> may be empty
     */
    #[Override]
    public function open(array $names, RunTime $time): iterable
    {
        $seconds = $this->context->settings->sourceTimeoutSeconds(SpoolFile::TIMEOUT_SECONDS);
        foreach ($names as $name) {
            $folder = explode(':', $name, 2)[1];
            $this->taken->admit($folder);
            $files = self::files($folder, $this->taken, $this->context->now(), $seconds);
            $ofFolder = new RunTime($seconds);
            foreach ($files as $number => $file) {
                if ($ofFolder->secondsLeft() <= 0) {
                    $ofFolder->logPostponed($this->context->log, $name, count($files) - $number);
                    break;
                }
                yield $name => $file;
            }
        }
    }

    /**
     * The files that are complete, and those of runs that died, oldest first. What runs die of is read after all others,
     * one file a run, so that its next death proves it; a last time when it has waited.
     *
     * @param int $now UTC seconds
     * @param ?int $timeoutSeconds what reading one of them may take; null for no limit
     * @return list<SpoolFile>
     */
    public static function files(
        string $folder,
        TakenFiles $taken,
        int $now,
        ?int $timeoutSeconds = null,
    ): array {
        /** @var SplMaxHeap<array{int, string, SpoolName}> $names with the newest on top */
        $names = new SplMaxHeap();
        $suspects = [];
        foreach (self::names($folder, $taken) as $name) {
            $stat = @lstat($name->path($folder, $taken));
            [$changedAt, $claimedAt] = $stat === false ? [0, 0] : [$stat['mtime'], $stat['ctime']];
            $isSuspect = $name->runs >= self::MOST_RUNS_WITH_OTHERS && $name->runs < SpoolFile::MOST_RUNS;
            // A time of the future, by a clock that was ahead, says nothing.
            $hasWaited =
                $claimedAt <= $now - self::PAUSE_SECONDS ||
                $claimedAt > $now + SystemClock::TOLERANCE_SECONDS;
            $waits = $name->runs === SpoolFile::MOST_RUNS - 1 && !$hasWaited;
            if ($isSuspect && ($suspects !== [] || $waits)) {
                continue;
            }
            $isSuspect ? ($suspects[] = $name) : $names->insert([$changedAt, $name->fileName, $name]);
            if (count($names) > self::MOST_FILES) {
                $names->extract();
            }
        }
        $newestFirst = array_map(
            static fn(array $entry): SpoolName => $entry[2],
            iterator_to_array($names, false),
        );

        return array_map(
            static fn(SpoolName $name): SpoolFile => new SpoolFile($folder, $taken, $name, $timeoutSeconds),
            [...array_reverse($newestFirst), ...$suspects],
        );
    }

    /** @return iterable<SpoolName> */
    private static function names(string $folder, TakenFiles $taken): iterable
    {
        foreach (NdjsonFile::in($taken->reading) as $claim) {
            $name = SpoolName::parse($claim);
            if ($name !== null) {
                yield $name;
            }
        }
        foreach (NdjsonFile::in($folder) as $fileName) {
            if (NdjsonFile::isComplete($fileName)) {
                yield SpoolName::waiting($fileName);
            }
        }
    }
}

/**
 * Where files are that were taken out of spool folders: beside the database, where no producer may write. So none can
 * put a link, a pipe or a folder in the way of what the writer makes.
 */
final readonly class TakenFiles
{
    private const string DRAINED = 'of-spool-';

    /** Of files that a run reads, or died of. */
    public string $reading;
    public string $done;
    private string $home;

    /** @param string $rejected where rejected lines and reports go */
    public function __construct(string $databasePath, public string $rejected)
    {
        $this->home = dirname($databasePath);
        $this->reading = "$databasePath.reading";
        $this->done = "$this->home/done";
    }

    /**
     * Is called before files of the spool are moved here.
     *
     * @throws SourceFailure when there is no such folder, its producers could replace the database, or a move would be a copy
     */
    public function admit(string $spool): void
    {
        $folder = is_dir($spool) ? (string) realpath($spool) : throw SourceFailure::missing($spool);
        $home = (string) realpath($this->home);
        if (str_starts_with("$home/", rtrim($folder, '/') . '/')) {
            throw SourceFailure::because(
                "Cannot read spool:$spool: the database is in it, and producers could replace it. Give the spool a folder of its own, such as $home/spool.",
            );
        }
        foreach ([$this->home, $this->reading, $this->done, $this->rejected] as $target) {
            if (is_dir($target) && self::mount((string) realpath($target)) !== self::mount($folder)) {
                throw SourceFailure::because(
                    "Cannot read spool:$spool: files are moved from it to $target, which is on another file system or mount. Put both on one.",
                );
            }
        }
        $this->drain($folder);
    }

    /** A rename and never a copy, which would follow links and wait for pipes; false when it is not possible. */
    public static function move(string $path, string $target): bool
    {
        $folder = dirname($target);

        return (is_dir($folder) || @mkdir($folder, 0o750)) && !is_link($folder) && @rename($path, $target);
    }

    /**
     * Writers before version 0.1 kept their folders in the spool. Each is moved here as it is before anything in it is
     * touched: in the spool its producers could replace it meanwhile. Theirs of the same names stay.
     *
     * @throws SourceFailure
     */
    private function drain(string $spool): void
    {
        $folders = ['reading' => $this->reading, 'done' => $this->done, 'rejected' => $this->rejected];
        foreach ($folders as $name => $folder) {
            $old = "$spool/$name";
            $isOurs = is_dir($old) && !is_link($old) && is_writable($old);
            if ($isOurs && !self::move($old, "$folder/" . self::DRAINED . bin2hex(random_bytes(6)))) {
                throw SourceFailure::cannotMove($old, $folder);
            }
        }
        foreach (NdjsonFile::in($this->reading) as $name) {
            $old = "$this->reading/$name";
            if (str_starts_with($name, self::DRAINED) && !is_link($old)) {
                foreach (NdjsonFile::in($old) as $claim) {
                    if (SpoolName::parse($claim) !== null) {
                        self::move("$old/$claim", "$this->reading/$claim");
                    }
                }
                @rmdir($old); // which keeps what is no claim
            }
        }
    }

    /** Two paths that have the same one can be renamed into each other: bind mounts of one file system cannot, rename(2). */
    private static function mount(string $path): string
    {
        $point = '/';
        foreach (@file('/proc/self/mountinfo') ?: [] as $line) {
            // proc(5): the fifth field, with octal escapes.
            $mounted = stripcslashes(explode(' ', $line)[4] ?? '');
            $point =
                str_starts_with("$path/", "$mounted/") && strlen($mounted) > strlen($point)
                    ? $mounted
                    : $point;
        }
        $stat = @stat($path);

        return $point . ' ' . ($stat === false ? '' : $stat['dev']);
    }
}

/**
 * A file that a producer has renamed into a spool folder. A run claims it: it moves the file to where no producer can
 * replace it, under a name that counts the runs that began to read it. The file leaves that folder after its lines are
 * committed. After a crash it is read again; lines that were stored are then counted as unchanged, and the report is
 * replaced. No line is lost or counted twice.
 */
final class SpoolFile extends Source
{
    /** What reading one may take, where no setting says it. */
    public const int TIMEOUT_SECONDS = 300;
    /** Of the runs that may begin to read it. */
    public const int MOST_RUNS = 4;

    private ?NdjsonFile $file = null;
    private bool $isClaimed = false;
    /** Distinguishes files of the same name. */
    private ?string $fingerprint = null;

    /** @param ?int $timeoutSeconds what reading it may take; null for no limit */
    public function __construct(
        private readonly string $folder,
        private readonly TakenFiles $taken,
        private SpoolName $name,
        private readonly ?int $timeoutSeconds = null,
    ) {}

    #[Override]
    public function name(): string
    {
        return NdjsonFile::withoutEnding($this->name->fileName);
    }

    #[Override]
    public function isClaimable(): bool
    {
        return true;
    }

    /** Where the spool cannot be written, the file is read where it is. */
    #[Override]
    public function claim(): void
    {
        if ($this->name->runs >= self::MOST_RUNS) {
            $this->rejectUnread(SourceFailure::runsDied($this->path(), $this->name->runs));
        }
        $claimed = $this->name->claimed();
        if (TakenFiles::move($this->path(), $claimed->path($this->folder, $this->taken))) {
            $this->name = $claimed;
            $this->isClaimed = true;
        } elseif (@lstat($this->path()) === false) {
            throw SourceFailure::vanished($this->path());
        }
    }

    #[Override]
    public function lines(): iterable
    {
        yield from $this->file()->lines();
    }

    #[Override]
    public function progress(): ?float
    {
        return $this->file?->progress();
    }

    /** The report alone: the lines are in the file, which moves to the same folder. */
    #[Override]
    public function rejects(): RejectStore
    {
        return RejectStore::reportOnly($this->taken->rejected, $this->settledName());
    }

    /**
     * Takes the file out of the spool.
     *
     * @throws SourceFailure when it stays, and will be read again: it cannot be moved, or has grown
     */
    #[Override]
    public function settle(bool $clean): void
    {
        if ($this->file?->hasChanged()) {
            $this->release();
            throw SourceFailure::stillWritten($this->path());
        }
        if (!$this->isClaimed) {
            throw SourceFailure::cannotMove($this->path(), $this->taken->reading);
        }
        $folder = $clean ? $this->taken->done : $this->taken->rejected;
        if (!TakenFiles::move($this->path(), "$folder/{$this->settledName()}")) {
            $this->release();
            throw SourceFailure::cannotMove($this->path(), $folder);
        }
    }

    /** The run does not count as one that died. */
    #[Override]
    public function release(): void
    {
        $released = $this->name->released();
        if (
            $this->isClaimed &&
            TakenFiles::move($this->path(), $released->path($this->folder, $this->taken))
        ) {
            $this->name = $released;
        }
    }

    /** @throws SourceFailure always */
    private function rejectUnread(SourceFailure $failure): never
    {
        $this->rejects()->fail($failure->getMessage());
        $this->isClaimed = true;
        $this->settle(false);
        throw $failure;
    }

    private function path(): string
    {
        return $this->name->path($this->folder, $this->taken);
    }

    /** A relative link leads from where its producer put it. */
    private function file(): NdjsonFile
    {
        $target = $this->isClaimed ? @readlink($this->path()) : false;

        return $this->file ??= new NdjsonFile(
            $target === false || str_starts_with($target, '/') ? $this->path() : "$this->folder/$target",
            $this->timeoutSeconds,
        );
    }

    private function settledName(): string
    {
        $this->fingerprint ??= substr($this->file()->digest() ?? '', 0, 12) ?: $this->name->id ?? 'unread';

        return "$this->fingerprint-" . RejectStore::shortened($this->name->fileName);
    }
}

/** Where a file of a spool folder is: where its producer put it, or where it is read, as `<runs>-<id>-<its name>`. */
final readonly class SpoolName
{
    private const string CLAIM = '/^(\d)-([0-9a-f]{12})-(.+)$/Ds';

    /**
     * @param int $runs how many runs have begun to read it
     * @param ?string $id of the claim; null for a file that no run has claimed
     */
    private function __construct(public string $fileName, public int $runs, public ?string $id) {}

    public static function waiting(string $fileName): self
    {
        return new self($fileName, 0, null);
    }

    /** @return ?self null when it is no name of a claimed file */
    public static function parse(string $claim): ?self
    {
        return preg_match(self::CLAIM, $claim, $part) === 1 && NdjsonFile::isComplete($part[3])
            ? new self($part[3], (int) $part[1], $part[2])
            : null;
    }

    /** Its name once one more run has begun to read it. */
    public function claimed(): self
    {
        return new self(
            RejectStore::shortened($this->fileName),
            $this->runs + 1,
            $this->id ?? bin2hex(random_bytes(6)),
        );
    }

    /** Its name when a run that had claimed it does not count. */
    public function released(): self
    {
        return new self($this->fileName, $this->runs - 1, $this->id);
    }

    public function path(string $spool, TakenFiles $taken): string
    {
        return $this->id === null
            ? "$spool/$this->fileName"
            : "$taken->reading/$this->runs-$this->id-$this->fileName";
    }
}
