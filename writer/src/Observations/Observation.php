<?php

declare(strict_types=1);

namespace TrendVault\Writer\Observations;

/**
 * A video's view count in one region at one time. Times are UTC seconds, counts are cumulative.
 * Null means that the line did not have the field.
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
        public ?string $url = null,
    ) {}

    /** Whether it has every field that a new video needs. */
    public function describesVideo(): bool
    {
        return $this->title !== null && $this->channel !== null && $this->thumbBase !== null;
    }

    /** A 64-bit hash of the fields that describe the video, not of its counts. */
    public function descriptionHash(): int
    {
        $description = "$this->title\n$this->channel\n$this->thumbBase\n$this->category\n$this->language\n$this->publishedAt\n$this->durationSeconds";
        if ($this->url !== null) {
            $description .= "\n$this->url";
        }

        return unpack('q', hash('xxh3', $description, true))[1];
    }
}
