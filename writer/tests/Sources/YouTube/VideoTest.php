<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\YouTube;

use PHPUnit\Framework\Attributes\Test;
use TrendVault\Writer\Sources\YouTube\Video;
use TrendVault\Writer\Tests\Sources\PlatformVideoTestCase;
use TrendVault\Writer\Tests\Support\FixedClock;

final class VideoTest extends PlatformVideoTestCase
{
    #[Test]
    public function an_item_of_any_shape_becomes_a_line(): void
    {
        foreach (self::changed(StubServer::page(['aaa'])['body']['items'][0]) as $item) {
            self::expectLine(Video::line($item, 'GB', FixedClock::NOON), 'GB');
        }
    }

    #[Test]
    public function depth_does_not_matter(): void
    {
        $deep = json_decode(str_repeat('[', 500) . str_repeat(']', 500), true);

        self::expectLine(Video::line(['id' => $deep, 'snippet' => ['title' => $deep]], 'GB', 0), 'GB');
    }
}
