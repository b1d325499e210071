<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Closure;
use Override;
use stdClass;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Editorial\Editorial as Decisions;
use TrendVault\Writer\Editorial\EditorialStore;
use TrendVault\Writer\Editorial\Rules;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Ranking\ChannelLimit;
use TrendVault\Writer\Ranking\NotPublished;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Retention\Cutoff;
use TrendVault\Writer\Time\Rfc3339;
use TrendVault\Writer\Time\SystemClock;
use TrendVault\Writer\WriterException;

#[AsCommand('rank', 'Ranks the videos and publishes all lists as a new generation')]
final class Rank extends WriterCommand
{
    #[Override]
    protected function configure(): void
    {
        $this->addOption(
            'at',
            mode: InputOption::VALUE_REQUIRED,
            description: 'Rank as of this RFC 3339 time (or now), without comparing it with the newest generation',
        )
            ->addOption(
                'yes',
                mode: InputOption::VALUE_NONE,
                description: 'Do not ask before a generation of the future is published',
            )
            ->addOption(
                'allow-empty',
                mode: InputOption::VALUE_NONE,
                description: 'Publish although a region that has a list would have none',
            );
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $at = self::time(self::option($input, 'at'), $context);
        if (!self::isGiven($input, 'yes')) {
            self::confirm($at, $context);
        }

        $allowsEmpty = self::isGiven($input, 'allow-empty');

        return $this->write($context, static function (Database $database) use (
            $allowsEmpty,
            $context,
            $at,
        ): ExitCode {
            new RankStep($context, $database)->run($at, $allowsEmpty);

            return ExitCode::Ok;
        });
    }

    /** Or `cron` would publish nothing until that time. */
    private static function confirm(?int $at, Context $context): void
    {
        if ($at === null || $at <= $context->now() + SystemClock::TOLERANCE_SECONDS) {
            return;
        }
        $future = Rfc3339::format($at) . ' is in the future: nothing newer is published until then.';
        match ($context->confirm("$future Publish?")) {
            true => null,
            false => throw WriterException::usage('Nothing was published: the answer was not yes.'),
            null => throw WriterException::usage(
                "Nothing was published: $future Give --yes if it is meant.",
            ),
        };
    }

    private static function time(?string $text, Context $context): ?int
    {
        return match ($text) {
            null => null,
            'now' => $context->now(),
            default => Rfc3339::parse($text) ??
                throw WriterException::usage(
                    "Cannot read --at $text: expected a time like 2026-11-20T10:00:00Z, or now.",
                ),
        };
    }
}

#[
    AsCommand(
        'rule',
        'Lets a channel, a word in titles, a tag or a source count less or never, in EDITORIAL_FILE',
    ),
]
final class Rule extends WriterCommand
{
    private const string HELP = <<<'TEXT'
    The next generation follows it. Words and tags are found whole, whatever their case and accents. Again,
    for the same channel, word, tag or source of a region, it replaces the rule; --end takes it out. --dry-run changes
    nothing, and prints what would change in the lists of now.
    TEXT;

