<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Psr\Log\LoggerInterface;
use Stringable;
use Symfony\Component\Console\Input\InputInterface;
use TrendVault\Writer\Cli\UsageError;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\RemovalKind;
use TrendVault\Writer\Observations\ObservationParser;

/** The video or the channel that `remove` and `allow` name. */
final readonly class RemovalSubject implements Stringable
{
    private const int MAX_CHANNEL_CHARACTERS = 200;

    private function __construct(public RemovalKind $kind, public string $name) {}

    /** @throws UsageError when no video or channel could have that name */
    public static function read(InputInterface $input): self
    {
        $name = $input->getArgument('name');
        $length = mb_strlen($name);

        return match (true) {
            !$input->getOption('channel') => preg_match(ObservationParser::ID, $name) === 1
                ? new self(RemovalKind::Video, $name)
                : throw UsageError::because(
                    "Cannot read $name: expected the id of a video. For a channel give --channel.",
                ),
            $length >= 1 && $length <= self::MAX_CHANNEL_CHARACTERS && mb_check_encoding($name, 'UTF-8')
                => new self(RemovalKind::Channel, $name),
            default => throw UsageError::because(
                'Cannot read the channel: expected a name of 1 to 200 characters of UTF-8.',
            ),
        };
    }

    public function warnIfUnknown(Database $database, LoggerInterface $log): void
    {
        $column = $this->kind === RemovalKind::Video ? 'id' : 'channel';
        if ($database->value("SELECT 1 FROM videos WHERE $column = ? LIMIT 1", [$this->name]) === null) {
            $log->warning("No stored video is $this: it is kept out when it comes.", [
                'event' => 'removed_unknown',
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
