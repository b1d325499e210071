<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

/** What the environment says about PeerTube's instances. */
final readonly class PeerTubeSettings
{
    /** An instance adds up its views for half an hour (views.videos.local_buffer_update_interval) before it shows them. */
    private const int INTERVAL_SECONDS = 1800;
    private const int TIMEOUT_SECONDS = 40;
    private const int MOST_VIDEOS = 5000;

    private function __construct(
        public int $intervalSeconds,
        /** For all instances of a run together. */
        public int $timeoutSeconds,
        /** Of each instance. */
        public int $mostVideos,
    ) {}

    /** @throws UsageError */
    public static function of(Settings $settings): self
    {
        return new self(
            $settings->sourceInteger('PEERTUBE_INTERVAL_SECONDS', self::INTERVAL_SECONDS, 0, 86_400),
            $settings->sourceInteger('PEERTUBE_TIMEOUT_SECONDS', self::TIMEOUT_SECONDS, 1, 600),
            $settings->sourceInteger('PEERTUBE_MAX_VIDEOS', self::MOST_VIDEOS, 1, 100_000),
        );
    }
}
