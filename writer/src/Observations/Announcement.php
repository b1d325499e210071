<?php

declare(strict_types=1);

namespace TrendVault\Writer\Observations;

/** What a video is and where it may be listed, without views: a line of a site's catalogue. */
final readonly class Announcement
{
    /**
     * @param list<string> $regions of this writer; none when all are other writers'
     * @param array<string, string|int|null> $description by column of videos; null for a field that the line does not have
     */
    public function __construct(public string $videoId, public array $regions, public array $description) {}
}
