<?php

declare(strict_types=1);

namespace TrendVault\Writer\Store;

/** What the store answered. */
final readonly class Response
{
    /** @param array<string, string> $fields by name in lower case */
    public function __construct(public int $status, public array $fields, public string $body) {}

    public function field(string $name): string
    {
        return $this->fields[$name] ?? '';
    }

    /** S3's code of an error, such as AccessDenied. Nothing else of an error's body is used: it may quote a key. */
    public function errorCode(): string
    {
        return preg_match('~<Code>([A-Za-z]{1,64})</Code>~', $this->body, $match) === 1 ? $match[1] : '';
    }
}
