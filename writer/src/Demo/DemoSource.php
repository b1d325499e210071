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

/**
 * One video of the demo. Its number gives its time of publication: one video every 12 seconds since 1970,
 * so five a minute, and the 50,000 newest are those of the last seven days.
 */
final readonly class DemoVideo
{
    private const int PUBLISH_INTERVAL_SECONDS = 12;
    private const int HOUR_SECONDS = 3600;

    private const float LEAST_VIEWS = 400.0;
    private const float SIZE_EXPONENT = 1.3;
    private const float VIRAL_SHARE = 0.7;
    /** A viral wave may be far larger than all views before it. */
    private const float LEAST_WAVE_VIEWS = 3000.0;
    private const float WAVE_EXPONENT = 1.1;
    private const float CROSSES_BORDER_SHARE = 0.3;
    private const float WORLDWIDE_SHARE = 0.004;

    public int $publishedAt;
    public string $id;
    private string $home;
    private string $language;
    /** Final views in a region of medium size, without a viral wave. */
    private float $size;
    private float $taperHours;
    private float $decay;
    private ?int $viralAt;
    private float $viralSize;
    private float $viralHours;
    private float $reach;

    public function __construct(
        private int $seed,
        public int $number,
        private DemoRegions $all = new DemoRegions(),
    ) {
        [$home, $language, $size, $this->reach] = Rng::numbers("$seed $number who");
        [$viral, $viralAge, $viralSize, $viralHours] = Rng::numbers("$seed $number viral");
        [$taper, $decay] = Rng::numbers("$seed $number how");
        $this->publishedAt = $number * self::PUBLISH_INTERVAL_SECONDS;
        $this->id = substr(
            strtr(
                base64_encode(
                    hash('murmur3a', "$seed $number", true) . hash('crc32b', "$number $seed", true),
                ),
                '+/',
                '-_',
            ),
            0,
            11,
        );
        $this->home = $all->pick($home);
        $this->language = $all->language($this->home, $language);
        $this->size = Rng::pareto($size, self::LEAST_VIEWS, self::SIZE_EXPONENT);
        $this->taperHours = 3 + 12 * $taper;
        $this->decay = 0.6 + 0.8 * $decay;
        $this->viralAt =
            $viral < self::VIRAL_SHARE
                ? $this->publishedAt + (int) (12 * self::HOUR_SECONDS * $viralAge ** 2)
                : null;
        $this->viralSize = Rng::pareto($viralSize, self::LEAST_WAVE_VIEWS, self::WAVE_EXPONENT);
        $this->viralHours = 3 + 9 * $viralHours ** 2;
    }

    /** @return Generator<self> the newest ones at a time, oldest first */
    public static function newest(
        int $count,
        int $seed,
        int $time,
        DemoRegions $regions = new DemoRegions(),
    ): Generator {
        $newest = intdiv($time, self::PUBLISH_INTERVAL_SECONDS);
        for ($number = $newest - $count + 1; $number <= $newest; $number++) {
            yield new self($seed, $number, $regions);
        }
    }

    /** @return list<string> the regions where it is watched, its home first */
    public function regions(): array
    {
        return match (true) {
            $this->reach < self::WORLDWIDE_SHARE => array_values(
                array_unique([$this->home, ...$this->all->all()]),
            ),
            $this->reach < self::CROSSES_BORDER_SHARE => [
                $this->home,
                ...$this->all->neighbours($this->home, $this->language),
            ],
            default => [$this->home],
        };
    }

    /** Cumulative views at a time; never falls. */
    public function views(string $region, int $time): int
    {
        return (int) ($this->share($region) * $this->audience($time));
    }

    /** Views gained between two times in UTC seconds. */
    public function gain(string $region, int $from, int $to): float
    {
        return $this->share($region) * ($this->audience($to) - $this->audience($from));
    }

    /**
     * @param string $thumbBase the address that the videos' pictures are below, by category
     * @return array<string, string|int>
     */
    public function description(string $thumbBase): array
    {
        $text = DemoText::of("$this->seed $this->number", $this->language);

        return [
            'title' => $text->title,
            'channel' => $text->channel,
            'category' => $text->category,
            'language' => $this->language,
            'published_at' => Rfc3339::format($this->publishedAt),
            'duration_seconds' => 30 + (($this->number * 7919) % 2400),
            'thumb_base' => "$thumbBase/" . self::inAddress($text->category) . "/$this->id",
        ];
    }

    /** "News & Politics" is news-politics. */
    private static function inAddress(string $category): string
    {
        return strtolower((string) preg_replace('/[^a-z]+/i', '-', $category));
    }

    private function share(string $region): float
    {
        return $this->all->audience($region) * ($region === $this->home ? 1.0 : 0.35);
    }

    /**
     * The rate falls as a power of age; a viral video adds a wave that rises within hours and falls as the inverse cube.
     * Both are written as their integrals, so the count at a time does not need the counts before it.
     */
    private function audience(int $time): float
    {
        $ageHours = max(0, $time - $this->publishedAt) / self::HOUR_SECONDS;
        $viralHours =
            $this->viralAt === null
                ? 0.0
                : max(0, $time - $this->viralAt) / self::HOUR_SECONDS / $this->viralHours;
        $wave = $viralHours ** 2 / (1 + $viralHours ** 2);

        return $this->size * (1 - (1 + $ageHours / $this->taperHours) ** -$this->decay) +
            $this->viralSize * $wave;
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
