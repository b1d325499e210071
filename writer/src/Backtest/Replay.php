<?php

declare(strict_types=1);

namespace TrendVault\Writer\Backtest;

use Closure;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ingest\ObservationStore;
use TrendVault\Writer\Observations\Observation;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Ranking\Velocity;
use TrendVault\Writer\Ranking\Window;

/** Replays recorded days and measures how well each day's ranking predicts the next day's gains. */
final class Replay
{
    /** The name of our own formula, beside those of Baseline. */
    public const string OURS = 'ours';

    private const int DAY_SECONDS = 86_400;
    private const string RANKED = <<<'SQL'
    SELECT video_id, score FROM trending
    WHERE generation = ? AND region = ? AND window = ? AND category = ''
    SQL;

    private readonly ObservationStore $store;
    private readonly RankingPublisher $ranking;
    /** @var array<string, array<string, VideoHistory>> by region and video */
    private array $histories = [];

    public function __construct(private readonly Database $database)
    {
        $this->store = new ObservationStore($database, now: 0);
        $this->ranking = new RankingPublisher($database);
    }

    /**
     * @param list<Observation> $observations in any order; all of them are held in memory
     * @param int $from UTC seconds; days before are history only
     * @param Closure(float): void $progress is called with the share that is done, from 0 to 1
     * @return array<string, list<array<string, RankingQuality>>> by region, a day each, by formula
     */
    public function run(array $observations, int $from, Closure $progress): array
    {
        $days = self::byDay($observations);
        /** @var array<string, list<array<string, RankingQuality>>> $results */
        $results = [];
        /** @var array<string, DayRanking> $before */
        $before = [];
        $done = $previous = 0;
        foreach ($days as $day => $ofDay) {
            $rankings = $this->day($ofDay);
            foreach (
                $day - $previous === 1 && $previous * self::DAY_SECONDS >= $from ? $before : []
                as $region => $ranking
            ) {
                $quality = isset($rankings[$region]) ? $ranking->comparedWith($rankings[$region]) : [];
                if ($quality !== []) {
                    $results[$region][] = $quality;
                }
            }
            [$before, $previous] = [$rankings, $day];
            $progress(++$done / count($days));
        }
        ksort($results);

        return $results;
    }

    /**
     * @param list<Observation> $observations
     * @return array<int, non-empty-list<Observation>> by UTC day since 1970, in order of time
     */
    private static function byDay(array $observations): array
    {
        usort(
            $observations,
            static fn(Observation $a, Observation $b): int => $a->observedAt <=> $b->observedAt,
        );
        $days = [];
        foreach ($observations as $observation) {
            $days[intdiv($observation->observedAt, self::DAY_SECONDS)][] = $observation;
        }

        return $days;
    }

    /**
     * Stores the observations, ranks, and gives the scores of that day.
     *
     * @param non-empty-list<Observation> $observations of one day, in order of time
     * @return array<string, DayRanking> by region
     */
    private function day(array $observations): array
    {
        $this->database->transaction(function () use ($observations): void {
            $this->store->prepareFor($observations);
            array_walk($observations, $this->store(...));
        });
        $today = [];
        foreach ($observations as $observation) {
            $this->remember($observation, isset($today[$observation->region]["#$observation->videoId"]));
            $today[$observation->region]["#$observation->videoId"] =
                $this->histories[$observation->region]["#$observation->videoId"];
        }
        $generation = $this->ranking->publishAt(
            max(array_map(static fn(Observation $one): int => $one->observedAt, $observations)),
        );

        return array_combine(
            array_keys($today),
            array_map(
                fn(string $region, array $histories): DayRanking => $this->scores(
                    $generation->id,
                    $region,
                    $histories,
                ),
                array_keys($today),
                $today,
            ),
        );
    }

    private function store(Observation $observation): void
    {
        try {
            $this->store->add($observation);
        } catch (RejectedLine) {
            // A video without metadata: ingest would reject the line, so the ranking does not include it.
        }
    }

    private function remember(Observation $observation, bool $sameDay): void
    {
        $history = $this->histories[$observation->region]["#$observation->videoId"] ?? null;
        $history === null
            ? ($this->histories[$observation->region]["#$observation->videoId"] = new VideoHistory(
                $observation,
            ))
            : $history->add($observation, $sameDay);
    }

