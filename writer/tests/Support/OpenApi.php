<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Support;

use UnexpectedValueException;

/** Reads contract/openapi.json, for facts that PHP has to repeat. */
final class OpenApi
{
    private const string FILE = __DIR__ . '/../../../contract/openapi.json';

    /** @return array<string, mixed> the schema of a parameter of GET */
    public static function parameter(string $path, string $name): array
    {
        $document = json_decode((string) file_get_contents(self::FILE), true, flags: JSON_THROW_ON_ERROR);
        foreach ($document['paths'][$path]['get']['parameters'] as $parameter) {
            $shared = $document['components']['parameters'][basename($parameter['$ref'] ?? '')] ?? $parameter;
            if ($shared['name'] === $name) {
                return $shared['schema'];
            }
        }
        throw new UnexpectedValueException("$path has no parameter $name.");
    }
}
