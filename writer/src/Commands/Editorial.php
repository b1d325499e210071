<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Closure;
use Override;
use stdClass;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Removals;
use TrendVault\Writer\Editorial\Editorial as Decisions;
use TrendVault\Writer\Editorial\EditorialFile;
use TrendVault\Writer\Editorial\EditorialStore;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Observations\Restrictions;
use TrendVault\Writer\Time\Rfc3339;
use TrendVault\Writer\WriterException;

#[AsCommand('editorial', 'Lists what editors decided: by whom, until when, why, and whether it is shown')]
final class Editorial extends WriterCommand
{
    private const int MOST_WAITING = 100;

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $database = $context->openForReading();
        $store = new EditorialStore($database);
        $stored = $store->stored();
        $now = $context->now();
        $editorial = $store->inForce();
        [$exitCode, $present] = self::present(new EditorialStep($context, $database)->file, $store, $now);
        $lines = [
            match (true) {
                $stored === null => 'No file is in force: the last run had no EDITORIAL_FILE.',
                $stored['read_at'] === null => 'No EDITORIAL_FILE could be read yet.',
                default => 'In force is the file as it was read at ' . Rfc3339::format($stored['read_at']),
            },
            ...$present,
        ];
        foreach (new Removals($database)->ofOperators() as [$kind, $name, $reason]) {
            $lines[] = "removed  $kind->value $name: $reason — in the database only, until `allow`";
        }
        foreach ($editorial->removals as [$kind, $name, $reason, $by]) {
            $lines[] = "removed  $kind->value $name" . self::why($reason, $by);
        }
        foreach ($editorial->pins as $pin) {
            $isOver = $pin->until <= $now;
            $hidden = $isOver ? null : $store->reasonNotShown($pin, $now);
            $lines[] =
                "pinned   video $pin->videoId at rank $pin->rank of " .
                trim($pin->listName()) .
                ', until ' .
                Rfc3339::format($pin->until) .
                ($pin->sponsor === null
                    ? ''
                    : ", sponsored by {$pin->sponsor['name']}, paid by {$pin->sponsor['paid_by']}") .
                self::why($pin->reason, $pin->by) .
                self::results($store->results($pin)) .
                match (true) {
                    $isOver => ' — over',
                    $hidden !== null => " — not shown: $hidden",
                    default => '',
                };
        }
        $idle = $store->idle(
            array_filter($editorial->rules, static fn(array $rule): bool => $rule['until'] > $now),
        );
        foreach ($editorial->rules as $index => $rule) {
            $lines[] =
                'rule     ' .
                ($rule['factor'] === 0.0 ? 'never' : "× {$rule['factor']}") .
                " for {$rule['kind']} {$rule['name']}" .
                ($rule['region'] === null ? '' : " in {$rule['region']}") .
                ', until ' .
                Rfc3339::format($rule['until']) .
                self::why($rule['reason'], $rule['by']) .
                match (true) {
                    $rule['until'] <= $now => ' — over',
                    isset($idle[$index]) => ' — nothing is of it now',
                    default => '',
                };
        }
        $categories = $context->settings->regionTable()->categories;
        foreach ($editorial->reviews as $review) {
            $category = $review['category'];
            $lines[] =
                'review   ' .
                trim("{$review['region']} $category") .
                ', of what came after ' .
                Rfc3339::format($review['since']) .
                "; after {$review['hours']} h it " .
                ($review['enters'] ? 'enters' : 'stays out') .
                ($review['until'] === null ? '' : ', until ' . Rfc3339::format($review['until'])) .
                self::why($review['reason'], $review['by']) .
                match (true) {
                    ($review['until'] ?? PHP_INT_MAX) <= $now => ' — over',
                    $category !== null && !$store->hasCategory($category, $categories)
                        => ' — no video has this category',
                    default => '',
                };
        }
        foreach ($editorial->allowed as [$kind, $name, $reason, $by]) {
            $lines[] =
                "allowed  $kind->value $name, which waits for no review" .
                ($reason === '' ? '' : ": $reason") .
                ($by === null ? '' : " ($by)");
        }
        foreach ($editorial->lifted as $lift) {
            $isSaid = in_array($lift['field'], new Restrictions($database)->fieldsOf($lift['video']), true);
            $lines[] =
                "lifted   {$lift['field']} of video {$lift['video']}" .
                ($lift['until'] === null ? '' : ', until ' . Rfc3339::format($lift['until'])) .
                self::why($lift['reason'], $lift['by']) .
                match (true) {
                    ($lift['until'] ?? PHP_INT_MAX) <= $now => ' — over',
                    !$isSaid => ' — no source says it now',
                    default => '',
                };
        }
        $waiting = $store->waiting($now);
        foreach (array_slice($waiting, 0, self::MOST_WAITING) as $video) {
            $lines[] =
                "waits    video {$video['id']} in {$video['region']}, until " .
                Rfc3339::format($video['until']) .
                ($video['enters'] === 1 ? ', then enters' : ', then stays out') .
                ": {$video['title']} ({$video['channel']})";
        }
        if (count($waiting) > self::MOST_WAITING) {
            $lines[] = 'waits    ' . (count($waiting) - self::MOST_WAITING) . ' more';
        }
        $all = self::results($store->results());
        if ($all !== '') {
            $lines[] = "All placed videos$all.";
        }
        $context->write(implode("\n", array_map(self::visible(...), $lines)) . "\n");

