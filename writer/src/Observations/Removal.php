<?php

declare(strict_types=1);

namespace TrendVault\Writer\Observations;

use TrendVault\Writer\Database\RemovalKind;

/**
 * A line that takes a video or a channel down, instead of counting views:
 * `{"id": "dQw4w9WgXcQ", "removed": true, "reason": "…"}`, or `channel` in place of `id`.
 */
final readonly class Removal
{
    private const string MARK = '"removed"';
    private const int MAX_CHANNEL_CHARACTERS = 200;

    private function __construct(public RemovalKind $kind, public string $name, public string $reason) {}

    /**
     * Null for every other line. A reason that is missing or no text does not keep a video up.
     *
     * @throws RejectedLine when it does not say what is removed
     */
    public static function parse(string $line): ?self
    {
        $fields = str_contains($line, self::MARK) ? json_decode($line, true) : null;
        if (!is_array($fields) || ($fields['removed'] ?? null) !== true) {
            return null;
        }
        $reason = is_string($fields['reason'] ?? null)
            ? trim((string) preg_replace('/\p{C}+/u', ' ', $fields['reason']))
            : '';

        return isset($fields['id'])
            ? new self(RemovalKind::Video, self::videoId($fields['id']), $reason)
            : new self(RemovalKind::Channel, self::channel($fields['channel'] ?? null), $reason);
    }

    /** @throws RejectedLine */
    private static function videoId(mixed $id): string
    {
        return is_string($id) && preg_match(ObservationParser::ID, $id) === 1
            ? $id
            : throw new RejectedLine(RejectionReason::BadId, 'id: expected the id of the removed video');
    }

    /** @throws RejectedLine */
    private static function channel(mixed $channel): string
    {
        return is_string($channel) && $channel !== '' && mb_strlen($channel) <= self::MAX_CHANNEL_CHARACTERS
            ? $channel
            : throw new RejectedLine(
                RejectionReason::MissingField,
                'id: expected the removed video, or the removed channel in channel; both are missing',
            );
    }
}
