<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Psr\Log\LoggerInterface;
use TrendVault\Writer\Cli\Settings;
use TrendVault\Writer\WriterException;

/** What all sources that are asked over the network may take together in a run, and what one of them may take of it. */
final class RunTime
{
    private const int DEFAULT_SECONDS = 40;
    /** Time for one slow answer. */
    private const float LEAST_SHARE_SECONDS = 10.0;

    private float $deadline;
    private float $shareEndsAt;
    private ?float $pausedAt = null;

    /** @param float $seconds for all of them, from now on */
    public function __construct(public readonly float $seconds)
    {
        $this->deadline = self::now() + $seconds;
        $this->shareEndsAt = $this->deadline;
    }

    /** @throws WriterException */
    public static function of(Settings $settings): self
    {
        return new self($settings->sourceTimeoutSeconds(self::DEFAULT_SECONDS));
    }

    /** Zero or less when it is over. */
    public function secondsLeft(): float
    {
        return $this->deadline - ($this->pausedAt ?? self::now());
    }

    /** Does not count what is done until resume(), such as storing what came. */
    public function pause(): void
    {
        $this->pausedAt ??= self::now();
    }

    public function resume(): void
    {
        $this->deadline += $this->pausedAt === null ? 0 : self::now() - $this->pausedAt;
        $this->pausedAt = null;
    }

    /** @param int $waiting how many are to be asked yet, with this one */
    public function beginShare(int $waiting): void
    {
        $share = max(self::LEAST_SHARE_SECONDS, $this->secondsLeft() / max(1, $waiting));
        $this->shareEndsAt = min($this->deadline, self::now() + $share);
    }

    /** Of the share that was begun last. */
    public function shareSecondsLeft(): float
    {
        return $this->shareEndsAt - self::now();
    }

    public function logPostponed(LoggerInterface $log, string $kind, int $count): void
    {
        $log->info(
            "$count sources of $kind wait for the next run: SOURCE_TIMEOUT_SECONDS=$this->seconds is over.",
            ['event' => 'sources_postponed', 'kind' => $kind, 'sources' => $count],
        );
    }

    private static function now(): float
    {
        return hrtime(true) / 1e9;
    }
}
