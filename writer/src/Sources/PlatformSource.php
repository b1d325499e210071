<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Override;
use Psr\Clock\ClockInterface;

/** A platform that is asked over HTTP, when its schedule says so, and that fails for reasons of its own. */
abstract class PlatformSource implements RemoteSource
{
    private bool $hasAnswer = false;
    /** @var list<PlatformFailure> */
    private array $failures = [];

    public function __construct(
        private readonly Schedule $schedule,
        private readonly ClockInterface $clock,
    ) {}

    #[Override]
    public function ownName(): string
    {
        return $this->name();
    }

    #[Override]
    final public function lines(): iterable
    {
        $this->schedule->begin($this->now());
        yield from $this->ask();
        if ($this->failures !== []) {
            $messages = array_map(
                static fn(PlatformFailure $failure): string => $failure->getMessage(),
                $this->failures,
            );
            throw SourceFailure::because(implode(' ', array_unique($messages)));
        }
    }

    /** How many requests there will be is not known before the last one. */
    #[Override]
    public function progress(): ?float
    {
        return null;
    }

    #[Override]
    public function rejects(): ?RejectStore
    {
        return null;
    }

    /** Notes when to ask again. */
    #[Override]
    public function settle(bool $clean): void
    {
        if ($this->hasAnswer) {
            $this->schedule->succeed();
        }
        foreach ($this->failures as $failure) {
            $seconds = $failure->secondsToWait($this->schedule->intervalSeconds, $this->now());
            $this->schedule->fail($failure->getMessage(), $seconds, $this->now());
        }
    }

    /**
     * Sends the requests of a run. A failure is noted, and what to ask after it is for the platform to say.
     *
     * @return iterable<int, string> numbers from 1 to lines
     */
    abstract protected function ask(): iterable;

    protected function noteAnswer(): void
    {
        $this->hasAnswer = true;
    }

    protected function noteFailure(PlatformFailure $failure): void
    {
        $this->failures[] = $failure;
    }

    /** @return int UTC seconds */
    protected function now(): int
    {
        return $this->clock->now()->getTimestamp();
    }
}
