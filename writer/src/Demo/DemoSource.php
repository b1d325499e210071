<?php

declare(strict_types=1);

namespace TrendVault\Writer\Demo;

use Generator;
use Override;
use SplPriorityQueue;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Sources\RunTime;
use TrendVault\Writer\Sources\Source;
use TrendVault\Writer\Sources\SourceKind;
use TrendVault\Writer\Time\Rfc3339;

/**
 * A made-up video site to try the product with. The view count of a video depends on the seed, the video and
 * the time alone: the same seed and time give the same lines on every machine.
 */
final class DemoSource extends Source
{
    private const int VIDEOS = 50_000;
    /** No site: bin/up has one that draws the pictures. */
    public const string THUMB_BASE = 'https://thumbs.example';
    /** The first fill has earlier counts, too, so that videos have a history and a velocity. */
    private const array FILL_HOURS_AGO = [12, 2, 0];
    /** The first fill counts those that are likely to be listed every hour, so that they have a chart at once. */
    private const int CHART_HOURS = 25;
    private const int CHARTED = 100;
    private const int CHARTED_BY_SECONDS = 7200;
    private const int HOUR_SECONDS = 3600;
    /** Every run counts this many in each region. */
    private const int TOP_GAINERS = 50;
    /** The other videos take turns: each is counted in one minute of this many. */
    private const int CYCLE_MINUTES = 120;
    private const int MINUTE_SECONDS = 60;
    /** New videos are counted at once. */
    private const int FRESH_SECONDS = 600;

    private int $generated = 0;

    /**
     * @param int $now UTC seconds
     * @param bool $fill whether this is the first time, and all videos are counted
     * @param string $thumbBase where the videos' pictures are
     */
    public function __construct(
        private readonly int $seed,
        private readonly int $now,
        private readonly bool $fill,
        private readonly int $videos = self::VIDEOS,
        private readonly string $thumbBase = self::THUMB_BASE,
        private readonly DemoRegions $regions = new DemoRegions(),
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
        foreach ($this->fill ? $this->filled() : $this->minute() as [$video, $region, $time]) {
            yield ++$number => $this->line($video, $region, $time);
        }
    }

    #[Override]
    public function progress(): ?float
    {
        return $this->fill ? $this->generated / $this->videos / count(self::FILL_HOURS_AGO) : null;
    }

    /** @return Generator<array{DemoVideo, string, int}> in the order of time */
    private function filled(): Generator
    {
        $charted = $this->charted();
        for ($ago = self::CHART_HOURS; $ago >= 0; $ago--) {
            $time = $this->now - $ago * self::HOUR_SECONDS;
            foreach (
                in_array($ago, self::FILL_HOURS_AGO, true) ? $this->all() : $charted
                as [$video, $region]
            ) {
                if ($video->publishedAt <= $time) {
                    yield [$video, $region, $time];
                }
            }
        }
    }

    /** @return list<array{DemoVideo, string}> those that gained most lately, in each region */
    private function charted(): array
    {
        $top = $charted = [];
        foreach (DemoVideo::newest($this->videos, $this->seed, $this->now, $this->regions) as $video) {
            foreach ($video->regions() as $region) {
                $gain = $video->gain($region, $this->now - self::CHARTED_BY_SECONDS, $this->now);
                self::offer($top[$region] ??= new SplPriorityQueue(), $video, $gain, self::CHARTED);
            }
        }
        foreach ($top as $region => $gainers) {
            foreach ($gainers as $video) {
                $charted[] = [$video, $region];
            }
        }

        return $charted;
    }

    /** @return Generator<array{DemoVideo, string}> */
    private function all(): Generator
    {
        foreach (DemoVideo::newest($this->videos, $this->seed, $this->now, $this->regions) as $video) {
            $this->generated++;
            foreach ($video->regions() as $region) {
                yield [$video, $region];
            }
        }
    }

    /** @return list<array{DemoVideo, string, int}> */
    private function minute(): array
    {
        $turn = intdiv($this->now, self::MINUTE_SECONDS) % self::CYCLE_MINUTES;
        $counted = $top = [];
        foreach (DemoVideo::newest($this->videos, $this->seed, $this->now, $this->regions) as $video) {
            $due =
                $video->number % self::CYCLE_MINUTES === $turn ||
                $video->publishedAt > $this->now - self::FRESH_SECONDS;
            foreach ($video->regions() as $region) {
                if ($due) {
                    $counted[] = [$video, $region, $this->now];
                } else {
                    $gain = $video->gain($region, $this->now - self::FRESH_SECONDS, $this->now);
                    self::offer($top[$region] ??= new SplPriorityQueue(), $video, $gain, self::TOP_GAINERS);
                }
            }
        }
        foreach ($top as $region => $gainers) {
            foreach ($gainers as $video) {
                $counted[] = [$video, $region, $this->now];
            }
        }

        return $counted;
    }

    /**
     * Keeps the videos that gained most.
     *
     * @param SplPriorityQueue<float, DemoVideo> $gainers the one that gained least first
     * @param float $gain views
     */
    private static function offer(SplPriorityQueue $gainers, DemoVideo $video, float $gain, int $most): void
    {
        $gainers->insert($video, -$gain);
        if (count($gainers) > $most) {
            $gainers->extract();
        }
    }

    private function line(DemoVideo $video, string $region, int $time): string
    {
        $views = $video->views($region, $time);

        return json_encode(
            [
                'id' => $video->id,
                'region' => $region,
                'observed_at' => Rfc3339::format($time),
                'views' => $views,
                'likes' => intdiv($views, 25 + ($video->number % 40)),
                'comments' => intdiv($views, 300 + ($video->number % 500)),
                ...$video->description($this->thumbBase),
            ],
            JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR,
        );
    }
}

/** On an empty database a few observations of every video, later those of one minute. */
final readonly class Demo implements SourceKind
{
    private const int SEED = 1;

    public function __construct(private Context $context, private Database $database) {}

    /** @return iterable<string, DemoSource> */
    #[Override]
    public function open(array $names, RunTime $time): iterable
    {
        $settings = $this->context->settings;

        return [
            $names[0] => new DemoSource(
                self::SEED,
                $this->context->now(),
                fill: $this->database->value('SELECT 1 FROM observations LIMIT 1') === null,
                thumbBase: self::thumbBase($settings->sourceText('THUMBNAIL_HOSTS') ?? ''),
                regions: DemoRegions::of($settings->regionTable()),
            ),
        ];
    }

    /** The pictures are on this machine, where bin/up draws them; elsewhere there are none. */
    private static function thumbBase(string $hosts): string
    {
        $host = trim(explode(',', $hosts)[0]);

        return preg_match('/^(127\.0\.0\.1|localhost)(:\d+)?$/D', $host) === 1
            ? "http://$host"
            : DemoSource::THUMB_BASE;
    }
}
