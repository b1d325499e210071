<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Closure;
use Symfony\Component\HttpClient\Exception\TransportException;
use Symfony\Contracts\HttpClient\Exception\TransportExceptionInterface;

/** Where requests may go, bounds of an answer that is held in memory, and why one did not come. */
final readonly class Transfer
{
    /** The hosts that are this machine. */
    private const string LOOPBACK = '~^(localhost|127\.[0-9.]+|\[::1\])$~D';
    private const string GZIP = "\x1f\x8b";
    /** What RFC 9110 allows in one, with or without its quotation marks: what is sent back must be a header field. */
    private const string ENTITY_TAG = '/^[\x21-\x7e\x80-\xff]{1,200}$/D';

    private const int MOST_PAUSE_SECONDS = 86_400;

    /** To other hosts than this machine, requests are never sent without TLS. */
    public static function isPrivate(string $scheme, string $host): bool
    {
        return strtolower($scheme) === 'https' || preg_match(self::LOOPBACK, strtolower($host)) === 1;
    }

    /**
     * For the client's option on_progress: ends an answer that is larger.
     *
     * @return Closure(int): void
     */
    public static function limit(int $mostBytes): Closure
    {
        return static function (int $received) use ($mostBytes): void {
            if ($received > $mostBytes) {
                throw new TransportException("the answer is larger than $mostBytes bytes");
            }
        };
    }

    /**
     * The client's own unpacking has no bound: an answer of a few kilobytes used up all memory. Ask for gzip in a
     * header of your own, or the client unpacks.
     *
     * @return string '' when it is damaged gzip, or of more than so many bytes
     */
    public static function unpacked(string $received, int $mostBytes): string
    {
        return str_starts_with($received, self::GZIP) ? (string) @gzdecode($received, $mostBytes) : $received;
    }

    /**
     * The entity tag of an answer, to be sent back as it is: a CR or 100 KB in one would fail each later request.
     *
     * @param array<array<string>> $headers by their names in lower case
     * @return ?string null when there is none that can be sent
     */
    public static function entityTag(array $headers): ?string
    {
        $tag = $headers['etag'][0] ?? '';

        return preg_match(self::ENTITY_TAG, $tag) === 1 ? $tag : null;
    }

    /** Without what it quotes: an address is long and may have a key in it, and so may a header field. */
    public static function reason(TransportExceptionInterface $failure): string
    {
        return rtrim((string) preg_replace('/(?: for| in)? ".*"/s', '', $failure->getMessage()), '.');
    }

    /**
     * For how many seconds a server asks to be left alone (RFC 9110, 10.2.3), also where it names a date; at most a day;
     * 0 when it does not ask.
     *
     * @param array<array<string>> $headers
     */
    public static function retryAfter(array $headers): int
    {
        $value = $headers['retry-after'][0] ?? '0';
        $seconds = is_numeric($value) ? (float) $value : (float) strtotime($value) - time();

        return (int) ceil(max(0.0, min($seconds, self::MOST_PAUSE_SECONDS)));
    }
}