    /** @param array<string, VideoHistory> $histories of the videos seen on this day */
    private function scores(int $generation, string $region, array $histories): DayRanking
    {
        /** @var list<array{video_id: string, score: float}> $ranked */
        $ranked = $this->database->rows(self::RANKED, [$generation, $region, Window::Day->value]);
        $scores = [self::OURS => []];
        foreach ($ranked as ['video_id' => $videoId, 'score' => $score]) {
            $scores[self::OURS]["#$videoId"] = $score;
        }
        foreach (Baseline::cases() as $formula) {
            $scores[$formula->value] = array_map($formula->score(...), $histories);
        }

        return new DayRanking(
            $scores,
            array_map(static fn(VideoHistory $history): int => $history->last()->views, $histories),
        );
    }
}

/** The scores of every formula in one region on one day. Keys are "#" and the video id: PHP would turn digits into integers. */
final readonly class DayRanking
{
    /**
     * @param array<string, array<string, float>> $scores by formula and video
     * @param array<string, int> $views cumulative, at the end of the day
     */
    public function __construct(private array $scores, private array $views) {}

    /**
     * Compares the videos that were seen on both days. A video that a formula did not rank comes last.
     *
     * @return array<string, RankingQuality> by formula; empty when no video was seen on both days
     */
    public function comparedWith(self $nextDay): array
    {
        $both = array_intersect_key($this->views, $nextDay->views);
        if ($both === []) {
            return [];
        }

        return array_map(
            static fn(array $scores): RankingQuality => RankingQuality::of(
                array_map(
                    static fn(string $video): array => [
                        'id' => substr($video, 1),
                        'score' => $scores[$video] ?? -INF,
                        'gained' => max(0, $nextDay->views[$video] - $both[$video]),
                    ],
                    array_keys($both),
                ),
            ),
            $this->scores,
        );
    }
}

/** Recall and NDCG of a ranking, measured against the views that its videos gained. */
final readonly class RankingQuality
{
    /** The first page. */
    public const int RANKS = 24;

    public function __construct(public float $recall, public float $ndcg) {}

    /**
     * Recall: of the RANKS videos that gained most, the share that is in the first RANKS of the ranking.
     * NDCG with ln(1 + views gained) as the gain and 1 / log2(rank + 1) as the discount (Järvelin and Kekäläinen, 2002).
     * Ties are ordered by id, in both rankings.
     *
     * @param non-empty-list<array{id: string, score: float, gained: int}> $videos
     */
    public static function of(array $videos): self
    {
        $named = self::first($videos, 'score');
        $ideal = self::first($videos, 'gained');
        $hits = array_intersect(array_column($named, 'id'), array_column($ideal, 'id'));
        $best = self::discountedGain($ideal);

        return new self(count($hits) / count($ideal), $best > 0 ? self::discountedGain($named) / $best : 1.0);
    }

    /** @param array<self> $qualities one at least */
    public static function mean(array $qualities): self
    {
        return new self(
            array_sum(array_column($qualities, 'recall')) / count($qualities),
            array_sum(array_column($qualities, 'ndcg')) / count($qualities),
        );
    }

    /**
     * @param list<array{id: string, score: float, gained: int}> $videos
     * @return list<array{id: string, score: float, gained: int}>
     */
    private static function first(array $videos, string $by): array
    {
        usort(
            $videos,
            static fn(array $a, array $b): int => $b[$by] <=> $a[$by] ?: strcmp($a['id'], $b['id']),
        );

        return array_slice($videos, 0, self::RANKS);
    }

    /** @param list<array{id: string, score: float, gained: int}> $videos in order */
    private static function discountedGain(array $videos): float
    {
        $sum = 0.0;
        foreach ($videos as $index => ['gained' => $gained]) {
            $sum += log1p($gained) / log($index + 2, 2);
        }

        return $sum;
    }
}

/** A video in a region as it was known on a day: the last observation of each day until then. */
final class VideoHistory
{
    private const int HOUR_SECONDS = 3600;

    /** @var non-empty-list<Observation> in order of time */
    private array $observations;

    public function __construct(Observation $first)
    {
        $this->observations = [$first];
    }

    /** @param Observation $later of a later day; one of the same day replaces the last */
    public function add(Observation $later, bool $sameDay): void
    {
        $this->observations = $sameDay
            ? [...array_slice($this->observations, 0, -1), $later]
            : [...$this->observations, $later];
    }

    public function last(): Observation
    {
        return $this->observations[count($this->observations) - 1];
    }

    /** Null when there is no such day. */
    public function daysBefore(int $days): ?Observation
    {
        return $this->observations[count($this->observations) - 1 - $days] ?? null;
    }