    #[Override]
    protected function configure(): void
    {
        foreach (
            [
                'channel' => 'The name of a channel, exactly',
                'word' => 'A word or several in a row, in a title',
                'tag' => 'A tag, whole',
                'source' => 'A source, as in SOURCES, or its kind',
                'region' => 'The region of the lists, such as GB (default: all)',
                'factor' => 'What scores are multiplied with, from 0 to less than 1 (default: 0, for never)',
                'until' => 'When it ends, such as 2026-12-24T18:00:00Z',
                'reason' => 'Why, for those who ask later; at most 300 characters',
                'by' => 'Who decided it',
            ]
            as $name => $description
        ) {
            $this->addOption($name, mode: InputOption::VALUE_REQUIRED, description: $description);
        }
        $this->addOption(
            'public',
            mode: InputOption::VALUE_NONE,
            description: 'Everybody may read the reason',
        )
            ->addOption('end', mode: InputOption::VALUE_NONE, description: 'Take the rule out')
            ->addOption('dry-run', mode: InputOption::VALUE_NONE, description: 'Only print what would change')
            ->setHelp(self::HELP);
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $given = static fn(string $name): ?string => self::option($input, $name);
        $kinds = array_values(
            array_filter(Decisions::KINDS_OF_RULES, static fn(string $kind): bool => $given($kind) !== null),
        );
        if (count($kinds) !== 1) {
            throw WriterException::usage('Expected one of --channel, --word, --tag and --source.');
        }
        [$kind, $name] = [$kinds[0], $given($kinds[0])];
        $region = $given('region');
        $isMeant = static function (stdClass $rule) use ($kind, $name, $region): bool {
            /** @var ?string $named */
            $named = $rule->$kind ?? null;

            return ($rule->region ?? null) === $region &&
                ($named === $name ||
                    (in_array($kind, ['word', 'tag'], true) &&
                        $named !== null &&
                        Rules::comparable($named) === Rules::comparable((string) $name)));
        };
        $factor = $given('factor') ?? '0';
        $entry = self::isGiven($input, 'end')
            ? null
            : [
                $kind => $name,
                ...$region === null ? [] : ['region' => $region],
                'factor' => is_numeric($factor) ? (float) $factor : $factor,
                'until' => $given('until') ?? '',
                'reason' => $given('reason') ?? '',
                ...$given('by') === null ? [] : ['by' => $given('by')],
                ...self::isGiven($input, 'public') ? ['public' => true] : [],
            ];
        if ($entry !== null && (Rfc3339::parse($entry['until']) ?? PHP_INT_MAX) <= $context->now()) {
            throw WriterException::usage("--until: expected a time to come; {$entry['until']} is over.");
        }
        $nothing = "Nothing to end: there is no rule for $kind $name in " . ($region ?? 'all regions') . '.';
        if (self::isGiven($input, 'dry-run')) {
            $step = new RankStep($context, $context->openForReading());

            return $step->tryOut('rules', $isMeant, $entry, $nothing);
        }

        return $this->write($context, static function (Database $database) use (
            $context,
            $entry,
            $isMeant,
            $kind,
            $name,
            $nothing,
            $region,
        ): ExitCode {
            $where = $region ?? 'all regions';
            if (!new EditorialStep($context, $database)->change('rules', $isMeant, $entry)) {
                throw WriterException::usage($nothing);
            }
            $store = new EditorialStore($database);
            $made = array_filter(
                $entry === null ? [] : $store->inForce()->rules,
                static fn(array $rule): bool => $rule['kind'] === $kind && $rule['name'] === $name,
            );
            if ($store->idle($made) !== []) {
                $of = in_array($kind, ['word', 'tag'], true) ? 'has the' : 'is of';
                $context->log->warning(
                    "No stored video $of $kind \"$name\": the rule counts when it comes.",
                    ['event' => 'unknown_subject', $kind => $name],
                );
            }
            $done = $entry === null ? 'Ended the rule' : 'Made a rule';
            $context->log->info("$done for $kind $name in $where: the next generation follows it.", [
                'event' => $entry === null ? 'rule_ended' : 'ruled',
                $kind => $name,
            ]);

            return ExitCode::Ok;
        });
    }
}

#[AsCommand('hold', 'Lets what is new in a region or a category wait until `allow`, in EDITORIAL_FILE')]
final class Hold extends WriterCommand
{
    private const string HELP = <<<'TEXT'
    From the next generation on, what is first counted or announced there from now on, or gets the category, is in no
    list of the region for --hours, unless `writer allow` lets it in or it is pinned. Again, for the same region and
    category, it replaces the review, and what waits goes on to wait; --end takes it out. --dry-run changes nothing,
    and prints what would change in the lists of now.
    TEXT;

