<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Ranking;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Backtest\RankingQuality;
use TrendVault\Writer\Ranking\ChannelLimit;
use TrendVault\Writer\Ranking\Window;
use TrendVault\Writer\Tests\Support\OpenApi;

final class WindowTest extends TestCase
{
    #[Test]
    public function the_windows_are_those_that_the_api_offers(): void
    {
        self::assertSame(
            OpenApi::parameter('/api/trending', 'window')['enum'],
            array_column(Window::cases(), 'value'),
        );
    }

    #[Test]
    public function the_first_page_is_as_long_as_the_default_limit_of_the_api(): void
    {
        $limit = OpenApi::parameter('/api/trending', 'limit')['default'];

        self::assertSame($limit, ChannelLimit::WITHIN_RANKS);
        self::assertSame($limit, RankingQuality::RANKS);
    }
}