        return $exitCode;
    }

    /**
     * What the file says by now, which the next run takes over.
     *
     * @return array{ExitCode, list<string>}
     */
    private static function present(?EditorialFile $file, EditorialStore $store, int $now): array
    {
        $stored = $store->stored();
        if ($file === null) {
            return [ExitCode::Ok, $stored === null ? [] : ['EDITORIAL_FILE is not set here.']];
        }
        $since =
            ($stored['failed_at'] ?? null) === null
                ? ''
                : ' (runs refuse it since ' . Rfc3339::format($stored['failed_at']) . ')';
        try {
            [$text] = $store->read($file, $now);
        } catch (WriterException $failure) {
            return [ExitCode::Usage, explode("\n", "Now the file is wrong$since. {$failure->getMessage()}")];
        }
        $isTaken = $since === '' && $text === ($stored['text'] ?? null);

        return [
            ExitCode::Ok,
            [
                ...$isTaken
                    ? []
                    : ["Now the file is another one, without a mistake: the next run takes it over$since."],
                ...$text === $file->text()
                    ? []
                    : ['What it says of an erased name is left out: take it out there, too.'],
            ],
        ];
    }

    /** @param array{ranks: int, impressions: float, clicks: float, model_clicks: float} $results */
    private static function results(array $results): string
    {
        ['impressions' => $impressions, 'clicks' => $clicks, 'model_clicks' => $model] = $results;
        $got = number_format($clicks) . ' clicks of ' . number_format($impressions) . ' impressions';

        return match (true) {
            $impressions <= 0.0 => '',
            $model <= 0.0 => " — got $got",
            default => " — got $got; in the order of scores " . number_format($model) . ' are expected',
        };
    }

    private static function why(string $reason, ?string $by): string
    {
        return ': ' . $reason . ($by === null ? '' : " ($by)");
    }
}

#[AsCommand('pin', 'Places a video at a rank of a list until a time, in EDITORIAL_FILE')]
final class Pin extends WriterCommand
{
    private const string HELP = <<<'TEXT'
    The next generation has it. Again, for the same video and list, it replaces the pin; --end takes it
    out. What visitors do with the video at that place changes no score. With --sponsor it is labelled
    as an advertisement.
    TEXT;

    #[Override]
    protected function configure(): void
    {
        $this->addArgument(
            'video',
            InputArgument::REQUIRED,
            'The id of the video; one that starts with a hyphen goes after --',
        )->setHelp(self::HELP);
        foreach (
            [
                'region' => 'The region of the list, such as GB',
                'window' => 'now, day or week (default: now)',
                'category' => 'A category (default: the list over all)',
                'rank' => 'From 1 to 50 (default: 1)',
                'until' => 'When it ends, such as 2026-12-24T18:00:00Z',
                'reason' => 'Why, for those who ask later; at most 300 characters',
                'by' => 'Who decided it',
                'sponsor' => 'On whose behalf it is shown',
                'paid-by' => 'Who paid for it (default: the sponsor)',
            ]
            as $name => $description
        ) {
            $this->addOption($name, mode: InputOption::VALUE_REQUIRED, description: $description);
        }
        $this->addOption('end', mode: InputOption::VALUE_NONE, description: 'Take the pin out');
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $given = static fn(string $name): ?string => self::option($input, $name);
        $key = [
            'video' => self::argument($input, 'video'),
            'region' =>
                $given('region') ??
                throw WriterException::usage('--region is missing. See writer pin --help.'),
            'window' => $given('window') ?? 'now',
            'category' => $given('category'),
        ];
        $isMeant = static fn(stdClass $pin): bool => $pin->video === $key['video'] &&
            $pin->region === $key['region'] &&
            $pin->window === $key['window'] &&
            ($pin->category ?? null) === $key['category'];
        $entry = self::isGiven($input, 'end') ? null : self::entry($key, $given);

        return $this->write($context, static function (Database $database) use (
            $context,
            $entry,
            $isMeant,
            $key,
        ): ExitCode {
            $step = new EditorialStep($context, $database);
            $refusal =
                $entry === null
                    ? null
                    : new EditorialStore($database)->reasonToRefuse(
                        $key['video'],
                        $key['region'],
                        $key['category'],
                        (string) $entry['until'],
                        $context->now(),
                    );
            if ($refusal !== null) {
                throw WriterException::usage("Nothing is pinned, it would never be shown.\n$refusal");
            }
            if (!$step->change('pins', $isMeant, $entry)) {
                throw WriterException::usage("Nothing to end: {$key['video']} is not pinned in that list.");
            }
            $done = $entry === null ? 'Ended the pin of' : 'Pinned';
            $context->log->info("$done {$key['video']}: the next generation has it.", [
                'event' => $entry === null ? 'unpinned' : 'pinned',
                ...$key,
            ]);

            return ExitCode::Ok;
        });
    }

