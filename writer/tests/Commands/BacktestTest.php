<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Commands;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;

final class BacktestTest extends TestCase
{
    /** Real view counts, which are not part of the project. */
    private const string RECORDINGS = __DIR__ . '/../../../../shared/data';
    /** The names in the first column of the table in docs/ranking.md, after "ours". */
    private const array BASELINES = [
        'last gain',
        'total views',
        'PeerTube trending',
        'PeerTube hot',
        'Reddit hot',
        'Hacker News',
        'Lemmy hot',
        'Mastodon links',
    ];

    #[Test]
    #[DataProvider('regions')]
    public function on_real_view_counts_ours_has_the_documented_quality_and_is_ahead_of_every_other_formula(
        string $region,
        float $recall,
        float $ndcg,
    ): void {
        $file = self::RECORDINGS . "/observations-$region.ndjson.gz";
        if (!is_file($file)) {
            self::markTestSkipped("there are no recorded view counts at $file");
        }
        [$result] = json_decode(new Installation()->run(['backtest', '--json', $file])->output, true)[
            'regions'
        ];
        $by = array_column($result['formulas'], null, 'formula');
        $ours = $by['ours'];
        unset($by['ours']);

        self::assertSame(self::BASELINES, array_keys($by));
        self::assertSame($recall, round($ours['recall_at_24'], 3));
        self::assertSame($ndcg, round($ours['ndcg_at_24'], 4));
        self::assertGreaterThan(max(array_column($by, 'recall_at_24')), $ours['recall_at_24']);
        self::assertGreaterThan(max(array_column($by, 'ndcg_at_24')), $ours['ndcg_at_24']);
    }

    /** @return iterable<array{string, float, float}> region, recall@24 and NDCG@24 as in docs/ranking.md */
    public static function regions(): iterable
    {
        yield ['GB', 0.811, 0.9844];
        yield ['FR', 0.854, 0.988];
    }

    #[Test]
    public function only_days_from_the_given_one_on_are_measured_and_earlier_ones_are_history(): void
    {
        $installation = new Installation();
        $file = $installation->folder->write('days.ndjson', self::days(5));
        $days = static fn(string ...$options): int => json_decode(
            $installation->run(['backtest', '--json', ...$options, $file])->output,
            true,
        )['regions'][0]['days'];

        self::assertSame(4, $days());
        self::assertSame(2, $days('--from', '2025-11-03'));
    }

    #[Test]
    public function recall_counts_the_gainers_that_the_ranking_of_the_day_before_has(): void
    {
        // 30 videos; the same 24 gain on both days, and one more than all others gains only on the second.
        $installation = new Installation();
        $lines = [];
        for ($video = 0; $video < 30; $video++) {
            $gains =
                $video < 23
                    ? [1000 + $video, 1000 + $video]
                    : ($video === 23
                        ? [900, 0]
                        : [0, $video === 29 ? 5000 : 0]);
            foreach (
                [1_000_000, 1_000_000 + $gains[0], 1_000_000 + $gains[0] + $gains[1]]
                as $day => $views
            ) {
                $lines[] = [
                    'id' => "v$video",
                    'channel' => "Channel $video",
                    'observed_at' => sprintf('2025-11-%02dT12:00:00Z', $day + 1),
                    'views' => $views,
                ];
            }
        }
        $file = $installation->folder->write('days.ndjson', NdjsonLine::many($lines));
        $result = json_decode(
            $installation->run(['backtest', '--json', '--from', '2025-11-02', $file])->output,
            true,
        );
        $recall = array_column($result['regions'][0]['formulas'], 'recall_at_24', 'formula');

        self::assertSame(['ours', ...self::BASELINES], array_keys($recall));
        self::assertEqualsWithDelta(23 / 24, $recall['ours'], 1e-9);
        self::assertEqualsWithDelta(23 / 24, $recall['last gain'], 1e-9);
    }

    #[Test]
    public function the_table_names_every_formula_and_the_best_comes_first(): void
    {
        $installation = new Installation();
        $table = $installation->run(['backtest', $installation->folder->write('days.ndjson', self::days(3))])
            ->output;

        foreach (['ours, inverse-square-1', ...self::BASELINES, 'recall@24', 'NDCG@24'] as $expected) {
            self::assertStringContainsString($expected, $table);
        }
    }

    #[Test]
    public function a_recording_of_one_day_is_refused(): void
    {
        $installation = new Installation();
        $result = $installation->run(['backtest', $installation->folder->write('day.ndjson', self::days(1))]);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringContainsString('two days in a row', $result->message());
    }

    private static function days(int $count): string
    {
        $lines = [];
        for ($day = 1; $day <= $count; $day++) {
            $lines[] = ['id' => 'a', 'observed_at' => "2025-11-0{$day}T12:00:00Z", 'views' => $day * 10];
            $lines[] = ['id' => 'b', 'observed_at' => "2025-11-0{$day}T12:00:00Z", 'views' => $day * 20];
        }

        return NdjsonLine::many($lines);
    }
}
