<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\PeerTube;

use PHPUnit\Framework\Attributes\Test;
use Symfony\Component\HttpClient\HttpClient;
use TrendVault\Writer\Sources\PeerTube\Api;
use TrendVault\Writer\Sources\PeerTube\InstanceUrl;
use TrendVault\Writer\Tests\Support\FixedClock;

final class PeerTubeSourceTest extends PeerTubeTestCase
{
    #[Test]
    public function a_video_becomes_a_line_in_our_format(): void
    {
        $this->instance->hold([['number' => 7]]);

        self::assertSame(
            [
                [
                    'id' => $this->instance->id(7),
                    'views' => 1007,
                    'likes' => 12,
                    'comments' => 3,
                    'title' => 'Video 7',
                    'channel' => "A channel ({$this->instance->host})",
                    'category' => 'Science & Technology',
                    'language' => 'de',
                    'licence' => 'CC BY',
                    'published_at' => '2025-11-01T11:52:46Z',
                    'duration_seconds' => 254,
                    'live' => false,
                    'unset' => ['available_until'],
                    'made_for_kids' => false,
                    'mature' => false,
                    'thumb_base' => "http://{$this->instance->host}/lazy-static/thumbnails/9c9de5e8-0a1e-484a-b099-000000000007.jpg",
                    'region' => 'DE',
                    'observed_at' => '2025-11-20T12:00:00Z',
                ],
            ],
            $this->read('#DE'),
        );
        self::assertNull($this->failure);
    }

    #[Test]
    public function the_list_is_asked_for_as_PeerTube_documents_it_by_whom_is_said_and_packed(): void
    {
        $this->instance->hold([['number' => 1]]);
        $this->read();
        ['query' => $query, 'headers' => $headers] = $this->instance->requests()[0];

        self::assertSame(
            [
                'start' => '0',
                'sort' => '-trending',
                'isLocal' => 'true',
                'nsfw' => 'both',
                'skipCount' => 'true',
                'count' => '100',
            ],
            $query,
        );
        self::assertSame([Api::AGENT, 'gzip'], [$headers['User-Agent'], $headers['Accept-Encoding']]);
    }

    #[Test]
    public function a_video_counts_where_its_language_is_spoken_or_where_the_operator_says(): void
    {
        $this->instance->hold([
            ['number' => 1, 'language' => ['id' => 'de', 'label' => 'German']],
            ['number' => 2, 'language' => ['id' => 'pt-BR', 'label' => 'Portuguese']],
            ['number' => 3, 'language' => ['id' => null, 'label' => 'Unknown']],
            ['number' => 4, 'language' => ['id' => 'ja', 'label' => 'Japanese']],
        ]);

        self::assertSame(['1 AT', '1 BE', '1 DE', '2 PT'], $this->places(''));
        self::assertSame(['1 AT', '1 BE', '1 DE', '2 PT', '3 FR', '4 FR'], $this->places('#language+FR'));
        self::assertSame(
            ['1 GB', '1 IE', '2 GB', '2 IE', '3 GB', '3 IE', '4 GB', '4 IE'],
            $this->places('#GB+IE'),
        );
    }

    #[Test]
    public function what_is_not_public_or_of_another_instance_is_left_out_and_what_is_sensitive_is_mature(): void
    {
        $this->instance->hold(
            [
                ['number' => 1],
                ['number' => 2, 'nsfw' => true],
                ['number' => 3, 'isLive' => true],
                ['number' => 4, 'privacy' => ['id' => 2, 'label' => 'Unlisted']],
                [
                    'number' => 5,
                    'isLocal' => false,
                    'channel' => ['host' => 'other.example', 'displayName' => 'x'],
                ],
                ['number' => 6, 'channel' => ['host' => 'other.example', 'displayName' => 'x']],
            ],
            ['unfiltered' => true],
        );

        self::assertSame(['1 DE', '2 DE', '3 DE'], $this->places('#DE'));
        self::assertSame([false, true, false], array_column($this->read('#DE'), 'mature'));
        self::assertSame([false, false, 'now'], array_column($this->read('#DE'), 'live'));
        self::assertNull($this->failure);
    }

    #[Test]
    public function all_pages_are_read_until_one_is_not_full(): void
    {
        $this->instance->hold([], ['made' => 250]);

        self::assertCount(250, $this->read('#DE'));
        self::assertSame([0, 100, 200], $this->instance->starts());
        self::assertSame(0, $this->known()->next());
    }

    #[Test]
    public function no_more_pages_are_asked_for_than_the_operator_allows(): void
    {
        $this->instance->hold([], ['made' => 250]);

        self::assertCount(200, $this->read('#DE', mostPages: 2));
        self::assertSame(0, $this->known()->next());
    }

    #[Test]
    public function a_page_that_has_not_changed_is_not_sent_again_and_its_counts_hold_now(): void
    {
        $this->instance->hold([], ['made' => 150]);
        $first = $this->read('#DE');
        $this->clock->now += 1800;
        $second = $this->read('#DE');

        $tags = array_map(
            static fn(array $request): bool => isset($request['headers']['If-None-Match']),
            $this->instance->requests(),
        );
        self::assertSame([false, false, true, true], $tags);
        self::assertSame(array_column($first, 'views', 'id'), array_column($second, 'views', 'id'));
        self::assertSame(
            ['2025-11-20T12:30:00Z'],
            array_values(array_unique(array_column($second, 'observed_at'))),
        );
    }

    #[Test]
    public function what_does_not_fit_into_the_time_of_a_run_is_read_by_the_next_ones(): void
    {
        $this->instance->hold([], ['made' => 250]);
        $numbers = [];
        for ($run = 0; $run < 3; $run++) {
            $lines = $this->read('#DE', seconds: 0.0);
            self::assertNull($this->failure);
            array_push($numbers, ...array_column($lines, 'id'));
        }

        self::assertSame([0, 100, 200], $this->instance->starts());
        self::assertCount(250, array_unique($numbers));
        self::assertSame(0, $this->known()->next());
    }

    #[Test]
    public function an_instance_without_videos_is_no_failure(): void
    {
        self::assertSame([], $this->read());
        self::assertNull($this->failure);
        self::assertSame(FixedClock::NOON + 1800, $this->schedule()->dueAt(FixedClock::NOON));
    }

    #[Test]
    public function videos_of_which_none_is_in_a_language_of_a_region_are_a_failure_that_says_what_to_write(): void
    {
        $this->instance->hold([['number' => 1, 'language' => ['id' => null, 'label' => 'Unknown']]]);

        self::assertSame([], $this->read());
        self::assertStringContainsString('#language+', (string) $this->failure);
    }

    #[Test]
    public function requests_keep_a_pace(): void
    {
        $this->instance->hold([], ['made' => 350]);
        $instance = InstanceUrl::read($this->instance->source);
        $api = new Api(HttpClient::create(), $instance, paceSeconds: 0.2);
        $started = hrtime(true);
        for ($page = 0; $page < 4; $page++) {
            $api->page($page, null, 30.0);
        }

        self::assertGreaterThanOrEqual(0.6, (hrtime(true) - $started) / 1e9);
    }

    /** @return list<string> such as "1 DE" */
    private function places(string $regions): array
    {
        $numbers = array_flip(array_map($this->instance->id(...), range(0, 9)));
        $places = array_map(
            static fn(array $line): string => "{$numbers[$line['id']]} {$line['region']}",
            $this->read($regions),
        );
        sort($places);

        return $places;
    }
}
