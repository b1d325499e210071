<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use SensitiveParameter;
use TrendVault\Writer\Sources\Http\DownloadRules;

/** What the environment says about the source http:URL. */
final readonly class HttpSettings
{
    private const string AUTHORIZATION = '/^([a-z0-9.:\[\]-]+)\s+([!-~]+(?: [!-~]+)*)$/Di';

    /** @throws UsageError */
    public static function of(Settings $settings): DownloadRules
    {
        return new DownloadRules(
            $settings->sourceInteger('HTTP_SOURCE_TIMEOUT_SECONDS', 40, 1, 3600),
            1_000_000 * $settings->sourceInteger('HTTP_SOURCE_MAX_MEGABYTES', 1000, 1, 100_000),
            self::authorizations($settings->sourceText('HTTP_SOURCE_AUTHORIZATION') ?? ''),
        );
    }

    /**
     * @return array<string, string>
     * @throws UsageError which does not repeat the value
     */
    private static function authorizations(#[SensitiveParameter] string $value): array
    {
        $byHost = [];
        foreach (array_filter(array_map(trim(...), explode(',', $value))) as $number => $part) {
            if (preg_match(self::AUTHORIZATION, $part, $match) !== 1) {
                throw UsageError::because(
                    'HTTP_SOURCE_AUTHORIZATION: part ' .
                        ($number + 1) .
                        ' is not a host and what it is sent, for example "stats.example Bearer abc, other.example Basic dXNlcjpr".',
                );
            }
            $byHost[strtolower($match[1])] = $match[2];
        }

        return $byHost;
    }
}
