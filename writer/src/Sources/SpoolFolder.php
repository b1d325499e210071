<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Override;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Database\Database;

/** A folder into which producers rename files of NDJSON. */
final readonly class SpoolFolder implements SourceKind
{
    /** Bounds the memory of a run; the others are for the next one. */
    private const int MOST_FILES = 10_000;

    public function __construct(private Context $context, Database $database) {}

    /** @return iterable<string, SpoolFile> may be empty */
    #[Override]
    public function open(array $names): iterable
    {
        foreach ($names as $name) {
            $folder = explode(':', $name, 2)[1];
            $files = is_dir($folder)
                ? self::files(
                    $folder,
                    $this->context->settings->sourceTimeoutSeconds(SpoolFile::TIMEOUT_SECONDS),
                )
                : throw SourceFailure::missing($folder);
            foreach ($files as $file) {
                yield $name => $file;
            }
        }
    }

    /**
     * The files that are complete, and those of runs that died, oldest first.
     *
     * @param ?int $timeoutSeconds what reading one of them may take; null for no limit
     * @return list<SpoolFile>
     */
    public static function files(string $folder, ?int $timeoutSeconds = null): array
    {
        $names = [];
        foreach (self::names($folder) as $name) {
            $stat = @lstat("$folder/{$name->path()}");
            $names[] = [$stat === false ? 0 : $stat['mtime'], $name->fileName, $name];
            if (count($names) >= self::MOST_FILES) {
                break;
            }
        }
        usort($names, static fn(array $a, array $b): int => [$a[0], $a[1]] <=> [$b[0], $b[1]]);

        return array_map(
            static fn(array $entry): SpoolFile => new SpoolFile($folder, $entry[2], $timeoutSeconds),
            $names,
        );
    }

    /** @return iterable<SpoolName> */
    private static function names(string $folder): iterable
    {
        foreach (FileName::in("$folder/" . SpoolName::READING) as $claim) {
            $name = SpoolName::parse($claim);
            if ($name !== null) {
                yield $name;
            }
        }
        foreach (FileName::in($folder) as $fileName) {
            if (FileName::isComplete($fileName)) {
                yield SpoolName::waiting($fileName);
            }
        }
    }
}

/**
 * A file that a producer has renamed into a spool folder. A run claims it: it moves the file to reading/, so that a
 * new file of the same name does not replace it, under a name that counts the runs that began to read it. The file
 * leaves reading/ after its lines are committed. After a crash it is read again; lines that were stored are then
 * counted as unchanged, and the report is overwritten. No line is lost or counted twice.
 */
final class SpoolFile extends Source
{
    /** What reading one may take, where no setting says it. */
    public const int TIMEOUT_SECONDS = 300;
    private const string DONE = 'done';
    private const string REJECTED = 'rejected';
    private const int MOST_RUNS = 2;

    private ?NdjsonFile $file = null;
    private bool $isClaimed = false;
    /** Distinguishes files of the same name. */
    private ?string $fingerprint = null;

    /** @param ?int $timeoutSeconds what reading it may take; null for no limit */
    public function __construct(
        private readonly string $folder,
        private SpoolName $name,
        private readonly ?int $timeoutSeconds = null,
    ) {}

    #[Override]
    public function name(): string
    {
        return FileName::withoutEnding($this->name->fileName);
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
        if (self::move($this->path(), "$this->folder/{$claimed->path()}")) {
            $this->name = $claimed;
            $this->isClaimed = true;
        } elseif (@lstat($this->path()) === false) {
            throw SourceFailure::vanished($this->path());
        }
    }

    #[Override]
    public function lines(): iterable
    {
        $this->file = new NdjsonFile($this->contentPath(), $this->timeoutSeconds);
        yield from $this->file->lines();
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
        return RejectStore::reportOnly("$this->folder/" . self::REJECTED, $this->settledName());
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
        $folder = "$this->folder/" . ($clean ? self::DONE : self::REJECTED);
        if (!$this->isClaimed || !self::move($this->path(), "$folder/{$this->settledName()}")) {
            $this->release();
            throw SourceFailure::cannotMove($this->path(), $folder);
        }
    }

    /** The run does not count as one that died. */
    #[Override]
    public function release(): void
    {
        $released = $this->name->released();
        if ($this->isClaimed && self::move($this->path(), "$this->folder/{$released->path()}")) {
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
        return "$this->folder/{$this->name->path()}";
    }

    /** What is read: a relative link leads from where its producer put it. */
    private function contentPath(): string
    {
        $target = $this->isClaimed ? @readlink($this->path()) : false;

        return $target === false || str_starts_with($target, '/') ? $this->path() : "$this->folder/$target";
    }

    private function settledName(): string
    {
        $path = $this->contentPath();
        $hash = is_file($path) ? @hash_file('sha256', $path) : false;
        $this->fingerprint ??= $hash === false ? $this->name->id ?? 'unread' : substr($hash, 0, 12);

        return "$this->fingerprint-" . FileName::shortened($this->name->fileName);
    }

    private static function move(string $path, string $target): bool
    {
        if (!is_dir(dirname($target))) {
            @mkdir(dirname($target), 0o750);
        }

        return @rename($path, $target);
    }
}

/** Where a file of a spool folder is: where its producer put it, or in reading/ as `<runs>-<id>-<its name>`. */
final readonly class SpoolName
{
    public const string READING = 'reading';
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

    /** @return ?self null when it is no name of a file in reading/ */
    public static function parse(string $claim): ?self
    {
        return preg_match(self::CLAIM, $claim, $part) === 1
            ? new self($part[3], (int) $part[1], $part[2])
            : null;
    }

    /** Its name once one more run has begun to read it. */
    public function claimed(): self
    {
        return new self(
            FileName::shortened($this->fileName),
            $this->runs + 1,
            $this->id ?? bin2hex(random_bytes(6)),
        );
    }

    /** Its name when a run that had claimed it does not count. */
    public function released(): self
    {
        return new self($this->fileName, $this->runs - 1, $this->id);
    }

    /** In the spool folder. */
    public function path(): string
    {
        return $this->id === null
            ? $this->fileName
            : self::READING . "/$this->runs-$this->id-$this->fileName";
    }
}
