<?php

declare(strict_types=1);

namespace TrendVault\Writer\Observations;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Time\Rfc3339;

/**
 * When and where a video may be shown, for whom, and whether it is live. Each source has its own say, in the table restrictions, and
 * what all say together is in columns of videos: whoever restricts more counts.
 *
 * @phpstan-type Said array{mature?: ?bool, made_for_kids?: ?bool, available_from?: ?int, available_until?: ?int, countries?: ?array{allowed?: list<string>, excluded?: list<string>}, live?: 'now'|'scheduled'|'recorded', live_until?: int, live_at?: int}
 */
final readonly class Restrictions
{
    /** What reason() reads, of the table v. */
    public const string COLUMNS = 'v.held_because, v.available_from, v.available_until, v.countries';

    private const string FIND = 'SELECT fields, said_at FROM restrictions WHERE video_id = ? AND source = ?';
    private const string FIND_ALL = 'SELECT fields FROM restrictions WHERE video_id = ? ORDER BY source';
    private const string FIND_LIFTED = 'SELECT field, until FROM lifted WHERE video_id = ?';
    private const string SAVE = <<<'SQL'
    INSERT INTO restrictions (video_id, source, said_at, fields) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET said_at = excluded.said_at, fields = excluded.fields
    SQL;
    private const string JOIN = 'UPDATE videos SET held_because = ?, available_from = ?, available_until = ?, countries = ?, live = ?, live_until = ?, made_for_kids = ? WHERE id = ?';
    /** Without an end, these last for so long after the newest line that says so. */
    public const array LIVE_SECONDS = ['now' => 3 * 3600, 'scheduled' => 48 * 3600];
    /** What visitors did with a video before it was made for kids. */
    private const array FORGET = [
        'DELETE FROM impressions WHERE video_id = ?',
        'UPDATE placed_ranks SET impressions = 0, clicks = 0, model_clicks = 0 WHERE video_id = ?',
    ];
    /** How many videos are in no list, by the reason in their lines. */
    public const string HELD = 'SELECT held_because AS reason, count(*) AS videos FROM videos WHERE held_because IS NOT NULL GROUP BY 1 ORDER BY 1';

    public function __construct(private Database $database) {}

    /**
     * Stores what a source's line says of a known video, unless a newer one of that source said something. A field that it
     * does not have stays.
     *
     * @param int $saidAt UTC seconds
     * @param array<string, mixed> $said by field: false for no restriction, and not live; null for a bad value
     * @param list<string> $unset fields that the source takes back
     * @return ?bool whether that changes what the source says; null where a newer line says it
     */
    public function say(string $videoId, int $source, int $saidAt, array $said, array $unset): ?bool
    {
        /** @var ?array{fields: string, said_at: int} $stored a row */
        $stored = $this->database->row(self::FIND, [$videoId, $source]);
        if ($saidAt < ($stored['said_at'] ?? $saidAt)) {
            return null;
        }
        $before = self::decode($stored['fields'] ?? '{}');
        $fields = [];
        $said = array_filter(
            $said,
            static fn(mixed $value, string $name): bool => $value !== null ||
                !in_array($name, ObservationParser::LIVE, true),
            ARRAY_FILTER_USE_BOTH,
        );
        foreach (ObservationParser::SAID as $name) {
            $of = match (true) {
                array_key_exists($name, $said) => $said,
                in_array($name, $unset, true) => [],
                default => $before,
            };
            if (array_key_exists($name, $of) && $of[$name] !== false) {
                $fields[$name] = $of[$name];
            }
        }
        if (isset($fields['live'])) {
            $isSaid = isset($said['live']);
            $fields['live_at'] = $isSaid ? $saidAt : $before['live_at'] ?? $saidAt;
            if ($isSaid && !isset($said['live_until']) && ($before['live_until'] ?? PHP_INT_MAX) <= $saidAt) {
                unset($fields['live_until']); // of the time before
            }
        }
        $text = json_encode((object) $fields, JSON_THROW_ON_ERROR);
        $isOther = $text !== ($stored['fields'] ?? '{}');
        if ($isOther || $stored === null || $saidAt > $stored['said_at']) {
            $this->database->run(self::SAVE, [$videoId, $source, $saidAt, $text]);
        }
        if ($isOther) {
            $this->join($videoId, $saidAt);
        }

        return $isOther;
    }

    /** @return list<string> the fields of RESTRICTING by which sources restrict a video now */
    public function fieldsOf(string $videoId): array
    {
        $said = array_map(self::decode(...), $this->database->texts(self::FIND_ALL, [$videoId]));

        return array_values(
            array_intersect(ObservationParser::RESTRICTING, array_keys(array_merge(...$said))),
        );
    }

    /**
     * From now on lines do not restrict a video with these fields; with all others they do.
     *
     * @param array<string, array<string, ?int>> $lifted by "#" and video, and by field, in order: until when (UTC seconds)
     * @param int $now UTC seconds
     */
    public function lift(array $lifted, int $now): void
    {
        $before = [];
        foreach ($this->database->rows('SELECT * FROM lifted ORDER BY video_id, field') as $row) {
            /** @var array{video_id: string, field: string, until: ?int} $row */
            $before["#{$row['video_id']}"][$row['field']] = $row['until'];
        }
        $changed = array_filter(
            array_keys($before + $lifted),
            static fn(string $key): bool => ($before[$key] ?? []) !== ($lifted[$key] ?? []),
        );
        if ($changed === []) {
            return;
        }
        $this->database->transaction(function () use ($changed, $lifted, $now): void {
            foreach ($changed as $key) {
                $videoId = substr($key, 1);
                $this->database->run('DELETE FROM lifted WHERE video_id = ?', [$videoId]);
                foreach ($lifted[$key] ?? [] as $field => $until) {
                    $this->database->run('INSERT INTO lifted VALUES (?, ?, ?)', [$videoId, $field, $until]);
                }
                $this->join($videoId, $now);
            }
        });
    }

    /**
     * Why a video may not be listed; null when it may.
     *
     * @param array{held_because: ?string, available_from: ?int, available_until: ?int, countries: ?string, ...} $row
     * @param string $country of the region; ISO 3166-1 alpha-2
     * @param int $now UTC seconds
     */
    public static function reason(array $row, string $country, int $now): ?string
    {
        [$from, $until, $countries] = [$row['available_from'], $row['available_until'], $row['countries']];

        return match (true) {
            $row['held_because'] !== null => "it is held back: {$row['held_because']}",
            $from !== null && $from > $now => 'it is available from ' . Rfc3339::format($from),
            $until !== null && $until <= $now => 'it was available until ' . Rfc3339::format($until),
            $countries !== null &&
                str_contains($countries, "\"$country\"") !== str_starts_with($countries, '{"allowed"')
                => "it may not be played in $country",
            default => null,
        };
    }

    private function join(string $videoId, int $now): void
    {
        $reasons = $excluded = [];
        $from = $until = $allowed = null;
        $isForKids = false;
        $lives = ['now' => 0, 'scheduled' => 0, 'recorded' => 0]; // until when
        /** @var list<array{field: string, until: ?int}> $rows */
        $rows = $this->database->rows(self::FIND_LIFTED, [$videoId]);
        $lifted = array_column($rows, 'until', 'field');
        foreach ($this->database->texts(self::FIND_ALL, [$videoId]) as $text) {
            $said = self::decode($text);
            /** @var Said $fields */
            $fields = array_diff_key($said, $lifted);
            foreach (array_diff_key($said, $fields) as $name => $value) {
                $end = $lifted[$name] ?? PHP_INT_MAX; // holds without a writer
                $end = match (true) {
                    $name === 'made_for_kids' && $value === true => PHP_INT_MAX, // lists have it
                    $name === 'available_from' && is_int($value) && $value <= $end => PHP_INT_MAX,
                    $name === 'available_until' && is_int($value) => max($end, $value),
                    default => $end,
                };
                $until = min($until ?? PHP_INT_MAX, $end);
            }
            foreach (array_keys($fields, null, true) as $name) {
                $reasons[] = "bad $name";
            }
            if ($fields['mature'] ?? false) {
                $reasons[] = 'mature';
            }
            if ($fields['made_for_kids'] ?? false) {
                $isForKids = true;
            }
            $from = max($from, $fields['available_from'] ?? null);
            $until = min($until ?? PHP_INT_MAX, $fields['available_until'] ?? PHP_INT_MAX);
            $countries = $fields['countries'] ?? [];
            if (isset($countries['allowed'])) {
                $allowed = array_intersect($allowed ?? $countries['allowed'], $countries['allowed']);
            }
            $excluded = [...$excluded, ...$countries['excluded'] ?? []];
            $live = $fields['live'] ?? null;
            if ($live !== null) {
                $end = ($fields['live_at'] ?? 0) + (self::LIVE_SECONDS[$live] ?? 0);
                $lives[$live] = max($lives[$live], $fields['live_until'] ?? $end);
            }
        }
        $live = array_find_key(
            $lives,
            static fn(int $end, string $of): bool => $end > ($of === 'recorded' ? 0 : $now),
        );
        sort($reasons);
        $this->database->run(self::JOIN, [
            $reasons === [] ? null : implode(', ', array_unique($reasons)),
            $from,
            $until === PHP_INT_MAX ? null : $until,
            self::countries($allowed, $excluded),
            $live,
            $live === null || $live === 'recorded' ? null : $lives[$live],
            $isForKids ? 1 : null,
            $videoId,
        ]);
        foreach ($isForKids ? self::FORGET : [] as $sql) {
            $this->database->run($sql, [$videoId]);
        }
    }

    /**
     * @param ?array<string> $allowed null for all
     * @param list<string> $excluded
     */
    private static function countries(?array $allowed, array $excluded): ?string
    {
        $codes = array_unique($allowed === null ? $excluded : array_diff($allowed, $excluded));
        sort($codes);

        return $allowed === null && $codes === []
            ? null
            : json_encode([$allowed === null ? 'excluded' : 'allowed' => $codes], JSON_THROW_ON_ERROR);
    }

    /** @return Said */
    private static function decode(string $fields): array
    {
        /** @var Said $decoded as say() wrote it */
        $decoded = json_decode($fields, true, flags: JSON_THROW_ON_ERROR);

        return $decoded;
    }
}
