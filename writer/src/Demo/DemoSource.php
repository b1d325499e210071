<?php

declare(strict_types=1);

namespace TrendVault\Writer\Demo;

use Generator;
use Override;
use TrendVault\Writer\Sources\RejectStore;
use TrendVault\Writer\Sources\Source;
use TrendVault\Writer\Time\Rfc3339;

/**
 * A made-up video site to try everything with. What it says of a video at a time depends on the seed,
 * the video and the time alone: run it again, or elsewhere, and the same lines come out.
 */
final class DemoSource implements Source
{
    private const int VIDEOS = 50_000;
    /** The first fill looks back, so that videos have a history and a velocity. */
    private const array FILL_SECONDS_AGO = [43_200, 7_200, 0];
    /** A run counts these anew in each market, and one in SHARE of all others. */
    private const int HOT_VIDEOS = 50;
    private const int SHARE = 120;
    private const int MINUTE_SECONDS = 60;
    /** New videos are counted at once. */
    private const int FRESH_SECONDS = 600;

    private int $visited = 0;

    /**
     * @param int $now UTC seconds
     * @param bool $fill whether this is the first time, and all videos are counted
     */
    public function __construct(
        private readonly int $seed,
        private readonly int $now,
        private readonly bool $fill,
        private readonly int $videos = self::VIDEOS,
    ) {}

    #[Override]
    public function name(): string
    {
        return 'demo';
    }

    #[Override]
    public function lines(): iterable
    {
        $number = 0;
        foreach ($this->fill ? $this->filled() : $this->minute() as [$video, $market, $time]) {
            yield ++$number => $this->line($video, $market, $time);
        }
    }

    #[Override]
    public function progress(): ?float
    {
        return $this->fill ? $this->visited / $this->videos / count(self::FILL_SECONDS_AGO) : null;
    }

    #[Override]
    public function rejects(): ?RejectStore
    {
        return null;
    }

    #[Override]
    public function settle(bool $clean): void {}

    /** @return Generator<array{DemoVideo, string, int}> */
    private function filled(): Generator
    {
        foreach (self::FILL_SECONDS_AGO as $ago) {
            foreach (DemoVideo::newest($this->videos, $this->seed, $this->now) as $video) {
                $this->visited++;
                foreach ($video->bornAt > $this->now - $ago ? [] : $video->markets() as $market) {
                    yield [$video, $market, $this->now - $ago];
                }
            }
        }
    }

    /** @return list<array{DemoVideo, string, int}> */
    private function minute(): array
    {
        $turn = intdiv($this->now, self::MINUTE_SECONDS) % self::SHARE;
        $counted = $hot = [];
        foreach (DemoVideo::newest($this->videos, $this->seed, $this->now) as $video) {
            $due =
                $video->number % self::SHARE === $turn || $video->bornAt > $this->now - self::FRESH_SECONDS;
            foreach ($video->markets() as $market) {
                if ($due) {
                    $counted[] = [$video, $market, $this->now];
                } else {
                    ($hot[$market] ??= new Hottest(self::HOT_VIDEOS))->offer(
                        $video->gain($market, $this->now - self::FRESH_SECONDS, $this->now),
                        $video,
                    );
                }
            }
        }
        foreach ($hot as $market => $hottest) {
            foreach ($hottest->videos() as $video) {
                $counted[] = [$video, $market, $this->now];
            }
        }

        return $counted;
    }

    private function line(DemoVideo $video, string $market, int $time): string
    {
        $views = $video->views($market, $time);

        return json_encode(
            [
                'id' => $video->id,
                'region' => $market,
                'observed_at' => Rfc3339::format($time),
                'views' => $views,
                'likes' => intdiv($views, 25 + ($video->number % 40)),
                'comments' => intdiv($views, 300 + ($video->number % 500)),
                ...$video->description(),
            ],
            JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR,
        );
    }
}
