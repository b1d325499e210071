<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Commands;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Commands\SourceKinds;

final class SourceKindsTest extends TestCase
{
    #[Test]
    public function a_source_is_named_in_metrics_by_its_kind_and_host_without_what_may_be_secret(): void
    {
        $labels = [
            'demo' => 'demo',
            'youtube' => 'youtube',
            'spool:/srv/a-secret' => 'spool',
            '/srv/a-secret.ndjson' => 'ndjson',
            'http:https://stats.example/a-secret?key=a-secret' => 'http:stats.example',
            'http:https://a-user:a-secret@stats.example/' => 'http:stats.example',
            'http:a-secret' => 'http',
            'http:https://stats.example:99999/?key=a-secret' => 'http',
            'peertube:https://tube.example#language+GB' => 'peertube:tube.example',
            'edge:https://lists.example' => 'edge:lists.example',
        ];

        foreach ($labels as $source => $label) {
            self::assertSame($label, SourceKinds::label($source));
        }
    }
}