    /**
     * @param array<string, ?string> $key
     * @param Closure(string): ?string $given
     * @return array<string, mixed>
     */
    private static function entry(array $key, Closure $given): array
    {
        $rank = $given('rank') ?? '1';
        $sponsor = $given('sponsor');
        if ($sponsor === null && $given('paid-by') !== null) {
            throw WriterException::usage('--paid-by: expected with --sponsor.'); // or nobody would be told
        }
        $by = $given('by');

        return [
            ...$key,
            'rank' => ctype_digit($rank) ? (int) $rank : $rank,
            'until' => $given('until') ?? '',
            'reason' => $given('reason') ?? '',
            ...$by === null ? [] : ['by' => $by],
            'placed_by' => $sponsor === null ? 'editor' : 'sponsor',
            ...$sponsor === null
                ? []
                : ['sponsor' => ['name' => $sponsor, 'paid_by' => $given('paid-by') ?? $sponsor]],
        ];
    }
}

/** Reads EDITORIAL_FILE at every run, and changes it for commands. */
final readonly class EditorialStep
{
    /** Null when none is set. */
    public ?EditorialFile $file;
    private EditorialStore $store;

    public function __construct(private Context $context, private Database $database)
    {
        $path = $context->settings->editorialFile();
        $this->file =
            $path === null ? null : new EditorialFile($path, $context->settings->regionTable()->codes());
        $this->store = new EditorialStore($database);
    }

    /** Takes over what the file says now; of one that is wrong it is said, and one before stays in force. */
    public function run(): Decisions
    {
        $now = $this->context->now();
        $failure = $this->store->refresh($this->file, $now);
        if ($failure !== null) {
            $isBefore = ($this->store->stored()['text'] ?? null) !== null;
            $inForce = $isBefore ? 'The last file that could be read stays' : 'No file is';
            $this->context->log->error("$failure\n$inForce in force.", [
                'event' => 'editorial_refused',
            ]);
        }

        $editorial = $this->store->inForce();
        new Restrictions($this->database)->lift($editorial->liftedAt($now), $now);

        return $editorial;
    }

    /**
     * Changes the file, and takes it over.
     *
     * @param Closure(stdClass): bool $isReplaced
     * @param ?array<string, mixed> $entry
     * @throws WriterException
     */
    public function change(string $list, Closure $isReplaced, ?array $entry): bool
    {
        $isChanged = $this->expected()->change($list, $isReplaced, $entry, $this->context->now());
        $this->run();

        return $isChanged;
    }

    /**
     * What the file would say after change().
     *
     * @param Closure(stdClass): bool $isReplaced
     * @param ?array<string, mixed> $entry
     * @throws WriterException
     */
    public function changed(string $list, Closure $isReplaced, ?array $entry): Decisions
    {
        $now = $this->context->now();
        $file = $this->expected();

        return $file->parse($file->changed($list, $isReplaced, $entry, $now)[0], $now);
    }

    /**
     * What the file has in a list now.
     *
     * @return list<stdClass>
     * @throws WriterException
     */
    public function entries(string $list): array
    {
        return $this->expected()->entries($list, $this->context->now());
    }

    /** @throws WriterException where none is set */
    private function expected(): EditorialFile
    {
        return $this->file ??
            throw WriterException::usage(
                'EDITORIAL_FILE is not set. Expected the path of a JSON file; {} is enough to begin with.',
            );
    }
}
