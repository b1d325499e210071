<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Demo\Demo;
use TrendVault\Writer\Ingest\ObservationStore;
use TrendVault\Writer\Sources\Http\HttpFiles;
use TrendVault\Writer\Sources\NdjsonFile;
use TrendVault\Writer\Sources\PeerTube\PeerTubeInstances;
use TrendVault\Writer\Sources\RunTime;
use TrendVault\Writer\Sources\Source;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Sources\SourceKind;
use TrendVault\Writer\Sources\SpoolFolder;
use TrendVault\Writer\Sources\YouTube\YouTube;
use TrendVault\Writer\WriterException;

/** What may stand in SOURCES and behind `ingest`: the registry of the kinds of sources, and files of this machine. */
final readonly class SourceKinds
{
    /** How each kind is named, and what opens it; of those that are asked over the network in the order in which they are opened. */
    private const array REGISTRY = [
        'demo' => Demo::class,
        'spool:FOLDER' => SpoolFolder::class,
        'http:URL' => HttpFiles::class,
        'edge:URL' => null, // counts of visitors, not lines: see PullStep
        'youtube' => YouTube::class,
        'peertube:URL' => PeerTubeInstances::class,
    ];

    /** @return list<string> the FORGET of each kind */
    public static function forgetting(): array
    {
        $statements = [];
        foreach (array_filter(self::REGISTRY) as $class) {
            $statements = [...$statements, ...$class::FORGET];
        }

        return $statements;
    }

    /** How sources are named, for messages: demo, youtube … */
    public static function forms(): string
    {
        return implode(', ', array_keys(self::REGISTRY));
    }

    /** @return ?string the word before the colon; null for a file, a folder and - */
    public static function kind(string $name): ?string
    {
        return self::registered($name)['kind'] ?? null;
    }

    /**
     * @param list<string> $names
     * @return list<non-empty-list<string>> in the order in which they are opened; those of one list together
     */
    public static function inTurn(array $names): array
    {
        $inTurn = array_map(
            static fn(string $name): array => [$name],
            array_values(array_filter($names, static fn(string $name): bool => !self::isRemote($name))),
        );
        $remote = array_unique(array_filter($names, self::isRemote(...)));
        foreach (array_keys(self::REGISTRY) as $form) {
            $ofKind = array_filter($remote, static fn(string $name): bool => self::isOf($name, $form));
            if ($ofKind !== []) {
                $inTurn[] = array_values($ofKind);
            }
        }

        return $inTurn;
    }

    public static function isRemote(string $name): bool
    {
        return self::registered($name)['isRemote'] ?? false;
    }

    /**
     * @param non-empty-list<string> $names one of inTurn()'s lists
     * @param ?RunTime $time null for files of this machine, which need none
     * @return iterable<string, Source|SourceFailure> by name; a folder gives one for each of its files
     * @throws SourceFailure|WriterException
     */
    public static function open(array $names, Context $context, Database $database, ?RunTime $time): iterable
    {
        $class = self::registered($names[0])['class'] ?? null;

        // @mago-expect analysis:unsafe-instantiation (the registry has classes alone, not the interface)
        return $class === null || $time === null
            ? self::local($names[0])
            : new $class($context, $database)->open($names, $time);
    }

    /**
     * What may be said in public of where counts come from: kinds and hosts, without keys and paths.
     *
     * @param list<string> $sources as in SOURCES
     * @return list<array{kind: string, host: ?string}> each once
     */
    public static function of(array $sources): array
    {
        return array_values(array_unique(array_map(self::described(...), $sources), SORT_REGULAR));
    }

    /**
     * Whose lines they are. An address may have a key in it: a hash stands for that.
     *
     * @param list<string> $sources as in SOURCES: a file or folder that is not among them is given by hand
     */
    public static function identity(string $name, array $sources): string
    {
        $place = explode(':', $name, 2)[1] ?? '';

        return match (self::kind($name)) {
            null => in_array($name, $sources, true) ? self::path($name) : ObservationStore::BY_HAND,
            'spool' => 'spool:' . self::path($place),
            'http' => self::label($name) . '#' . substr(hash('sha256', $place), 0, 16),
            default => explode('#', $name, 2)[0],
        };
    }

    private static function path(string $path): string
    {
        return realpath($path) ?: $path;
    }

    /** For metrics, such as youtube, spool or peertube:tube.example: without keys and paths. */
    public static function label(string $source): string
    {
        $registered = self::registered($source);
        $kind = $registered['kind'] ?? 'ndjson';
        $host = isset($registered['host']) ? null : self::described($source)['host'];

        return $host === null ? $kind : "$kind:$host";
    }

    /**
     * A kind's entry with what its class says of it; null for a file, a folder and -.
     *
     * @return ?array{kind: string, class: ?class-string<SourceKind>, isRemote: bool, host: ?string}
     */
    private static function registered(string $name): ?array
    {
        foreach (self::REGISTRY as $form => $class) {
            if (self::isOf($name, $form)) {
                return [
                    'kind' => explode(':', $form)[0],
                    'class' => $class,
                    'isRemote' => $class === null || $class::REMOTE,
                    'host' => $class === null ? null : $class::HOST,
                ];
            }
        }

        return null;
    }

    private static function isOf(string $name, string $form): bool
    {
        $kind = explode(':', $form)[0];

        return $form === $kind ? $name === $kind : str_starts_with($name, "$kind:");
    }

    /**
     * @return iterable<string, Source>
     * @throws SourceFailure
     */
    private static function local(string $name): iterable
    {
        return match (true) {
            $name === '-' => [$name => new NdjsonFile('standard input', pipe: STDIN)],
            is_dir($name) => self::folder($name),
            is_file($name) => [$name => new NdjsonFile($name)],
            default => throw SourceFailure::unknown($name, self::forms()),
        };
    }

    /** @return iterable<string, NdjsonFile> */
    private static function folder(string $path): iterable
    {
        $files = [];
        foreach (NdjsonFile::in($path) as $name) {
            if (NdjsonFile::isComplete($name)) {
                $files[] = "$path/$name";
            }
        }
        sort($files, SORT_STRING);
        foreach ($files === [] ? throw SourceFailure::emptyFolder($path) : $files as $file) {
            yield $path => new NdjsonFile($file);
        }
    }

    /** @return array{kind: string, host: ?string} */
    private static function described(string $source): array
    {
        $registered = self::registered($source);
        $kind = $registered['kind'] ?? null;
        $url = str_contains($source, ':') ? explode(':', $source, 2)[1] : '';

        return $kind === null || $kind === 'spool'
            ? ['kind' => 'ndjson', 'host' => null]
            : [
                'kind' => $kind,
                'host' => $registered['host'] ?? (parse_url($url, PHP_URL_HOST) ?: null),
            ];
    }
}
