<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Psr\Log\LoggerInterface;
use stdClass;
use Stringable;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Erasures;
use TrendVault\Writer\Database\RemovalKind;
use TrendVault\Writer\Database\Removals;
use TrendVault\Writer\Editorial\EditorialStore;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Observations\Restrictions;
use TrendVault\Writer\Time\Rfc3339;
use TrendVault\Writer\WriterException;

#[AsCommand('remove', 'Takes a video or a channel down: out of every list, and it stays out')]
final class Remove extends WriterCommand
{
    private const string HELP = <<<'TEXT'
    The origin leaves it out of every page at once, and edges do so within 15 minutes. Its views are
    stored as before, so that `writer allow` brings it back with the next generation. A video or a
    channel that is not known yet is kept out, too. Again, it replaces the reason. With
    EDITORIAL_FILE, it is written there; where that fails, it is in force all the same, and it says so.
    TEXT;

    #[Override]
    protected function configure(): void
    {
        $this->addArgument(
            'name',
            InputArgument::REQUIRED,
            'The id of the video; one that starts with a hyphen goes after --',
        )
            ->addOption(
                'channel',
                mode: InputOption::VALUE_NONE,
                description: 'All videos of a channel: the name is the channel\'s, exactly',
            )
            ->addOption(
                'reason',
                mode: InputOption::VALUE_REQUIRED,
                description: 'Why, for those who ask later; at most 300 characters',
                default: Removals::NO_REASON,
            )
            ->addOption(
                'by',
                mode: InputOption::VALUE_REQUIRED,
                description: 'Who decided it, for EDITORIAL_FILE',
            )
            ->setHelp(self::HELP);
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $subject = RemovalSubject::read(self::argument($input, 'name'), self::isGiven($input, 'channel'));
        $reason = self::option($input, 'reason') ?? '';
        $by = self::option($input, 'by');

        return $this->write($context, static function (Database $database) use (
            $context,
            $by,
            $reason,
            $subject,
        ): ExitCode {
            if ($subject->isErased($database)) {
                $context->log->info(
                    'It was erased: it is kept out already, and its name is not stored again.',
                    [
                        'event' => 'removed_erased',
                    ],
                );

                return ExitCode::Ok;
            }
            $editors = new EditorialStep($context, $database);
            $refusal = null;
            try {
                if ($editors->file !== null) {
                    $editors->change('removals', $subject->isMeant(...), [
                        $subject->kind->value => $subject->name,
                        'reason' =>
                            $reason === ''
                                ? Removals::NO_REASON
                                : mb_substr($reason, 0, Removals::MAX_REASON_CHARACTERS),
                        ...$by === null ? [] : ['by' => $by],
                    ]);
                }
            } catch (WriterException $failure) {
                $refusal = $failure->getMessage(); // No file may hold up a court order.
            }
            if ($editors->file === null || $refusal !== null) {
                new Removals($database)->remove($subject->kind, $subject->name, $reason, $context->now());
            }
            $context->log->info("Removed $subject: edges serve it for at most 15 minutes more.", [
                'event' => 'removed',
                $subject->kind->value => $subject->name,
                'reason' => $reason,
            ]);
            if ($refusal !== null) {
                $context->log->warning(
                    "The removal is in the database only: it stays until `allow`, or until the file has named it and no longer does.\n$refusal",
                    ['event' => 'removed_without_file'],
                );
            }
            $subject->warnIfUnknown($database, $context->log, 'it is kept out');

            return ExitCode::Ok;
        });
    }
}

#[
    AsCommand(
        'allow',
        'Undoes `remove`, ends a review, and lifts what sources restrict: the next generation ranks it',
    ),
]
final class Allow extends WriterCommand
{
    private const string HELP = <<<'TEXT'
    With --field, lines do not restrict the video with that field any more, whatever source says it, in
    EDITORIAL_FILE, until --end. After --until it is not shown, unless no line restricts it then.
    Without --field, --end lets it wait for reviews again.
    TEXT;

