<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Exception;
use Override;
use Psr\Clock\ClockInterface;
use TrendVault\Writer\Observations\ObservationParser;

/** A platform that is asked over HTTP, when its schedule says so, and that fails for reasons of its own. */
abstract class PlatformSource extends Source
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
     * Text of a platform, made fit for a line: without the characters for which one would be rejected, and cut to so many.
     * The video can do nothing for its title.
     *
     * @return ?string null for what is no text
     */
    public static function plainText(mixed $value, int $mostCharacters): ?string
    {
        return is_string($value)
            ? mb_substr(
                trim((string) preg_replace(ObservationParser::FORBIDDEN, ' ', $value)),
                0,
                $mostCharacters,
            )
            : null;
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

/** A request to a platform that was not answered as wanted. PlatformSource makes a SourceFailure of it. */
class PlatformFailure extends Exception
{
    /** It is stored and logged, and may have words of the platform. */
    private const int MOST_CHARACTERS = 500;

    /**
     * @param int $retryAfterSeconds how long the server asks us to wait; 0 when it does not
     * @param bool $isRefusal whether other requests would fail, too
     */
    public function __construct(
        string $message,
        public readonly int $retryAfterSeconds = 0,
        public readonly bool $isRefusal = false,
    ) {
        parent::__construct((string) PlatformSource::plainText(mb_scrub($message), self::MOST_CHARACTERS));
    }

    /**
     * For how long nothing is to be asked.
     *
     * @param int $intervalSeconds between two runs
     * @param int $now UTC seconds
     */
    public function secondsToWait(int $intervalSeconds, int $now): int
    {
        return $this->retryAfterSeconds;
    }
}
