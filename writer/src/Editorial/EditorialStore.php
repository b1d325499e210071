<?php

declare(strict_types=1);

namespace TrendVault\Writer\Editorial;

use Generator;
use stdClass;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Erasures;
use TrendVault\Writer\Database\Removals;
use TrendVault\Writer\Observations\Restrictions;
use TrendVault\Writer\Time\Rfc3339;
use TrendVault\Writer\Time\SystemClock;
use TrendVault\Writer\WriterException;

/**
 * The newest editorial file that could be read, which is in force, in the table editorial.
 *
 * @import-type Rule from Editorial
 */
final readonly class EditorialStore
{
    private const string FIND = 'SELECT text, read_at, failed_at, failure FROM editorial';
    private const string KEEP = <<<'SQL'
    INSERT INTO editorial (id, text, read_at) VALUES (1, ?, ?)
    ON CONFLICT DO UPDATE SET text = excluded.text, read_at = excluded.read_at, failed_at = NULL, failure = NULL
    SQL;
    private const string FAIL = <<<'SQL'
    INSERT INTO editorial (id, failed_at, failure) VALUES (1, ?, ?)
    ON CONFLICT DO UPDATE SET failure = excluded.failure, failed_at = ifnull(failed_at, excluded.failed_at)
    SQL;
    private const string IS_SHOWN = <<<'SQL'
    SELECT 1 FROM trending WHERE generation = (SELECT max(generation) FROM generation_regions WHERE region = ?1)
      AND video_id = ?4 AND region = ?1 AND window = ?2 AND category = ?3 AND placed IS NOT NULL
    SQL;
    private const string IS_LISTED = <<<'SQL'
    SELECT 1 FROM trending WHERE generation = (SELECT max(generation) FROM generation_regions WHERE region = ?1)
      AND region = ?1 AND window = ?2 AND category = ?3 LIMIT 1
    SQL;
    private const string GENERATION = 'SELECT max(published_at) FROM generation_regions JOIN generations ON id = generation WHERE region = ?';
    private const string COUNTED = 'SELECT sum(video_count) FROM generation_regions WHERE region = ?';
    private const string HAS_LIST = <<<'SQL'
    SELECT EXISTS (SELECT 1 FROM trending WHERE generation = newest AND region = ?1 AND window IN ('now', 'day', 'week') AND category = ?2)
    FROM (SELECT max(generation) AS newest FROM generation_regions WHERE region = ?1) WHERE newest IS NOT NULL
    SQL;
    private const string CANDIDATE =
        'SELECT v.channel, EXISTS (SELECT 1 FROM velocity WHERE video_id = v.id AND region = ?2)' .
        ' OR EXISTS (SELECT 1 FROM catalogue WHERE video_id = v.id AND region = ?2) AS is_known, ' .
        Restrictions::COLUMNS .
        ' FROM videos AS v WHERE v.id = ?1';
    private const string VIDEO =
        "SELECT v.channel, v.published_at, json_extract(e.rules, '$.\"' || v.id || '\".factor') AS factor," .
        ' EXISTS (SELECT 1 FROM velocity WHERE video_id = v.id AND region = ?2) AS is_counted, ' .
        Restrictions::COLUMNS .
        ' FROM videos AS v LEFT JOIN explanations AS e ON e.region = ?2' .
        ' AND e.generation = (SELECT max(generation) FROM explanations WHERE region = ?2) WHERE v.id = ?1';
    private const string WAITING = <<<'SQL'
    SELECT e.region, v.id, v.title, v.channel, json_extract(r.value, '$.review_until') AS until, json_extract(r.value, '$.enters') AS enters
    FROM explanations AS e, json_each(e.rules) AS r JOIN videos AS v ON v.id = r.key
    LEFT JOIN velocity AS y ON y.video_id = v.id AND y.region = e.region
    WHERE e.generation = (SELECT max(generation) FROM explanations WHERE region = e.region)
      AND json_extract(r.value, '$.review_until') > ?
    ORDER BY e.region, y.views_per_hour DESC, v.id
    SQL;
    private const string RESULTS = <<<'SQL'
    SELECT count(*) AS ranks, total(impressions) AS impressions, total(clicks) AS clicks, total(model_clicks) AS model_clicks
    FROM placed_ranks WHERE ?1 IS NULL OR (region, window, category, video_id) = (?1, ?2, ?3, ?4)
    SQL;

    public function __construct(private Database $database) {}

    /**
     * Takes the file over as it is now, removals included. One that cannot be read, or is wrong, changes nothing.
     *
     * @param ?EditorialFile $file null when none is set
     * @param int $now UTC seconds
     * @return ?string why the file was not taken over; null when it was
     */
    public function refresh(?EditorialFile $file, int $now): ?string
    {
        $stored = $this->stored();
        if ($file === null) {
            if ($stored !== null) {
                $this->forget();
            }

            return null;
        }
        try {
            [$text, $editorial] = $this->read($file, $now);
        } catch (WriterException $failure) {
            $this->database->run(self::FAIL, [$now, $failure->getMessage()]);

            return $failure->getMessage();
        }
        if ($stored === null || $stored['failure'] !== null || $stored['text'] !== $text) {
            $this->database->transaction(function () use ($text, $editorial, $now): void {
                $this->database->run(self::KEEP, [$text, $now]);
                new Removals($this->database)->follow($editorial->removals, $now);
            });
        }

        return null;
    }

    /**
     * What the file says now, without what names something erased: of that only a keyed hash may be stored.
     *
     * @param int $now UTC seconds
     * @return array{string, Editorial}
     * @throws WriterException with its mistakes
     */
    public function read(EditorialFile $file, int $now): array
    {
        $text = $file->text();
        $editorial = $file->parse($text, $now);
        $kept = $this->withoutErased($text);

        return [$kept, $kept === $text ? $editorial : Editorial::read($kept, null, $now)];
    }

    /** Takes what names something erased out of the stored text, too. */
    public function forgetErased(): void
    {
        $text = $this->stored()['text'] ?? null;
        if ($text !== null) {
            $this->database->run('UPDATE editorial SET text = ?', [$this->withoutErased($text)]);
        }
    }

    /** What was without a mistake when it was stored: by a clock that was set back, pins that are over may meet others. */
    public function inForce(): Editorial
    {
        $text = $this->stored()['text'] ?? null;

        return $text === null ? Editorial::none() : Editorial::read($text, null, PHP_INT_MAX);
    }

    /** @return ?array{text: ?string, read_at: ?int, failed_at: ?int, failure: ?string} null when no file was ever set */
    public function stored(): ?array
    {
        /** @var ?array{text: ?string, read_at: ?int, failed_at: ?int, failure: ?string} $row */
        $row = $this->database->row(self::FIND);

        return $row;
    }

    /**
     * Why no list would ever show a pin; null when one may.
     *
     * @param string $until as it was given
     * @param int $now UTC seconds
     */
    public function reasonToRefuse(
        string $videoId,
        string $region,
        ?string $category,
        string $until,
        int $now,
    ): ?string {
        /** @var ?array{channel: string, is_known: int, held_because: ?string, available_from: ?int, available_until: ?int, countries: ?string} $video */
        $video = $this->database->row(self::CANDIDATE, [$videoId, $region]);
        if ($video === null) {
            return "video: expected one that is stored; $videoId is not";
        }
        $removal = new Removals($this->database)->reasonFor($videoId, $video['channel']);
        $ends = Rfc3339::parse($until) ?? PHP_INT_MAX;
        $shownFrom = max($now, min($video['available_from'] ?? $now, $ends - 1));
        $restriction = Restrictions::reason($video, $region, $shownFrom);

        return match (true) {
            $removal !== null => "video: expected one that is shown; $videoId is removed: $removal",
            $this->database->number(self::COUNTED, [$region]) === 0
                => "--region: expected one of which this writer has lists; nothing is stored of $region",
            $ends <= $now => "--until: expected a time to come; $until is over",
            $category !== null && $this->database->number(self::HAS_LIST, [$region, $category]) === 0
                => "--category: expected one that has a list in $region; $category has none",
            $video['is_known'] === 0
                => "video: expected one of the region; nothing counts or announces $videoId in $region",
            $restriction !== null => "video: expected one that may be shown; $restriction",
            $this->isRuledOut($videoId, $region, $ends - 1)
                => 'video: expected one that may be shown; a rule keeps it out',
            default => null,
        };
    }

    /**
     * Why the newest list does not show a pin; null when it does.
     *
     * @param int $now UTC seconds
     */
    public function reasonNotShown(Pin $pin, int $now): ?string
    {
        $list = [$pin->region, $pin->window, $pin->category];
        if ($this->database->value(self::IS_SHOWN, [...$list, $pin->videoId]) !== null) {
            return null;
        }
        /** @var ?array{channel: string, published_at: ?int, is_counted: int, factor: int|float|null, held_because: ?string, available_from: ?int, available_until: ?int, countries: ?string} $video */
        $video = $this->database->row(self::VIDEO, [$pin->videoId, $pin->region]);
        if ($video === null) {
            return 'no such video is stored';
        }
        $removal = new Removals($this->database)->reasonFor($pin->videoId, $video['channel']);
        $generationAt = $this->database->number(self::GENERATION, [$pin->region]);

        return match (true) {
            $removal !== null => "it is removed: $removal",
            default => Restrictions::reason($video, $pin->region, $now) ??
                match (true) {
                    $generationAt === null || $generationAt <= ($this->stored()['read_at'] ?? 0)
                        => 'the next generation will have it',
                    (float) ($video['factor'] ?? 1) === 0.0 => 'a rule keeps it out',
                    $this->database->value(self::IS_LISTED, $list) === null => 'there is no such list now',
                    $video['is_counted'] === 0 &&
                        ($video['published_at'] ?? 0) > $generationAt + SystemClock::TOLERANCE_SECONDS
                        => 'it is not published yet, and nobody counts it',
                    default => "nothing counts or announces it in $pin->region now",
                },
        };
    }

    /**
     * What of the file decides on scores now; null where nothing does.
     *
     * @param array<string> $categories see Editorial::rulesAt()
     */
    public function rulesAt(int $now, Editorial $editorial, array $categories): ?Rules
    {
        /** @var list<array{id: int, name: string}> $sources */
        $sources = $this->database->rows('SELECT id, name FROM sources');

        return $editorial->rulesAt($now, array_column($sources, 'name', 'id'), $categories);
    }

    /**
     * Those that are about no stored video or source, which may be a slip.
     *
     * @param array<Rule> $rules
     * @return array<Rule> with their keys
     */
    public function idle(array $rules): array
    {
        /** @var Generator<int, array{channel: string, title: string, titles: ?string, tags: ?string}> $videos */
        $videos = $this->database->each(
            'SELECT channel, title, titles, tags FROM videos LEFT JOIN details ON video_id = id',
        );

        return Rules::idle($rules, $videos, $this->database->texts('SELECT name FROM sources'));
    }

    /**
     * Whether a stored video has a category.
     *
     * @param array<string> $categories see Editorial::rulesAt()
     */
    public function hasCategory(string $category, array $categories): bool
    {
        $names = [$category, $categories[$category] ?? $category];

        return $this->database->value('SELECT 1 FROM videos WHERE category IN (?, ?) LIMIT 1', $names) !==
            null;
    }

    /**
     * What waits for an editor: of a region those with the most views an hour, these first.
     *
     * @param int $now UTC seconds
     * @return list<array{region: string, id: string, title: string, channel: string, until: int, enters: int}>
     */
    public function waiting(int $now): array
    {
        /** @var list<array{region: string, id: string, title: string, channel: string, until: int, enters: int}> $rows */
        $rows = $this->database->rows(self::WAITING, [$now]);
        $editorial = $this->inForce();
        $regions = array_column($editorial->reviewsAt($now), 'region', 'region');
        $allowed = [];
        foreach ($editorial->allowed as [$kind, $name]) {
            $allowed["$kind->value#$name"] = true;
        }

        // The newest generation may be older than the file.
        return array_values(
            array_filter(
                $rows,
                static fn(array $row): bool => isset($regions[$row['region']]) &&
                    !isset($allowed["video#{$row['id']}"]) &&
                    !isset($allowed["channel#{$row['channel']}"]),
            ),
        );
    }

    /**
     * What a pin brought as long as that is kept, and what the model expects at its impressions without it.
     *
     * @param ?Pin $pin null for all
     * @return array{ranks: int, impressions: float, clicks: float, model_clicks: float}
     */
    public function results(?Pin $pin = null): array
    {
        /** @var array{ranks: int, impressions: float, clicks: float, model_clicks: float} $row */
        $row = $this->database->row(self::RESULTS, [
            $pin?->region,
            $pin?->window,
            $pin?->category,
            $pin?->videoId,
        ]);

        return $row;
    }

    /**
     * Facts for `status`: null when no file was ever set.
     *
     * @param int $now UTC seconds
     * @return ?array{read_at: ?string, failed_at: ?string, failure: ?string, removals: int, pins: int, rules: int, reviews: int, lifted: int, waiting: int, placed: array{ranks: int, impressions: float, clicks: float, model_clicks: float}, not_shown: list<array{video: string, region: string, window: string, category: ?string, reason: string}>}
     */
    public function facts(int $now): ?array
    {
        $stored = $this->stored();
        if ($stored === null) {
            return null;
        }
        $editorial = $this->inForce();
        $pins = $editorial->pinsAt($now);
        $notShown = [];
        foreach ($pins as $pin) {
            $reason = $this->reasonNotShown($pin, $now);
            if ($reason !== null) {
                $notShown[] = [
                    'video' => $pin->videoId,
                    'region' => $pin->region,
                    'window' => $pin->window,
                    'category' => $pin->category === '' ? null : $pin->category,
                    'reason' => $reason,
                ];
            }
        }

        return [
            'read_at' => $stored['read_at'] === null ? null : Rfc3339::format($stored['read_at']),
            'failed_at' => $stored['failed_at'] === null ? null : Rfc3339::format($stored['failed_at']),
            'failure' => $stored['failure'],
            'removals' => count($editorial->removals),
            'pins' => count($pins),
            'rules' => count(
                array_filter($editorial->rules, static fn(array $rule): bool => $rule['until'] > $now),
            ),
            'reviews' => count($editorial->reviewsAt($now)),
            'lifted' => array_sum(array_map(count(...), $editorial->liftedAt($now))),
            'waiting' => count($this->waiting($now)),
            'placed' => $this->results(),
            'not_shown' => $notShown,
        ];
    }

    /**
     * Whether a rule that is in force now still keeps a video out then. A pinned one waits for no review.
     *
     * @param int $at UTC seconds
     */
    private function isRuledOut(string $videoId, string $region, int $at): bool
    {
        $rules = $this->rulesAt($at, $this->inForce(), []);
        if ($rules === null) {
            return false;
        }
        $columns = 'v.id AS video_id, v.channel, v.category' . $rules->columns('0');
        /** @var array{video_id: string, channel: string, category: ?string, title?: string, titles?: ?string, tags?: ?string, described_by?: ?int} $video */
        $video = $this->database->row("SELECT $columns FROM videos AS v WHERE v.id = ?", [$videoId]);

        return $rules->of([...$video, 'category_since' => 0], $region, 0, $at)?->factor === 0.0;
    }

    private function withoutErased(string $text): string
    {
        $erasures = new Erasures($this->database);
        /** @var stdClass $file */
        $file = json_decode($text);
        $isWhole = true;
        foreach (['removals', 'pins', 'rules', 'allowed', 'lifted'] as $list) {
            /** @var list<stdClass> $entries */
            $entries = $file->$list ?? [];
            $kept = array_filter(
                $entries,
                static fn(stdClass $entry): bool => !$erasures->hasVideo((string) ($entry->video ?? '')) &&
                    !$erasures->hasChannel(
                        (string) ($entry->channel ?? ($entry->word ?? ($entry->tag ?? ''))),
                    ),
            );
            if (count($kept) !== count($entries)) {
                [$file->$list, $isWhole] = [array_values($kept), false];
            }
        }

        return $isWhole
            ? $text
            : json_encode($file, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES);
    }

    /** Pins end; what the file removed stays removed, by an operator. */
    private function forget(): void
    {
        $this->database->transaction(function (): void {
            new Removals($this->database)->keepWithoutFile();
            $this->database->run('DELETE FROM editorial');
        });
    }
}
