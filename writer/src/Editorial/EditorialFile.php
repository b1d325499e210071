<?php

declare(strict_types=1);

namespace TrendVault\Writer\Editorial;

use Closure;
use JsonException;
use stdClass;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\WriterException;

/** The file of EDITORIAL_FILE. Commands rewrite it; whoever calls holds the writer's lock. */
final readonly class EditorialFile
{
    private const int FORMAT =
        JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION;

    /** @param list<string> $regions of the deployment */
    public function __construct(public string $path, private array $regions) {}

    /** @throws WriterException when it cannot be read */
    public function text(): string
    {
        if (Database::hasOpen(@stat($this->path))) {
            throw WriterException::usage("Cannot read EDITORIAL_FILE=$this->path: it is the database.");
        }

        return Database::textOfOther($this->path, Editorial::MOST_BYTES) ??
            throw WriterException::usage(
                "Cannot read EDITORIAL_FILE=$this->path: expected a file that this user can read; {} is enough.",
            );
    }

    /**
     * @param int $now UTC seconds
     * @throws WriterException with the mistakes of a text
     */
    public function parse(string $text, int $now): Editorial
    {
        try {
            return Editorial::read($text, $this->regions, $now);
        } catch (WriterException $bad) {
            throw WriterException::usage("Cannot read EDITORIAL_FILE=$this->path:\n{$bad->getMessage()}");
        }
    }

    /**
     * Adds an entry in place of those that it replaces, or, without one, only takes these out. The file is replaced as a
     * whole.
     *
     * @param string $list one of the file's
     * @param Closure(stdClass): bool $isReplaced
     * @param ?array<string, mixed> $entry
     * @param int $now UTC seconds
     * @return bool whether an entry was added or taken out
     * @throws WriterException when the file would be wrong, or cannot be written: it says what to change by hand
     */
    public function change(string $list, Closure $isReplaced, ?array $entry, int $now): bool
    {
        [$new, $taken] = $this->changed($list, $isReplaced, $entry, $now);
        if ($entry === null && $taken === []) {
            return false;
        }
        if (!$this->replace($new)) {
            throw WriterException::usage(
                "Cannot write EDITORIAL_FILE=$this->path and its folder as this user. " .
                    ($taken === [] ? '' : "Take out of its \"$list\":\n" . self::format($taken)) .
                    ($entry === null ? '' : "Add to its \"$list\":\n" . self::format($entry)),
            );
        }

        return true;
    }

    /**
     * What change() would write.
     *
     * @param Closure(stdClass): bool $isReplaced
     * @param ?array<string, mixed> $entry
     * @return array{string, list<stdClass>} the text, and the entries that are taken out
     * @throws WriterException when it would be wrong
     */
    public function changed(string $list, Closure $isReplaced, ?array $entry, int $now): array
    {
        $file = $this->lists($now);
        $before = $file[$list] ?? [];
        $taken = array_values(array_filter($before, $isReplaced));
        $kept = array_values(array_filter($before, static fn(stdClass $one): bool => !$isReplaced($one)));
        $file[$list] = $entry === null ? $kept : [...$kept, (object) $entry];
        try {
            $new = self::format((object) $file);
            Editorial::read($new, $this->regions, $now);
        } catch (WriterException $bad) {
            $at = "{$list}[" . count($kept) . ']';
            $faults = $entry === null ? [] : ["$at.video" => 'video', "$at." => '--', "$at: " => ''];
            throw WriterException::usage(
                "Cannot change EDITORIAL_FILE=$this->path, it would be wrong:\n" .
                    strtr($bad->getMessage(), $faults),
            );
        } catch (JsonException $bad) {
            throw WriterException::usage(
                "Cannot change EDITORIAL_FILE=$this->path: {$bad->getMessage()}. Expected UTF-8, and a number that is finite.",
            );
        }

        return [$new, $taken];
    }

    /**
     * What a list has now.
     *
     * @return list<stdClass>
     * @throws WriterException when the file is wrong
     */
    public function entries(string $list, int $now): array
    {
        return $this->lists($now)[$list] ?? [];
    }

    /**
     * @return array<string, list<stdClass>>
     * @throws WriterException
     */
    private function lists(int $now): array
    {
        $text = $this->text();
        $this->parse($text, $now);
        /** @var stdClass $file */
        $file = json_decode($text);
        /** @var array<string, list<stdClass>> $lists */
        $lists = (array) $file;

        return $lists;
    }

    private static function format(mixed $value): string
    {
        $lines = explode("\n", json_encode($value, self::FORMAT | JSON_THROW_ON_ERROR));
        $indented = array_map(static function (string $line): string {
            $text = ltrim($line, ' ');

            return str_repeat(' ', intdiv(strlen($line) - strlen($text), 2)) . $text;
        }, $lines);

        return implode("\n", $indented) . "\n";
    }

    /**
     * Readers see the whole old file or the whole new one, also after a crash. It stays its owner's, also when root changes
     * it, and a link in its place is not followed.
     */
    private function replace(string $text): bool
    {
        $path = realpath($this->path) ?: $this->path;
        $new = "$path.new";
        @unlink($new);
        $mask = umask(~fileperms($path) & 0o777);
        $file = @fopen($new, 'xb');
        umask($mask);
        if ($file === false) {
            return false;
        }
        @lchown($new, (int) fileowner($path));
        @lchgrp($new, (int) filegroup($path));
        $isWritten = @fwrite($file, $text) === strlen($text) && fsync($file);
        fclose($file);
        if ($isWritten && @rename($new, $path)) {
            return true;
        }
        @unlink($new);

        return false;
    }
}
