<?php

declare(strict_types=1);

namespace TrendVault\Writer\Demo;

use Generator;
use TrendVault\Writer\Time\Rfc3339;

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
