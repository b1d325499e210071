<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use Symfony\Component\HttpClient\MockHttpClient;
use TrendVault\Writer\Sources\Transfer;
use TrendVault\Writer\Tests\Support\Draws;

final class TransferTest extends TestCase
{
    #[Test]
    public function every_entity_tag_that_is_taken_can_be_sent_back(): void
    {
        $random = Draws::randomizer();
        $client = new MockHttpClient();
        for ($draw = 0; $draw < Draws::count(300, 10_000); $draw++) {
            $bytes = $random->getBytes($random->getInt(1, 8));
            $tag = Transfer::entityTag(['etag' => ["\"$bytes\""]]);
            if ($tag !== null) {
                $client
                    ->request('GET', 'https://a.example/', ['headers' => ['If-None-Match' => $tag]])
                    ->cancel();
            }
            self::assertSame(
                preg_match('/[\x00-\x20\x7f]/', $bytes) === 0 ? "\"$bytes\"" : null,
                $tag,
                bin2hex($bytes) . ', ' . Draws::hint(),
            );
        }
    }

    #[Test]
    public function no_entity_tag_and_one_that_is_long_are_none(): void
    {
        self::assertNull(Transfer::entityTag([]));
        self::assertNull(Transfer::entityTag(['etag' => ['']]));
        self::assertSame('W/"a"', Transfer::entityTag(['etag' => ['W/"a"']]));
        self::assertNull(Transfer::entityTag(['etag' => [str_repeat('a', 201)]]));
    }
}
