<?php

declare(strict_types=1);

namespace TrendVault\Writer\Backtest;

use TrendVault\Writer\Observations\Observation;

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
        $observed = self::gain($history->last(), $history->daysBefore(1));
        $expected =
            $history->days() === 1 ? 1 : max(1, self::gain($history->daysBefore(1), $history->daysBefore(2)));

        return $expected > $observed || $observed < 5 ? 0.0 : ($observed - $expected) ** 2 / $expected;
    }

    private static function gain(Observation $later, ?Observation $earlier): int
    {
        return max(0, $later->views - ($earlier?->views ?? 0));
    }
}