    #[Override]
    protected function configure(): void
    {
        $this->addArgument(
            'name',
            InputArgument::REQUIRED,
            'The id of the video; one that starts with a hyphen goes after --',
        )
            ->addOption('channel', mode: InputOption::VALUE_NONE, description: 'The name is a channel\'s')
            ->addOption('end', mode: InputOption::VALUE_NONE, description: 'Take it back')
            ->setHelp(self::HELP);
        foreach (
            [
                'field' =>
                    'What does not restrict the video: ' . implode(', ', ObservationParser::RESTRICTING),
                'until' => 'When that ends, such as 2026-12-24T18:00:00Z (default: with --end)',
                'reason' => 'Why, with --field; at most 300 characters',
                'by' => 'Who decided it, after a review or with --field',
            ]
            as $name => $description
        ) {
            $this->addOption($name, mode: InputOption::VALUE_REQUIRED, description: $description);
        }
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $subject = RemovalSubject::read(self::argument($input, 'name'), self::isGiven($input, 'channel'));
        $given = static fn(string $name): ?string => self::option($input, $name);
        $by = $given('by');
        $field = $given('field');
        if ($field !== null) {
            if ($subject->kind === RemovalKind::Channel) {
                throw WriterException::usage('--field: expected with the id of a video, without --channel.');
            }
            if (!in_array($field, ObservationParser::RESTRICTING, true)) {
                throw WriterException::usage(
                    '--field: expected one of ' . implode(', ', ObservationParser::RESTRICTING) . '.',
                );
            }
            $entry = [
                'video' => $subject->name,
                'field' => $field,
                ...$given('until') === null ? [] : ['until' => $given('until')],
                'reason' => $given('reason') ?? '',
                ...$by === null ? [] : ['by' => $by],
            ];

            return $this->lift($context, $entry, self::isGiven($input, 'end'));
        }
        foreach (['until', 'reason'] as $name) {
            if ($given($name) !== null) {
                throw WriterException::usage("--$name: expected with --field.");
            }
        }
        if (self::isGiven($input, 'end')) {
            return $this->end($context, $subject);
        }

        return $this->write($context, static function (Database $database) use (
            $by,
            $context,
            $subject,
        ): ExitCode {
            $editors = new EditorialStep($context, $database);
            try {
                $isNamed =
                    $editors->file !== null && $editors->change('removals', $subject->isMeant(...), null);
            } catch (WriterException $failure) {
                $isNamed = false;
                $isOperators = array_any(
                    new Removals($database)->ofOperators(),
                    static fn(array $one): bool => $one[0] === $subject->kind && $one[1] === $subject->name,
                );
                if (!$isOperators) {
                    throw $failure;
                }
            }
            $isRemoved = new Removals($database)->allow($subject->kind, $subject->name) || $isNamed;
            $isReviewed = new EditorialStore($database)->inForce()->reviewsAt($context->now()) !== [];
            if (!$isRemoved && !$isReviewed) {
                $fields = new Restrictions($database)->fieldsOf($subject->name);
                throw WriterException::usage(
                    "Nothing to allow: $subject is not removed, and there is no review." .
                        ($fields === []
                            ? ''
                            : "\nSources restrict it: --field lifts one of " . implode(', ', $fields) . '.'),
                );
            }
            try {
                if ($isReviewed) {
                    $editors->change('allowed', $subject->isMeant(...), [
                        $subject->kind->value => $subject->name,
                        ...$by === null ? [] : ['by' => $by],
                    ]);
                    $subject->warnIfUnknown($database, $context->log, 'it need not wait');
                }
            } catch (WriterException $failure) {
                if (!$isRemoved) {
                    throw $failure;
                }
                $context->log->warning(
                    "It is not removed any more, but where it is new, it waits for the review.\n{$failure->getMessage()}",
                    ['event' => 'allowed_without_file'],
                );
            }
            $context->log->info("Allowed $subject again.", [
                'event' => 'allowed',
                $subject->kind->value => $subject->name,
            ]);

            return ExitCode::Ok;
        });
    }

