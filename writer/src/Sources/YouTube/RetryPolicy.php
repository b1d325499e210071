<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use Override;
use Symfony\Component\HttpClient\Response\AsyncContext;
use Symfony\Component\HttpClient\Retry\GenericRetryStrategy;
use Symfony\Contracts\HttpClient\Exception\TransportExceptionInterface;
use TrendVault\Writer\Sources\RetryAfter;
use TrendVault\Writer\Sources\Transfer;

/**
 * Which answers are worth another attempt, and for how long: a few attempts for each request, with delays that
 * double and are drawn at random (full jitter) or are what Retry-After says, and one timeout for all requests.
 */
final class RetryPolicy extends GenericRetryStrategy
{
    public const int ATTEMPTS = 4;
    /** Of an answer. */
    public const int MOST_BYTES = 1024 * 1024;

    private const int DELAY_MILLISECONDS = 250;
    private const int LONGEST_DELAY_MILLISECONDS = 8000;

    private readonly float $deadline;

    /**
     * @param float $timeoutSeconds for all requests together, from now on
     * @param int $delayMilliseconds what the first delay is on average: it is drawn from 0 to twice of it
     */
    public function __construct(float $timeoutSeconds, int $delayMilliseconds = self::DELAY_MILLISECONDS)
    {
        parent::__construct([], $delayMilliseconds, 2.0, self::LONGEST_DELAY_MILLISECONDS, 1.0);
        $this->deadline = self::now() + $timeoutSeconds;
    }

    /** Zero or less when nothing is left. */
    public function secondsLeft(): float
    {
        return $this->deadline - self::now();
    }

    #[Override]
    public function shouldRetry(
        AsyncContext $context,
        ?string $responseContent,
        ?TransportExceptionInterface $exception,
    ): ?bool {
        $status = $context->getStatusCode();
        if ($exception === null && $status >= 400 && $responseContent === null) {
            return null; // the body tells a rate limit from a refusal
        }
        $temporary =
            $exception !== null ||
            ($status >= 400 &&
                ApiError::of($status, Transfer::unpacked((string) $responseContent, self::MOST_BYTES)) ===
                    ApiError::Temporary);

        return $temporary && RetryAfter::seconds($context->getHeaders()) < $this->secondsLeft();
    }

    private static function now(): float
    {
        return hrtime(true) / 1e9;
    }
}
