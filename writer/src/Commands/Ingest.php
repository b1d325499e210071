<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Ingest\ObservationStore;
use TrendVault\Writer\Ingest\Outcome;
use TrendVault\Writer\Ingest\SourceIngestion;
use TrendVault\Writer\Observations\Announcement;
use TrendVault\Writer\Observations\Observation;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Sources\ErasedLines;
use TrendVault\Writer\Sources\RunTime;
use TrendVault\Writer\Sources\Source;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\WriterException;

#[AsCommand('ingest', 'Stores view counts from sources')]
final class Ingest extends WriterCommand
{
    private const string HELP = <<<'TEXT'
    A source is a file of NDJSON (plain or gzip), a folder of such files, - for standard input, or one
    that docs/observations.md and docs/sources.md explain. Lines that cannot be stored are written to
    rejected/ beside the database, the first 64 MiB of a file.
    Use --shift-to-now with an empty database: data that is shifted twice is stored twice.
    TEXT;

    #[Override]
    protected function configure(): void
    {
        $this->addArgument(
            'sources',
            InputArgument::IS_ARRAY | InputArgument::REQUIRED,
            'Files, folders, -, ' . SourceKinds::forms(),
        )
            ->addOption(
                'shift-to-now',
                mode: InputOption::VALUE_NONE,
                description: 'Shift all times so that the newest observation is now',
            )
            ->addOption(
                'as',
                mode: InputOption::VALUE_REQUIRED,
                description: 'An entry of SOURCES: the lines are this source\'s, as if it had given them',
            )
            ->addOption(
                'allow-leaving',
                mode: InputOption::VALUE_NONE,
                description: 'Let more than a quarter of a complete catalogue leave at once',
            )
            ->setHelp(self::HELP);
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $names = self::arguments($input, 'sources');
        $shifts = self::isGiven($input, 'shift-to-now');
        if ($shifts && in_array('-', $names, true)) {
            throw WriterException::usage(
                'Cannot use --shift-to-now with -: it reads a source twice, and standard input can be read only once. Save the lines to a file.',
            );
        }

        if ($shifts && array_any($names, self::isEdge(...))) {
            throw WriterException::usage(
                'Cannot use --shift-to-now with edge: what visitors did is counted at its own time.',
            );
        }

        $as = self::option($input, 'as');
        if ($as !== null && !in_array($as, $context->settings->sources, true)) {
            throw WriterException::usage("Cannot ingest as $as: it is not in SOURCES.");
        }
        $allowLeaving = self::isGiven($input, 'allow-leaving');

        return $this->write($context, static function (Database $database, int $run) use (
            $allowLeaving,
            $as,
            $context,
            $shifts,
            $names,
        ): ExitCode {
            if ($shifts && $database->rows('SELECT 1 FROM velocity LIMIT 1') !== []) {
                $context->log->warning(
                    'The database has observations already: data that was shifted before is stored a second time, with new times.',
                    ['event' => 'database_not_empty'],
                );
            }
            $shiftSeconds = $shifts ? self::shiftSeconds($names, $context, $database) : 0;

            return new IngestStep($context, $database, $run, $as, $allowLeaving)->run($names, $shiftSeconds);
        });
    }

    /** Its counts are pulled and not read as lines. */
    public static function isEdge(string $name): bool
    {
        return SourceKinds::kind($name) === 'edge';
    }

