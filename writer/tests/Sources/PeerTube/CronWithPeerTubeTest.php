<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\PeerTube;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Installation;

final class CronWithPeerTubeTest extends TestCase
{
    #[Test]
    public function instances_are_stored_and_ranked_and_one_that_is_broken_harms_none(): void
    {
        [$good, $broken] = [new FakePeerTube(), new FakePeerTube()];
        $good->hold([], ['made' => 120]);
        $broken->hold([], ['made' => 120, 'always' => 'html']);
        $installation = Installation::migrated(['SOURCES' => "$broken->source,$good->source#DE"]);
        $first = $installation->run(['cron']);
        $requests = [count($good->requests()), count($broken->requests())];
        $installation->lengthenPauses();
        $second = $installation->run(['cron']);

        self::assertSame([ExitCode::SourceFailed, ExitCode::Ok], [$first->exitCode, $second->exitCode]);
        self::assertStringContainsString("Cannot read $broken->host", $first->message('source_failed'));
        self::assertSame(120, $installation->value('SELECT count(*) FROM observations'));
        self::assertSame(
            ['DE'],
            array_column($installation->rows('SELECT DISTINCT region FROM trending'), 'region'),
        );
        self::assertSame([2, 2], $requests);
        self::assertSame($requests, [count($good->requests()), count($broken->requests())]);
        self::assertSame("peertube:$broken->host", $second->events('source_paused')[0]['source']);
    }
}
