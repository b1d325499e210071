<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Commands;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;

/** Addresses that look like some, and for which there can be no request: the client throws before it sends one. */
final class AddressWithoutRequestTest extends TestCase
{
    #[Test]
    public function a_source_that_can_never_be_asked_harms_no_other_and_its_secrets_are_not_said(): void
    {
        $random = Draws::randomizer();
        $installation = Installation::migrated();
        $file = $installation->folder->write(
            'views.ndjson',
            NdjsonLine::many([['id' => 'video-1', 'observed_at' => NdjsonLine::ago(60)]]),
        );
        $sources = [
            "peertube:https://tube.example:{$random->getInt(65_536, 99_999)}#DE",
            "http:https://stats.example:{$random->getInt(65_536, 99_999)}/views?key=a-secret",
            'youtube',
            "edge:https://lists.example:{$random->getInt(65_536, 99_999)}",
            $file,
        ];
        $installation->environment = [
            'SOURCES' => implode(',', $random->shuffleArray($sources)),
            'YOUTUBE_API_KEY' => 'a-secret',
            'YOUTUBE_API_URL' => "https://videos.example:{$random->getInt(65_536, 99_999)}/?key=a-secret",
            'VIEWS_KEYS' => 'k1:' . base64_encode(str_repeat('k', 32)),
        ];
        $run = $installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $run->exitCode, Draws::hint() . $run->errors);
        self::assertCount(4, $run->events('source_failed'), Draws::hint() . $run->errors);
        self::assertSame(1, $installation->value('SELECT count(*) FROM observations'));
        self::assertStringNotContainsString('a-secret', $run->errors);
        $schedules = implode(
            array_column($installation->rows('SELECT failure FROM source_schedules'), 'failure'),
        );
        self::assertStringNotContainsString('a-secret', $schedules);
    }

    #[Test]
    public function a_key_that_cannot_be_sent_is_not_said(): void
    {
        $installation = Installation::migrated([
            'SOURCES' => 'youtube',
            'YOUTUBE_API_KEY' => "a-se\ncret",
        ]);
        $run = $installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $run->exitCode, $run->errors);
        self::assertStringNotContainsString('cret', $run->errors . $run->output);
    }
}
