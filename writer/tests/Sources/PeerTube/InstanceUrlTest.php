<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\PeerTube;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Sources\PeerTube\InstanceUrl;
use TrendVault\Writer\Sources\PeerTube\RegionRule;
use TrendVault\Writer\Sources\SourceFailure;

final class InstanceUrlTest extends TestCase
{
    private const array LANGUAGES = ['DE' => ['de'], 'FR' => ['fr']];

    #[Test]
    #[DataProvider('names')]
    public function an_entry_says_where_an_instance_is_and_where_its_videos_count(
        string $name,
        string $url,
        string $host,
        array $german,
        array $unknown,
    ): void {
        $instance = InstanceUrl::read($name);
        $rule = RegionRule::of($instance, self::LANGUAGES);

        self::assertSame([$url, $host], [$instance->url, $instance->host]);
        self::assertSame([$german, $unknown], [$rule->regions('de-AT'), $rule->regions(null)]);
    }

    /** @return iterable<array{string, string, string, list<string>, list<string>}> */
    public static function names(): iterable
    {
        $tube = ['https://tube.example', 'tube.example'];
        yield ['peertube:https://tube.example', ...$tube, ['DE'], []];
        yield ['peertube:HTTPS://Tube.Example/', ...$tube, ['DE'], []];
        yield ['peertube:https://tube.example#FR', ...$tube, ['FR'], ['FR']];
        yield ['peertube:https://tube.example#FR+DE', ...$tube, ['FR', 'DE'], ['FR', 'DE']];
        yield ['peertube:https://tube.example#language+FR', ...$tube, ['DE'], ['FR']];
        yield [
            'peertube:https://tube.example:8443',
            'https://tube.example:8443',
            'tube.example:8443',
            ['DE'],
            [],
        ];
        yield ['peertube:http://127.0.0.1:9000', 'http://127.0.0.1:9000', '127.0.0.1:9000', ['DE'], []];
    }

    #[Test]
    #[DataProvider('mistakes')]
    public function an_entry_that_cannot_be_asked_safely_is_refused(string $name, string $expected): void
    {
        $this->expectException(SourceFailure::class);
        $this->expectExceptionMessage($expected);
        RegionRule::of(InstanceUrl::read($name), self::LANGUAGES);
    }

    /** @return iterable<array{string, string}> */
    public static function mistakes(): iterable
    {
        yield ['peertube:tube.example', 'expected peertube: and the address of an instance'];
        yield ['peertube:https://tube.example/videos', 'without a path'];
        yield ['peertube:https://me:secret@tube.example', 'expected peertube:'];
        yield ['peertube:https://tube.example?x=1', 'expected peertube:'];
        yield ['peertube:http://tube.example', 'expected https'];
        yield ['peertube:https://' . str_repeat('a', 101), 'expected peertube:'];
        yield ['peertube:https://tube.example#XX', 'XX is no region. Expected one or more of DE, FR'];
        yield ['peertube:https://tube.example#de', 'de is no region'];
    }
}
