<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use Closure;

/**
 * How often and how long a run tries: a few attempts for each request, with pauses that double and are drawn
 * at random (full jitter), and one deadline over all of it.
 */
final class Patience
{
    public const int ATTEMPTS = 4;

    private const float FIRST_PAUSE_SECONDS = 0.5;
    private const float LONGEST_PAUSE_SECONDS = 8.0;
    private const float REQUEST_SECONDS = 10.0;

    /**
     * @param float $deadline by $clock
     * @param Closure(): float $clock seconds that never go back
     * @param Closure(float): void $sleep
     */
    public function __construct(
        private readonly float $deadline,
        private readonly Closure $clock,
        private readonly Closure $sleep,
    ) {}

    public static function of(float $seconds): self
    {
        $clock = static fn(): float => hrtime(true) / 1e9;

        return new self($clock() + $seconds, $clock, static fn(float $pause) => usleep((int) ($pause * 1e6)));
    }

    /** What a request may take: its own limit, or what is left of all. Zero or less when nothing is left. */
    public function requestSeconds(): float
    {
        return min(self::REQUEST_SECONDS, $this->deadline - ($this->clock)());
    }

    /**
     * @param int $attempt that failed, from 1
     * @param ?float $asked what the server asked for (Retry-After), seconds
     * @return bool false when it is not worth another attempt
     */
    public function pauseAfter(int $attempt, ?float $asked): bool
    {
        $most = min(self::LONGEST_PAUSE_SECONDS, self::FIRST_PAUSE_SECONDS * 2 ** ($attempt - 1));
        $pause = $asked ?? ($most * random_int(0, 1000)) / 1000;
        if ($attempt >= self::ATTEMPTS || ($this->clock)() + $pause >= $this->deadline) {
            return false;
        }
        ($this->sleep)($pause);

        return true;
    }
}
