<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Simulation;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ranking\CountedImpressions;
use TrendVault\Writer\Ranking\ImpressionStore;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Ranking\Traffic;
use TrendVault\Writer\Simulation\OurRanker;
use TrendVault\Writer\Simulation\SimulatedVideo;
use TrendVault\Writer\Simulation\World;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\MigratedDatabase;
use TrendVault\Writer\Tests\Support\StoredObservations;

/** A simulation says something about the writer only when both rank alike. */
final class StoredOrderTest extends TestCase
{
    private const int MINUTES = 30;
    private const int VIDEOS = 120;
    private const float EXPLORE_SHARE = 0.25;
    private const string LIST = <<<'SQL'
    SELECT video_id FROM trending
    WHERE generation = ? AND region = 'GB' AND window = 'now' AND category = '' ORDER BY rank
    SQL;

    /** @var array<int, array{float, int, int}> see Traffic */
    private array $traffic = [];

    #[Test]
    public function the_database_and_the_simulation_rank_the_same_counts_in_the_same_order(): void
    {
        mt_srand(Draws::seed());
        foreach ([0, 1, 20, 400] as $loads) {
            $database = MigratedDatabase::inMemory();
            $videos = self::videos();
            $this->traffic = [];
            $this->visit($database, $videos, $loads);
            $now = World::START + 60 * self::MINUTES;
            $simulated = new OurRanker(self::EXPLORE_SHARE)->ranked(
                $videos,
                new Traffic($this->traffic, $now),
                $now,
            );
            $generation = new RankingPublisher($database, self::EXPLORE_SHARE)->publish($now);

            self::assertSame(
                array_column($database->rows(self::LIST, [$generation->id]), 'video_id'),
                array_column($simulated, 'id'),
                Draws::hint() . ", $loads loads",
            );
        }
    }

    /** @return list<SimulatedVideo> a third is counted by no source */
    private static function videos(): array
    {
        $videos = [];
        for ($number = 0; $number < self::VIDEOS; $number++) {
            $video = new SimulatedVideo("video-$number", -mt_rand(1, 7000) / 100, 0.04, 1.0, null);
            $video->elsewhereViews = $number % 3 === 0 ? 0 : mt_rand(1, 5000);
            $videos[] = $video;
        }

        return $videos;
    }

    /** @param list<SimulatedVideo> $videos */
    private function visit(Database $database, array $videos, int $loads): void
    {
        foreach ($videos as $video) {
            $video->elsewhereViews > 0 ? self::observe($database, $video) : self::announce($database, $video);
        }
        for ($minute = 1; $minute <= self::MINUTES; $minute++) {
            $at = World::START + 60 * $minute;
            $counts = [];
            foreach (array_rand($videos, 48) as $index => $place) {
                $video = $videos[$place];
                $looks = $loads / ($index + 1);
                $views = (mt_rand(0, 20) / 100) * $looks;
                $counts[] = $counted = new CountedImpressions(
                    $at,
                    'GB',
                    $video->id,
                    $index + 1,
                    $looks,
                    $views,
                );
                if ($loads > 0) {
                    $video->count($counted);
                    $this->traffic = $counted->addedTo($this->traffic);
                }
            }
            $loads > 0 && new ImpressionStore($database)->add($counts);
        }
    }

    private static function observe(Database $database, SimulatedVideo $video): void
    {
        $observations = [];
        foreach ([0, 300, 900] as $seconds) {
            $video->elsewhereViews += mt_rand(0, 50);
            $video->observe(World::START + $seconds);
            $observations[] = StoredObservations::observation(
                $video->id,
                observedAt: World::START + $seconds,
                views: $video->elsewhereViews,
                publishedAt: $video->publishedAt(),
            );
        }
        StoredObservations::in($database, $observations);
    }

    private static function announce(Database $database, SimulatedVideo $video): void
    {
        $database->run(
            "INSERT INTO videos (id, title, channel, published_at, thumb_base, first_seen_at) VALUES (?1, ?1, ?1, ?2, 'https://t.example/', ?2)",
            [$video->id, $video->publishedAt()],
        );
        $database->run("INSERT INTO catalogue (region, video_id, announced_at) VALUES ('GB', ?, ?)", [
            $video->id,
            World::START,
        ]);
    }
}