    /**
     * Moves archived data to the present: the newest observation is now, all others keep their distance to it. A catalogue
     * without observations stays as it is.
     *
     * @param list<string> $names of sources, which are read once here and once by ingest
     * @return int seconds to add to every time
     * @throws SourceFailure when there is not one observation
     */
    private static function shiftSeconds(array $names, Context $context, Database $database): int
    {
        $now = $context->now();
        $parser = new ObservationParser($context->settings->regionTable()->ownership(), $now);
        $newest = $refusal = null;
        $isAnnounced = false;
        foreach (SourceKinds::inTurn($names) as $together) {
            $time = SourceKinds::kind($together[0]) === null ? null : RunTime::of($context->settings);
            foreach (SourceKinds::open($together, $context, $database, $time) as $source) {
                $lines = $source instanceof SourceFailure ? throw $source : $source->lines();
                foreach ($lines as $number => $line) {
                    try {
                        $parsed = is_string($line) ? $parser->parse($line) : null;
                        $newest =
                            $parsed instanceof Observation ? max($newest, $parsed->observedAt) : $newest;
                        $isAnnounced = $isAnnounced || $parsed instanceof Announcement;
                    } catch (RejectedLine $rejected) {
                        // Ingesting rejects it.
                        $refusal ??= " Line $number: {$rejected->getMessage()}.";
                    }
                }
            }
        }

        return match (true) {
            $newest !== null => $now - $newest,
            $isAnnounced => 0,
            default => throw SourceFailure::because(
                'Cannot shift to now: the sources have no observation that can be read. Expected NDJSON, as docs/observations.md describes it.' .
                    ($refusal ?? ''),
            ),
        };
    }
}

