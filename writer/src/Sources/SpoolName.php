<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

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
