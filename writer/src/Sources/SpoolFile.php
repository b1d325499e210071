<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Override;

/**
 * A file that a producer has renamed into a spool folder. A run claims it: it moves the file to reading/, so that a
 * new file of the same name does not replace it, under a name that counts the runs that began to read it. The file
 * leaves reading/ after its lines are committed. After a crash it is read again; lines that were stored are then
 * counted as unchanged, and the report is overwritten. No line is lost or counted twice.
 */
final class SpoolFile implements ClaimableSource
{
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
