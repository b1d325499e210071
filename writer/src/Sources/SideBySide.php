<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Closure;
use Fiber;
use Generator;
use Symfony\Component\HttpClient\Exception\TimeoutException;
use Symfony\Contracts\HttpClient\ChunkInterface;
use Symfony\Contracts\HttpClient\Exception\TransportExceptionInterface;
use Symfony\Contracts\HttpClient\HttpClientInterface;
use Symfony\Contracts\HttpClient\ResponseInterface;

/**
 * Requests of several tasks side by side. Each task is written as if it were alone: where it waits for a server, the
 * others go on. The client's own timeouts are not used, since with several answers any of them puts off all.
 */
final class SideBySide
{
    /** Open the client with as many connections: a request that waits for one would count as a server that is silent. */
    public const int MOST = 16;
    private const float LEAST_SECONDS = 0.001;

    /** @var array<int, array{Fiber<mixed, mixed, void, mixed>, ?ResponseInterface, float}> the tasks, for what each waits, and until when */
    private array $waiting = [];
    /** @var array{?ResponseInterface, float} for what the task that goes on will wait */
    private array $next = [null, 0.0];

    public function __construct(private readonly HttpClientInterface $client) {}

    /** @param Generator<Closure(): void> $tasks the next one is taken when it can begin */
    public function run(Generator $tasks): void
    {
        $isFirst = true;
        do {
            while (count($this->waiting) < self::MOST && self::hasNext($tasks, $isFirst)) {
                $this->go(new Fiber($tasks->current()));
            }
            $this->wait();
        } while ($this->waiting !== []);
    }

    /**
     * What one task returns; of a task that is run with others, a part of it.
     *
     * @template T
     * @param Closure(): T $task
     * @return T
     */
    public function alone(Closure $task): mixed
    {
        if (Fiber::getCurrent() !== null) {
            return $task();
        }
        $results = [];
        $tasks = (static function () use ($task, &$results): Generator {
            yield static function () use ($task, &$results): void {
                $results[] = $task();
            };
        })();
        $this->run($tasks);

        return $results[0];
    }

    /**
     * In a task: the next part of an answer.
     *
     * @throws TransportExceptionInterface a TimeoutException when none comes in that time
     */
    public function chunk(ResponseInterface $response, float $seconds): ChunkInterface
    {
        $this->next = [$response, self::now() + $seconds];
        /** @var ChunkInterface $chunk take() gives nothing else */
        $chunk = Fiber::suspend();

        return $chunk;
    }

    public function sleep(float $seconds): void
    {
        if (Fiber::getCurrent() === null) {
            usleep(max(0, (int) (1e6 * $seconds)));
        } else {
            $this->next = [null, self::now() + $seconds];
            Fiber::suspend();
        }
    }

    /** @param Generator<Closure(): void> $tasks */
    private static function hasNext(Generator $tasks, bool &$isFirst): bool
    {
        if (!$isFirst && $tasks->valid()) {
            $tasks->next();
        }
        $isFirst = false;

        return $tasks->valid();
    }

    /** Gives the tasks what comes, until one of them ends or waits for something else. */
    private function wait(): void
    {
        [$responses, $until] = [[], INF];
        foreach ($this->waiting as [, $response, $end]) {
            $until = min($until, $end);
            if ($response !== null) {
                $responses[] = $response;
            }
        }
        $seconds = max(self::LEAST_SECONDS, $until - self::now());
        if ($responses === [] && $this->waiting !== []) {
            $this->sleep($seconds);
        } elseif ($responses !== []) {
            foreach ($this->client->stream($responses, $seconds) as $response => $chunk) {
                if (!$this->take($response, $chunk) || self::now() >= $until) {
                    break;
                }
            }
        }
        foreach ($this->waiting as [$fiber, $response, $end]) {
            if ($end <= self::now()) {
                $response?->cancel(); // Else the client waits for its head when the task lets go of it.
                $this->go(
                    $fiber,
                    $response === null ? null : new TimeoutException('nothing of an answer came in time'),
                );
            }
        }
    }

    /** @return bool whether its task waits for more of it */
    private function take(ResponseInterface $response, ChunkInterface $chunk): bool
    {
        $fiber =
            array_find($this->waiting, static fn(array $task): bool => $task[1] === $response)[0] ?? null;
        try {
            $isEmpty = $chunk->isTimeout(); // of this call, which says nothing about this answer
            if (!$isEmpty && $chunk->getInformationalStatus() !== null) {
                return true; // 100 Continue and the like: to ask for the status then would wait, and hold up all tasks.
            }
            if (!$isEmpty && $chunk->isFirst()) {
                $response->getStatusCode(); // Else the client throws for what is not 2xx.
            }
        } catch (TransportExceptionInterface $failure) {
            [$isEmpty, $chunk] = [false, $failure];
        }
        if ($fiber === null || $isEmpty) {
            return false;
        }
        $this->go($fiber, $chunk);

        return ($this->waiting[spl_object_id($fiber)][1] ?? null) === $response;
    }

    /** @param Fiber<mixed, mixed, void, mixed> $fiber */
    private function go(Fiber $fiber, ChunkInterface|TransportExceptionInterface|null $with = null): void
    {
        unset($this->waiting[spl_object_id($fiber)]);
        match (true) {
            !$fiber->isStarted() => $fiber->start(),
            $with instanceof TransportExceptionInterface => $fiber->throw($with),
            default => $fiber->resume($with),
        };
        if (!$fiber->isTerminated()) {
            $this->waiting[spl_object_id($fiber)] = [$fiber, ...$this->next];
        }
    }

    private static function now(): float
    {
        return hrtime(true) / 1e9;
    }
}
