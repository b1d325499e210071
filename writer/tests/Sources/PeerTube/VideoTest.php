<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\PeerTube;

use PHPUnit\Framework\Attributes\Test;
use TrendVault\Writer\Sources\PeerTube\InstanceUrl;
use TrendVault\Writer\Sources\PeerTube\Video;
use TrendVault\Writer\Tests\Sources\PlatformVideoTestCase;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Time\Rfc3339;

final class VideoTest extends PlatformVideoTestCase
{
    private const array ITEM = [
        'shortUUID' => '2y84q2MQUMWPbiEcxNXMgC',
        'name' => 'A name',
        'category' => ['id' => 15, 'label' => 'Science & Technology'],
        'licence' => ['id' => 7, 'label' => 'Public Domain Dedication'],
        'language' => ['id' => 'de', 'label' => 'German'],
        'privacy' => ['id' => 1, 'label' => 'Public'],
        'nsfw' => false,
        'isLocal' => true,
        'isLive' => false,
        'duration' => 254,
        'views' => 1000,
        'likes' => 12,
        'comments' => 3,
        'thumbnailPath' => '/lazy-static/thumbnails/a.jpg',
        'publishedAt' => '2025-11-01T11:52:46.396Z',
        'channel' => ['name' => 'main', 'displayName' => 'A channel', 'host' => 'tube.example'],
    ];

    #[Test]
    public function whatever_an_instance_says_its_line_is_of_itself_and_is_taken_or_rejected(): void
    {
        $instance = InstanceUrl::read('peertube:https://tube.example');
        foreach (self::changed(self::ITEM) as $item) {
            $fields = Video::isOf($item, 'tube.example')
                ? Video::fields($item, $instance, FixedClock::NOON)
                : null;
            if ($fields !== null) {
                self::assertStringEndsWith('~tube.example', $fields['id'], Draws::hint());
                self::assertStringEndsWith(' (tube.example)', $fields['channel'] ?? ' (tube.example)');
                self::assertStringStartsWith(
                    'https://tube.example/',
                    $fields['thumb_base'] ?? 'https://tube.example/',
                );
                self::expectLine(
                    json_encode([...$fields, 'region' => 'DE', 'observed_at' => '2025-11-20T12:00:00Z']),
                    'DE',
                );
            }
        }
    }

    #[Test]
    public function a_licence_that_a_plugin_adds_has_its_own_name(): void
    {
        $instance = InstanceUrl::read('peertube:https://tube.example');
        $pairs = [[2, 'CC BY-SA'], [7, 'CC0-1.0'], [90, 'The label'], [null, null], ['2', null]];
        foreach ($pairs as [$id, $ours]) {
            $item = [...self::ITEM, 'licence' => ['id' => $id, 'label' => 'The label']];
            $fields = Video::fields($item, $instance, FixedClock::NOON);
            self::assertSame($ours, $fields['licence'] ?? null);
        }
    }

    #[Test]
    public function what_is_not_public_is_left_out(): void
    {
        $instance = InstanceUrl::read('peertube:https://tube.example');
        $changes = [['privacy' => ['id' => 2]], ['shortUUID' => 'x~y']];
        foreach ($changes as $change) {
            self::assertNull(Video::fields([...self::ITEM, ...$change], $instance, FixedClock::NOON));
        }
    }

    #[Test]
    public function what_is_on_air_is_live_for_three_hours_and_has_no_duration_until_its_replay_is_there(): void
    {
        $instance = InstanceUrl::read('peertube:https://tube.example');
        $of = static fn(array $change): array => array_intersect_key(
            Video::fields([...self::ITEM, ...$change], $instance, FixedClock::NOON) ?? [],
            ['live' => true, 'duration_seconds' => true, 'available_until' => true, 'unset' => true],
        );

        self::assertSame(
            ['live' => 'now', 'available_until' => Rfc3339::format(FixedClock::NOON + 3 * 3600)],
            $of(['isLive' => true, 'duration' => 0]),
        );
        self::assertEquals(
            ['live' => false, 'duration_seconds' => 254, 'unset' => ['available_until']],
            $of([]),
        );
        self::assertSame(['duration_seconds' => 254], $of(['isLive' => 'yes']));
    }

    #[Test]
    public function a_picture_whose_address_is_longer_than_what_is_stored_is_none(): void
    {
        $instance = InstanceUrl::read('peertube:https://tube.example');
        $of = static fn(int $bytes): mixed => Video::fields(
            [
                ...self::ITEM,
                'thumbnailPath' => '/' . str_repeat('a', $bytes - strlen("$instance->url/.jpg")) . '.jpg',
            ],
            $instance,
            FixedClock::NOON,
        )['thumb_base'] ?? null;
        self::assertSame(500, strlen((string) $of(500)));
        self::assertNotSame(501, strlen((string) $of(501)));
    }

    #[Test]
    public function pictures_are_of_the_instance_and_their_sizes_are_said(): void
    {
        $instance = InstanceUrl::read('peertube:https://tube.example');
        $of = static fn(mixed $thumbnails): array => array_intersect_key(
            Video::fields([...self::ITEM, 'thumbnails' => $thumbnails], $instance, FixedClock::NOON) ?? [],
            ['thumb_base' => true, 'pictures' => true],
        );
        $own = 'https://tube.example/lazy-static/thumbnails';

        self::assertSame(
            [
                'thumb_base' => "$own/m.jpg",
                'pictures' => [
                    ['url' => "$own/l.jpg", 'width' => 1920, 'height' => 1080],
                    ['url' => "$own/m.jpg", 'width' => 400, 'height' => 225],
                    ['url' => "$own/s.jpg", 'width' => 100, 'height' => 56],
                ],
            ],
            $of([
                ['width' => 1920, 'height' => 1080, 'fileUrl' => "$own/l.jpg"],
                ['width' => 500, 'fileUrl' => "$own/n.jpg"],
                ['width' => 400, 'height' => 225, 'fileUrl' => "$own/m.jpg"],
                ['width' => 100, 'height' => 56, 'fileUrl' => "$own/s.jpg"],
                ['width' => 300, 'height' => 169, 'fileUrl' => 'https://next.example/lazy-static/o.jpg'],
                ['width' => 300, 'height' => 169, 'fileUrl' => "$own/o.svg"],
                'a thumbnail',
            ]),
        );
        self::assertSame(['thumb_base' => "$own/n.jpg"], $of([['width' => 500, 'fileUrl' => "$own/n.jpg"]]));
        foreach ([[], null, 'thumbnails'] as $none) {
            self::assertSame(['thumb_base' => "$own/a.jpg"], $of($none));
        }
    }

    #[Test]
    public function ids_of_two_instances_are_never_the_same_however_long_their_names_are(): void
    {
        $long = str_repeat('a', 60);
        $ids = array_map(
            static fn(string $host): string => Video::fields(
                self::ITEM,
                InstanceUrl::read("peertube:https://$host"),
                FixedClock::NOON,
            )['id'],
            ['tube.example', 'tube.example:8443', "$long.example", "$long.examplf", 'ube.example'],
        );

        self::assertCount(5, array_unique($ids));
        self::assertLessThanOrEqual(64, max(array_map(strlen(...), $ids)));
    }
}