    #[Override]
    protected function configure(): void
    {
        foreach (
            [
                'region' => 'The region of the lists, such as GB',
                'category' => 'A category (default: videos of all)',
                'since' => 'What was there before need not wait (default: now)',
                'hours' => 'How long it waits at most, from 1 to 720',
                'after' => 'What happens after these hours: enter, or stay-out',
                'until' => 'When the review ends, such as 2026-12-24T18:00:00Z (default: with --end)',
                'reason' => 'Why, for those who ask later; at most 300 characters',
                'by' => 'Who decided it',
            ]
            as $name => $description
        ) {
            $this->addOption($name, mode: InputOption::VALUE_REQUIRED, description: $description);
        }
        $this->addOption('end', mode: InputOption::VALUE_NONE, description: 'Take the review out')
            ->addOption('dry-run', mode: InputOption::VALUE_NONE, description: 'Only print what would change')
            ->setHelp(self::HELP);
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $given = static fn(string $name): ?string => self::option($input, $name);
        $region =
            $given('region') ?? throw WriterException::usage('--region is missing. See writer hold --help.');
        $category = $given('category');
        $joined = $context->settings->regionTable()->categories;
        $named = static fn(string $category): string => $joined[$category] ?? $category;
        $isMeant = static fn(stdClass $review): bool => $review->region === $region &&
            $named((string) ($review->category ?? '')) === $named($category ?? '');
        [$hours, $until, $by] = [$given('hours') ?? '', $given('until'), $given('by')];
        if ($until !== null && (Rfc3339::parse($until) ?? PHP_INT_MAX) <= $context->now()) {
            throw WriterException::usage("--until: expected a time to come; $until is over.");
        }
        $isUnderWay = static fn(stdClass $review): bool => $isMeant($review) &&
            (Rfc3339::parse((string) ($review->until ?? '')) ?? PHP_INT_MAX) > $context->now();
        $since = static fn(EditorialStep $step): string => $given('since') ??
            (string) (array_find($step->entries('reviews'), $isUnderWay)->since ??
                Rfc3339::format($context->now()));
        $entry = static fn(EditorialStep $step): array => [
            'region' => $region,
            ...$category === null ? [] : ['category' => $category],
            'since' => self::before($until, $since($step)),
            'hours' => ctype_digit($hours) ? (int) $hours : $hours,
            'after' => $given('after') ?? '',
            ...$until === null ? [] : ['until' => $until],
            'reason' => $given('reason') ?? '',
            ...$by === null ? [] : ['by' => $by],
        ];
        $isEnd = self::isGiven($input, 'end');
        $of = trim("$region $category");
        $nothing = "Nothing to end: there is no review of $of.";
        if (self::isGiven($input, 'dry-run')) {
            $database = $context->openForReading();
            $step = new EditorialStep($context, $database);

            return new RankStep($context, $database)->tryOut(
                'reviews',
                $isMeant,
                $isEnd ? null : $entry($step),
                $nothing,
            );
        }

        return $this->write($context, static function (Database $database) use (
            $category,
            $context,
            $entry,
            $isEnd,
            $isMeant,
            $joined,
            $nothing,
            $of,
            $region,
        ): ExitCode {
            $step = new EditorialStep($context, $database);
            if (!$step->change('reviews', $isMeant, $isEnd ? null : $entry($step))) {
                throw WriterException::usage($nothing);
            }
            if (
                !$isEnd &&
                $category !== null &&
                !new EditorialStore($database)->hasCategory($category, $joined)
            ) {
                $context->log->warning(
                    "No stored video is of category \"$category\": it waits when it comes.",
                    [
                        'event' => 'unknown_subject',
                        'category' => $category,
                    ],
                );
            }
            $done = $isEnd ? 'Ended the review' : 'Made a review';
            $context->log->info("$done of $of: the next generation follows it.", [
                'event' => $isEnd ? 'review_ended' : 'held',
                'region' => $region,
                'category' => $category,
            ]);

            return ExitCode::Ok;
        });
    }

    /** @throws WriterException where a review would end before it begins */
    private static function before(?string $until, string $since): string
    {
        return (Rfc3339::parse($since) ?? 0) < (Rfc3339::parse($until ?? '') ?? PHP_INT_MAX)
            ? $since
            : throw WriterException::usage("--until: expected a time after --since ($since); $until is not.");
    }
}