/** Ingests sources one after the other and logs each; one that fails does not keep the others from being read. */
final readonly class IngestStep
{
    /** Once for each source of a run; it goes with the run. */
    private const string COUNT_FAILURE = 'INSERT OR IGNORE INTO source_failures (run_id, source) VALUES (?, ?)';
    private const int MOST_LABEL_CHARACTERS = 120;

    /**
     * @param ?string $as the entry of SOURCES whose lines they are; null for each source's own
     * @param bool $allowLeaving see ObservationStore
     */
    public function __construct(
        private Context $context,
        private Database $database,
        private int $run,
        private ?string $as = null,
        private bool $allowLeaving = false,
    ) {}

    /**
     * @param list<string> $names of sources, as in SOURCES
     * @param int $shiftSeconds is added to every time
     * @throws WriterException
     */
    public function run(array $names, int $shiftSeconds = 0): ExitCode
    {
        self::expectOneEdge($names);
        $now = $this->context->now();
        $regions = $this->context->settings->regions();
        $ingestion = new SourceIngestion(
            $this->database,
            $this->run,
            new ObservationParser(
                $regions->ownership(),
                $now,
                $shiftSeconds,
                $regions->categories,
                array_merge(
                    ...array_values(
                        array_intersect_key($regions->languages(), array_filter($regions->ownership())),
                    ),
                ),
            ),
            new ObservationStore(
                $this->database,
                $now,
                array_map($this->identity(...), $this->context->settings->sources),
                $this->allowLeaving,
                $regions->categories,
            ),
            $this->context->settings->rejectedFolder(),
        );
        [$exitCode, $time] = [ExitCode::Ok, null];
        foreach (SourceKinds::inTurn($names) as $together) {
            if (SourceKinds::kind($together[0]) !== null) {
                $time ??= RunTime::of($this->context->settings);
            }
            foreach ($this->results($together, $ingestion, $time) as $name => $failed) {
                if ($failed !== null) {
                    $this->database->run(self::COUNT_FAILURE, [
                        $this->run,
                        mb_substr(SourceKinds::label($name), 0, self::MOST_LABEL_CHARACTERS),
                    ]);
                    $exitCode = $failed;
                }
            }
        }

        return $exitCode;
    }

    /**
     * @param list<string> $names
     * @throws WriterException
     */
    private static function expectOneEdge(array $names): void
    {
        $edges = array_unique(array_filter($names, Ingest::isEdge(...)));
        if (count($edges) > 1) {
            throw WriterException::usage(
                'Cannot pull from ' .
                    implode(' and ', $edges) .
                    ': a database pulls from one edge, because a cursor belongs to the name of a shard.',
            );
        }
    }

    /**
     * @param non-empty-list<string> $names that are opened together
     * @param ?RunTime $time goes on while what is asked over the network is opened and read
     * @return iterable<string, ?ExitCode> by name; null for a source that was read to its end
     */
    private function results(array $names, SourceIngestion $ingestion, ?RunTime $time): iterable
    {
        if (!SourceKinds::isRemote($names[0])) {
            $time?->pause();
        } elseif ($time !== null) {
            $time->resume();
            if ($time->secondsLeft() <= 0) {
                $kind = (string) SourceKinds::kind($names[0]);
                $time->logPostponed($this->context->log, $kind, count($names));

                return;
            }
        }
        try {
            if ($time !== null && Ingest::isEdge($names[0])) {
                yield $names[0] => new PullStep($this->context, $this->database)->run($names[0], $time);

                return;
            }
            $sources = SourceKinds::open($names, $this->context, $this->database, $time);
            foreach ($sources as $name => $source) {
                yield $name => $source instanceof SourceFailure
                    ? $this->logFailure($name, $source)
                    : $this->ingest($source, $ingestion, $this->identity($this->as ?? $name));
            }
        } catch (SourceFailure $failure) {
            yield $names[0] => $this->logFailure($names[0], $failure);
        }
    }

    /** Null when the source was read to its end. */
    private function ingest(Source $source, SourceIngestion $ingestion, string $identity): ?ExitCode
    {
        $started = $this->context->now();
        $bar = $this->context->progressBar("Reading {$source->name()}");
        $result = $ingestion->ingest(
            $source,
            static fn(?float $regions) => $regions === null
                ? null
                : $bar?->setProgress((int) (100 * $regions)),
            $identity,
        );
        $bar?->clear();
        $this->logResult($source->name(), $result);
        if ($result['erased'] > 0) {
            // What it named is in no folder of ours either.
            new ErasedLines($this->context, $this->database)->takeOut($started);
        }

        return $result['failure'] === null ? null : $this->logFailure($source->name(), $result['failure']);
    }

    private function identity(string $name): string
    {
        return SourceKinds::identity($name, $this->context->settings->sources);
    }

    /**
     * @param array{
     *   counts: array<string, int>, rejections: array<string, int>, held: array<string, int>, left: int, erased: int, report: ?string,
     *   seconds: float, ...
     * } $result of SourceIngestion
     */
    private function logResult(string $source, array $result): void
    {
        $counts = [];
        foreach (Outcome::cases() as $outcome) {
            $counts[$outcome->value] = $result['counts'][$outcome->value] ?? 0;
        }
        $counts['rejected'] = array_sum($result['rejections']);
        if ($counts[Outcome::OtherRegion->value] === 0) {
            unset($counts[Outcome::OtherRegion->value]); // as with one writer, which has all regions
        }
        if ($counts[Outcome::Allowed->value] === 0) {
            unset($counts[Outcome::Allowed->value]);
        }
        $counts += array_filter(['left' => $result['left'], 'erased' => $result['erased']]);
        $phrases = array_map(
            static fn(string $name, int $count): string => number_format($count) . " $name",
            array_keys($counts),
            $counts,
        );
        $this->context->log->info(
            sprintf('%s: %s, in %.1f s.', $source, implode(', ', $phrases), $result['seconds']),
            [
                'event' => 'ingested',
                'source' => $source,
                ...$counts,
                'seconds' => round($result['seconds'], 3),
            ],
        );
        $ignored = array_diff_key($result['held'], array_flip(ObservationParser::RESTRICTING));
        foreach (
            [
                [
                    'videos_held',
                    'but bad values hold their videos back',
                    array_diff_key($result['held'], $ignored),
                ],
                ['values_ignored', 'without values that are bad or too many', $ignored],
            ]
            as [$event, $effect, $fields]
        ) {
            $names = implode(', ', array_keys($fields));
            if ($fields !== []) {
                $this->context->log->warning("Lines of $source are stored, $effect: $names.", [
                    'event' => $event,
                    'fields' => $fields,
                ]);
            }
        }
        if ($result['report'] !== null) {
            $this->context->log->warning(
                "Lines of $source were rejected. The reasons are in {$result['report']}.",
                [
                    'event' => 'lines_rejected',
                    'report' => $result['report'],
                    'reasons' => $result['rejections'],
                ],
            );
        }
    }

    private function logFailure(string $source, WriterException $failure): ExitCode
    {
        $this->context->log->error($failure->getMessage(), ['event' => 'source_failed', 'source' => $source]);

        return WriterException::exitCodeOf($failure);
    }
}
