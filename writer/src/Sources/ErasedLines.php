<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Erasures;

/** Takes the lines that name what was erased out of the files beside the database. */
final readonly class ErasedLines
{
    private Erasures $erasures;

    public function __construct(private Context $context, Database $database)
    {
        $this->erasures = new Erasures($database);
    }

    /**
     * @param int $since UTC seconds; files that came before are left alone
     * @return array{lines: int, unreadable: list<string>} how many lines were taken out, and the files that could not be read whole
     */
    public function takeOut(int $since = 0): array
    {
        $settings = $this->context->settings;
        $taken = new TakenFiles($settings->databasePath, $settings->rejectedFolder());
        $result = ['lines' => 0, 'unreadable' => []];
        foreach ([$taken->reading, $taken->done, $taken->rejected] as $folder) {
            $ofThis = $this->takeOutOf($folder, $since);
            $result['lines'] += $ofThis['lines'];
            $result['unreadable'] = [...$result['unreadable'], ...$ofThis['unreadable']];
        }

        return $result;
    }

    /** @return array{lines: int, unreadable: list<string>} */
    private function takeOutOf(string $folder, int $since): array
    {
        [$lines, $unreadable] = [0, []];
        foreach (is_dir($folder) ? NdjsonFile::in($folder) : [] as $name) {
            $path = "$folder/$name";
            if (
                is_link($path) ||
                !is_file($path) ||
                (int) filectime($path) < $since ||
                filesize($path) === 0
            ) {
                continue; // An empty one, of which all lines were taken out, is none to NdjsonFile.
            }
            $taken = $this->rewrite($path);
            $lines += (int) $taken;
            if ($taken === null) {
                $unreadable[] = $path;
            }
        }

        return ['lines' => $lines, 'unreadable' => $unreadable];
    }

    /** @return ?int the lines that were taken out; null when it cannot be read to its end, or replaced */
    private function rewrite(string $path): ?int
    {
        $temporary = "$path.erasing";
        try {
            $taken = $this->copy($path, $temporary);

            return $taken === null || $taken === 0 || @rename($temporary, $path) ? $taken : null;
        } catch (SourceFailure) {
            return null;
        } finally {
            @unlink($temporary);
        }
    }

    /** @throws SourceFailure when it is damaged */
    private function copy(string $path, string $target): ?int
    {
        $isPacked = @file_get_contents($path, length: strlen(GzipMember::MAGIC)) === GzipMember::MAGIC;
        @unlink($target); // It may be a link.
        $to = @fopen(($isPacked ? 'compress.zlib://' : '') . $target, 'wb');
        $taken = 0;
        [$isTaken, $isWhole] = [false, true]; // the line that the piece before was of
        foreach (new NdjsonFile($path)->lines() as $line) {
            $bytes = is_string($line) ? "$line\n" : $line[0];
            $isRest = $isTaken && !$isWhole;
            $isTaken = $isRest || $this->erasures->areIn($bytes);
            $isWhole = str_ends_with($bytes, "\n");
            if ($isTaken) {
                $taken += $isRest ? 0 : 1;
                continue;
            }
            if ($to === false || @fwrite($to, $bytes) !== strlen($bytes)) {
                return null;
            }
        }

        return $to !== false && fclose($to) ? $taken : null;
    }
}
