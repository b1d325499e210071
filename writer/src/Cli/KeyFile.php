<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

/** A setting that may be in a file: NAME, or NAME_FILE with the path of a regular file that not every user can open. */
final readonly class KeyFile
{
    private const int MOST_BYTES = 65_536;
    private const int ANY_RIGHT_OF_OTHERS = 0o007;

    /**
     * @return ?string null when neither is set
     * @throws UsageError that does not quote the text
     */
    public static function text(Settings $settings, string $name): ?string
    {
        [$text, $path] = [$settings->sourceText($name), $settings->sourceText("{$name}_FILE")];
        if ($path === null) {
            return $text;
        }
        if ($text !== null) {
            throw UsageError::because(
                "Cannot read {$name}_FILE: $name is set as well. Delete one of the two.",
            );
        }
        $refusal = match (true) {
            !is_file($path) => 'it is missing, or not a regular file',
            (fileperms($path) & self::ANY_RIGHT_OF_OTHERS) !== 0
                => "it is open to every user: chmod o= $path",
            filesize($path) > self::MOST_BYTES => 'it has more than ' . self::MOST_BYTES . ' bytes',
            !is_readable($path) => 'permission denied',
            trim((string) file_get_contents($path)) === '' => 'it is empty',
            default => null,
        };

        return $refusal === null
            ? trim((string) file_get_contents($path))
            : throw UsageError::because("Cannot read {$name}_FILE=$path: $refusal.");
    }
}