    /** The newest observation that is at least so many hours older than the last one. */
    public function hoursBefore(float $hours): ?Observation
    {
        return array_find(
            array_reverse($this->observations),
            fn(Observation $one): bool => $this->hoursBetween($one, $this->last()) >= $hours,
        );
    }

    public function hoursBetween(Observation $earlier, Observation $later): float
    {
        return ($later->observedAt - $earlier->observedAt) / self::HOUR_SECONDS;
    }

    /** UTC seconds. Every formula gets the same assumption about videos without a time of publication. */
    public function ageStartsAt(): int
    {
        return Velocity::ageStartsAt($this->observations[0]->observedAt, $this->last()->publishedAt);
    }

    public function ageHours(): float
    {
        return ($this->last()->observedAt - $this->ageStartsAt()) / self::HOUR_SECONDS;
    }
}

/**
 * Published formulas to compare with. Votes are likes, because observations have no dislikes.
 * Each is written as its source had it at the time of writing.
 */
enum Baseline: string
{
    case LastGain = 'last gain';
    case TotalViews = 'total views';
    case PeerTubeTrending = 'PeerTube trending';
    case PeerTubeHot = 'PeerTube hot';
    case Reddit = 'Reddit hot';
    case HackerNews = 'Hacker News';
    case Lemmy = 'Lemmy hot';
    case MastodonLinks = 'Mastodon links';

    private const float DAY_HOURS = 24.0;
    private const float WEEK_HOURS = 168.0;

    /** Larger is better; scores of different formulas cannot be compared. */
    public function score(VideoHistory $history): float
    {
        return match ($this) {
            self::LastGain => self::lastGain($history),
            self::TotalViews => (float) $history->last()->views,
            self::PeerTubeTrending => self::peerTubeTrending($history),
            self::PeerTubeHot => self::peerTubeHot($history),
            self::Reddit => self::reddit($history),
            self::HackerNews => self::hackerNews($history),
            self::Lemmy => self::lemmy($history),
            self::MastodonLinks => self::mastodonLinks($history),
        };
    }

    /** Views an hour since the observation before; for the first, all of them in a day. */
    private static function lastGain(VideoHistory $history): float
    {
        $before = $history->daysBefore(1);

        return $before === null
            ? $history->last()->views / self::DAY_HOURS
            : max(0, $history->last()->views - $before->views) /
                    $history->hoursBetween($before, $history->last());
    }

    /** Views of the last seven days: groupForTrending in PeerTube's videos-id-list-query-builder.ts. */
    private static function peerTubeTrending(VideoHistory $history): float
    {
        return (float) self::gain($history->last(), $history->hoursBefore(self::WEEK_HOURS));
    }

    /** groupForHotOrBest in the same file, with its weights of likes, views and comments. */
    private static function peerTubeHot(VideoHistory $history): float
    {
        $last = $history->last();

        return 150 * log10(max(1, ($last->likes ?? 0) - 1)) +
            16 * log10($last->views + 1) +
            100 * log10(max(1, $last->comments ?? 0)) +
            ($history->ageStartsAt() - 1_446_156_582) / 47_000;
    }

    /** r2/lib/db/_sorts.pyx in reddit-archive/reddit. */
    private static function reddit(VideoHistory $history): float
    {
        return log10(max(1, $history->last()->likes ?? 0)) +
            ($history->ageStartsAt() - 1_134_028_003) / 45_000;
    }

    /** news.arc, as it is commonly quoted. */
    private static function hackerNews(VideoHistory $history): float
    {
        return max(0, ($history->last()->likes ?? 0) - 1) / ($history->ageHours() + 2) ** 1.8;
    }

    /** r.hot_rank in Lemmy's migrations: nothing after a week. */
    private static function lemmy(VideoHistory $history): float
    {
        $age = $history->ageHours();

        return $age >= self::WEEK_HOURS
            ? 0.0
            : log10(max(2, ($history->last()->likes ?? 0) + 2)) / ($age + 2) ** 1.8;
    }

    /** Trends::Links in Mastodon: views of this day against those of the day before, without its hold of two days. */
    private static function mastodonLinks(VideoHistory $history): float
    {
        $before = $history->daysBefore(1);
        $observed = self::gain($history->last(), $before);
        $expected = $before === null ? 1 : max(1, self::gain($before, $history->daysBefore(2)));

        return $expected > $observed || $observed < 5 ? 0.0 : ($observed - $expected) ** 2 / $expected;
    }

    private static function gain(Observation $later, ?Observation $earlier): int
    {
        return max(0, $later->views - ($earlier?->views ?? 0));
    }
}