    private function end(Context $context, RemovalSubject $subject): ExitCode
    {
        return $this->write($context, static function (Database $database) use (
            $context,
            $subject,
        ): ExitCode {
            if (!new EditorialStep($context, $database)->change('allowed', $subject->isMeant(...), null)) {
                throw WriterException::usage("Nothing to end: $subject waits for reviews.");
            }
            $context->log->info("Where it is new, $subject waits for reviews again.", [
                'event' => 'allow_ended',
                $subject->kind->value => $subject->name,
            ]);

            return ExitCode::Ok;
        });
    }

    /** @param array{video: string, field: string, until?: ?string, reason: string, by?: string} $entry */
    private function lift(Context $context, array $entry, bool $isEnd): ExitCode
    {
        ['video' => $video, 'field' => $field] = $entry;
        $until = $entry['until'] ?? null;
        if (!$isEnd && $until !== null && (Rfc3339::parse($until) ?? PHP_INT_MAX) <= $context->now()) {
            throw WriterException::usage("--until: expected a time to come; $until is over.");
        }

        return $this->write($context, static function (Database $database) use (
            $context,
            $entry,
            $field,
            $isEnd,
            $video,
        ): ExitCode {
            $fields = new Restrictions($database)->fieldsOf($video);
            if (!$isEnd && !in_array($field, $fields, true)) {
                $others = $fields === [] ? '' : ', but ' . implode(', ', $fields);
                throw WriterException::usage(
                    "Nothing to lift: no source says $field of video $video$others.",
                );
            }
            $isMeant = static fn(stdClass $one): bool => $one->video === $video && $one->field === $field;
            if (!new EditorialStep($context, $database)->change('lifted', $isMeant, $isEnd ? null : $entry)) {
                throw WriterException::usage("Nothing to end: $field of video $video is not lifted.");
            }
            $done = $isEnd ? 'Ended the lifting of' : 'Lifted';
            $context->log->info("$done $field of video $video: the next generation follows it.", [
                'event' => $isEnd ? 'lift_ended' : 'lifted',
                'video' => $video,
                'field' => $field,
            ]);

            return ExitCode::Ok;
        });
    }
}

/** The video or the channel that `remove` and `allow` name. */
final readonly class RemovalSubject implements Stringable
{
    private const int MAX_CHANNEL_CHARACTERS = 200;

    private function __construct(public RemovalKind $kind, public string $name) {}

    /** @throws WriterException when no video or channel could have that name */
    public static function read(string $name, bool $isChannel): self
    {
        $length = mb_strlen($name);

        return match (true) {
            !$isChannel => preg_match(ObservationParser::ID, $name) === 1
                ? new self(RemovalKind::Video, $name)
                : throw WriterException::usage(
                    "Cannot read $name: expected the id of a video. For a channel give --channel.",
                ),
            $length >= 1 && $length <= self::MAX_CHANNEL_CHARACTERS && mb_check_encoding($name, 'UTF-8')
                => new self(RemovalKind::Channel, $name),
            default => throw WriterException::usage(
                'Cannot read the channel: expected a name of 1 to 200 characters of UTF-8.',
            ),
        };
    }

    /** Whether an entry of the editorial file is about it. */
    public function isMeant(stdClass $entry): bool
    {
        return ($entry->{$this->kind->value} ?? null) === $this->name;
    }

    public function isErased(Database $database): bool
    {
        $erasures = new Erasures($database);

        return $this->kind === RemovalKind::Video
            ? $erasures->hasVideo($this->name)
            : $erasures->hasChannel($this->name);
    }

    /** @param string $effect of what was decided, once it is known */
    public function warnIfUnknown(Database $database, LoggerInterface $log, string $effect): void
    {
        $column = $this->kind === RemovalKind::Video ? 'id' : 'channel';
        if ($database->value("SELECT 1 FROM videos WHERE $column = ? LIMIT 1", [$this->name]) === null) {
            $of = $this->kind === RemovalKind::Video ? 'is' : 'is of';
            $log->warning("No stored video $of $this: $effect when it comes.", [
                'event' => 'unknown_subject',
                $this->kind->value => $this->name,
            ]);
        }
    }

    /** As in `video dQw4w9WgXcQ` or `channel "Music"`. */
    #[Override]
    public function __toString(): string
    {
        return $this->kind === RemovalKind::Video ? "video $this->name" : "channel \"$this->name\"";
    }
}
