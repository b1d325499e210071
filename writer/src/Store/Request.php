<?php

declare(strict_types=1);

namespace TrendVault\Writer\Store;

/** A request to the store, not signed yet. */
final readonly class Request
{
    /**
     * @param string $key what is asked for, in messages
     * @param list<string> $fields more header fields
     * @param ?resource $sink where the body of a 200 goes; null for the memory
     */
    public function __construct(
        public string $method,
        public string $url,
        public string $key,
        public array $fields = [],
        public ?Payload $payload = null,
        public int $mostBytes = 65_536,
        public mixed $sink = null,
    ) {}
}