/** Publishes a generation and logs it. */
final readonly class RankStep
{
    public function __construct(private Context $context, private Database $database) {}

    /**
     * @param ?int $at UTC seconds; null for now, if the clock can be believed
     * @param bool $allowsEmpty whether a list may become empty that is not
     * @throws NotPublished|WriterException
     */
    public function run(?int $at = null, bool $allowsEmpty = false): void
    {
        self::allowMemory();
        $started = hrtime(true);
        $now = $this->context->now();
        $ranking = $this->ranking(new EditorialStep($this->context, $this->database)->run(), $now);
        $fullSince = $allowsEmpty ? null : $this->fullSince($now);
        $generation =
            $at === null
                ? $ranking->publish($now, $fullSince)
                : $ranking->publishAt($at, max($at, $now), $fullSince);
        $seconds = (hrtime(true) - $started) / 1e9;
        $this->context->log->info(
            sprintf(
                'Published generation %d: %s videos ranked, in %.1f s.',
                $generation->id,
                number_format($generation->videoCount),
                $seconds,
            ),
            [
                'event' => 'published',
                'generation' => $generation->id,
                'videos' => $generation->videoCount,
                'ranks' => $generation->rowCount,
                'formula' => $generation->formula,
                'seconds' => round($seconds, 3),
            ],
        );
        foreach ($generation->leftOut as $region => $videos) {
            $this->context->log->warning(
                sprintf(
                    '%s videos of %s do not rank, because they do not fit into memory: those with the fewest views an hour.',
                    number_format($videos),
                    $region,
                ),
                ['event' => 'videos_left_out', 'region' => $region, 'videos' => $videos],
            );
        }
        if ($generation->futureCount > 0) {
            $this->context->log->warning(
                sprintf(
                    '%s videos do not rank: their newest observation is of the future. Run `writer repair`.',
                    number_format($generation->futureCount),
                ),
                ['event' => 'observations_in_the_future', 'videos' => $generation->futureCount],
            );
        }
    }

    /**
     * The lists of 250 regions take some 500 MB while they are made, and PHP's own limit is 128. A larger one, or none,
     * stays; what SQLite takes comes on top, and both fit the unit's MemoryMax. Not for the whole program: what others
     * send is read within the smaller one.
     */
    private static function allowMemory(): void
    {
        $limit = ini_parse_quantity((string) ini_get('memory_limit'));
        if ($limit > 0 && $limit < 640 << 20) {
            ini_set('memory_limit', '640M');
        }
    }

    /**
     * Prints what a change of the editorial file would change in the lists of now.
     *
     * @param Closure(stdClass): bool $isReplaced see EditorialFile::change()
     * @param ?array<string, mixed> $entry null for an end
     * @param string $nothing what is wrong where there is nothing to end
     * @throws WriterException
     */
    public function tryOut(string $list, Closure $isReplaced, ?array $entry, string $nothing): ExitCode
    {
        $this->database->execute('BEGIN'); // both are of the same counts
        $now = $this->context->now();
        $step = new EditorialStep($this->context, $this->database);
        if ($entry === null && !array_any($step->entries($list), $isReplaced)) {
            throw WriterException::usage($nothing);
        }
        $changed = $step->changed($list, $isReplaced, $entry);
        $lines = self::changes(
            $this->preview(new EditorialStore($this->database)->inForce(), $now),
            $this->preview($changed, $now),
        );
        $this->context->write(implode("\n", $lines === [] ? ['No list would change.'] : $lines) . "\n");

        return ExitCode::Ok;
    }

    /**
     * The lists as some editorial file would have them.
     *
     * @param int $now UTC seconds
     * @return array<string, list<string>> see RankingPublisher::preview()
     */
    private function preview(Decisions $editorial, int $now): array
    {
        self::allowMemory();

        return $this->ranking($editorial, $now)->preview($now);
    }

    private function ranking(Decisions $editorial, int $now): RankingPublisher
    {
        $limit = $this->context->settings->regionTable()->channelLimit;

        return new RankingPublisher(
            $this->database,
            $this->context->settings->exploreShare,
            SourceKinds::of($this->context->settings->sources),
            $this->context->settings->regions(),
            $limit === null
                ? new ChannelLimit()
                : new ChannelLimit((int) $limit['videos'], (int) $limit['within_ranks']),
            $editorial->pinsAt($now),
            new EditorialStore($this->database)->rulesAt(
                $now,
                $editorial,
                $this->context->settings->regionTable()->categories,
            ),
        );
    }

    /** A region that was not observed for OBSERVATION_RETENTION_HOURS loses its list by age: it must not keep the others from being published. */
    private function fullSince(int $now): int
    {
        return new Cutoff($this->database)->isClockSteady($now)
            ? Cutoff::byClock($now, $this->context->settings->observationRetentionHours)
            : 0;
    }

    /**
     * @param array<string, list<string>> $before ids by rank, by list
     * @param array<string, list<string>> $after
     * @return list<string> a line for each video that enters, leaves or moves
     */
    private static function changes(array $before, array $after): array
    {
        $lines = [];
        foreach ($before + $after as $list => $_) {
            [$old, $new] = [self::ranks($before[$list] ?? []), self::ranks($after[$list] ?? [])];
            foreach ($old + $new as $id => $_) {
                [$from, $to] = [$old[$id] ?? null, $new[$id] ?? null];
                if ($from !== $to) {
                    $lines[] =
                        "$list: " .
                        match (true) {
                            $to === null => "leaves $from",
                            $from === null => "enters $to",
                            default => "moves $from to $to",
                        } .
                        " $id";
                }
            }
        }

        return $lines;
    }

    /**
     * @param list<string> $ids by rank
     * @return array<int> ranks from 1, by id
     */
    private static function ranks(array $ids): array
    {
        return array_map(static fn(int $index): int => $index + 1, array_flip($ids));
    }
}
