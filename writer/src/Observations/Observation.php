<?php

declare(strict_types=1);

namespace TrendVault\Writer\Observations;

/**
 * A video's view count in one market at one time. Times are UTC seconds, counts are cumulative.
 * Null in what describes the video means that the line did not say.
 */
final readonly class Observation
{
    public function __construct(
        public string $videoId,
        public string $region,
        public int $observedAt,
        public int $views,
        public ?int $likes = null,
        public ?int $comments = null,
        public ?string $title = null,
        public ?string $channel = null,
        public ?string $thumbBase = null,
        public ?string $category = null,
        public ?string $language = null,
        public ?int $publishedAt = null,
        public ?int $durationSeconds = null,
    ) {}

    /** Whether it says all that must be known of a video that is new. */
    public function describesVideo(): bool
    {
        return $this->title !== null && $this->channel !== null && $this->thumbBase !== null;
    }

    /** A number that changes with anything that is said about the video itself. */
    public function descriptionHash(): int
    {
        $said = "$this->title\n$this->channel\n$this->thumbBase\n$this->category\n$this->language\n$this->publishedAt\n$this->durationSeconds";

        return unpack('q', hash('xxh3', $said, true))[1];
    }
}
