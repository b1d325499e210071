<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\Http;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;

/** Hosts that accept and never answer, that drip, that only say that they go on, that close, and good ones among them. */
final class SilentHostsTest extends TestCase
{
    private const array SILENT = ['is silent', 'drips', 'goes on'];

    /** @var ?resource of the hosts */
    private mixed $process = null;

    protected function tearDown(): void
    {
        if ($this->process !== null) {
            proc_terminate($this->process, SIGKILL);
            proc_close($this->process);
        }
    }

    #[Test]
    public function silent_hosts_hold_a_run_once_and_together_and_keep_nothing_of_the_others(): void
    {
        $random = Draws::randomizer();
        $kinds = ['answers', 'is silent', 'drips', 'goes on', 'closes'];
        for ($does = [...$kinds, 'is silent']; count($does) < 14; ) {
            $does[] = $kinds[$random->getInt(0, 4)];
        }
        $does = $random->shuffleArray($does);
        $of = static fn(string ...$kinds): array => array_keys(
            array_filter($does, static fn(string $kind): bool => in_array($kind, $kinds, true)),
        );
        $lines = NdjsonLine::of(['id' => 'video-HOST', 'observed_at' => NdjsonLine::ago(60)]);
        [$ports, $said] = $this->start($does, $lines);
        stream_set_blocking($said, false);
        $installation = Installation::migrated(['SOURCE_TIMEOUT_SECONDS' => '13']); // what a host that drips takes of each run
        $urls = array_map(static fn(int $port): string => "http:http://127.0.0.1:$port/views", $ports);
        $run = static function () use ($installation, $urls, $said): array {
            $result = $installation->run(['ingest', ...$urls]);

            return [$result, array_filter(explode("\n", (string) stream_get_contents($said)))];
        };

        [$first, $events] = $run();
        self::assertSame(ExitCode::SourceFailed, $first->exitCode, Draws::hint() . $first->errors);
        $begun = array_values(preg_grep('/^begins/', $events));
        self::assertEqualsCanonicalizing(
            array_map(static fn(int $host): string => "begins $host", array_keys($does)),
            $begun,
            'each is asked once, ' . Draws::hint(),
        );
        $ends = array_intersect(
            $events,
            array_map(static fn(int $host): string => "ends $host", $of(...self::SILENT)),
        );
        self::assertSame(
            [],
            array_intersect(array_slice($events, array_key_first($ends)), $begun),
            'no host waits for a silent one, ' . Draws::hint(),
        );
        self::assertEqualsCanonicalizing(
            array_map(static fn(int $host): string => "video-$host", $of('answers')),
            array_column($installation->rows('SELECT video_id FROM observations'), 'video_id'),
            Draws::hint(),
        );
        self::assertSame(
            array_map(static fn(int $host): string => "127.0.0.1-$ports[$host]-views", $of('answers')),
            array_values(
                array_filter(
                    array_map(
                        static fn(array $event): ?string => $event['accepted'] > 0
                            ? strstr($event['source'], '127')
                            : null,
                        $first->events('ingested'),
                    ),
                ),
            ),
            'in the order of SOURCES, ' . Draws::hint(),
        );

        self::assertSame(
            [[1, count($of(...self::SILENT))]],
            array_map(
                array_values(...),
                $installation->rows(
                    'SELECT silent_runs, count(*) FROM http_sources WHERE retry_at BETWEEN asked_at + 30 AND asked_at + 60 GROUP BY 1',
                ),
            ),
        );

        $installation->lengthenPauses();
        [$second, $events] = $run();
        self::assertEqualsCanonicalizing(
            array_map(static fn(int $host): string => "begins $host", $of('answers', 'closes')),
            array_values(preg_grep('/^begins/', $events)),
            'silent ones are left alone, ' . Draws::hint(),
        );
        self::assertCount(count($of(...self::SILENT)), $second->events('source_paused'));
        $status = $installation->run(['status'])->output;
        foreach ($of(...self::SILENT) as $host) {
            self::assertStringContainsString(
                "Paused      http:127.0.0.1:$ports[$host] is not asked before",
                $status,
            );
        }
        self::assertStringContainsString(
            'nothing of it came in 10 s',
            $status,
            'a host that goes on sent bytes',
        );
        self::assertStringContainsString('(curl -I)', $status);
    }

    #[Test]
    public function an_edge_that_only_says_that_it_goes_on_is_given_up_in_time(): void
    {
        [$ports] = $this->start(['goes on without an end'], '');
        $installation = Installation::migrated([
            'SOURCES' => "edge:http://127.0.0.1:$ports[0]",
            'SOURCE_TIMEOUT_SECONDS' => '3', // it has to be asked in that time
            'VIEWS_KEYS' => 'v1:' . str_repeat('a', 43),
        ]);
        $result = $installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode, $result->errors);
        self::assertStringContainsString(
            'nothing of an answer came in time',
            $result->message('source_failed'),
        );
    }

    /**
     * @param list<string> $does
     * @return array{list<int>, resource} the ports, and what they say
     */
    private function start(array $does, string $lines): array
    {
        $this->process = proc_open(
            [PHP_BINARY, __DIR__ . '/silent-hosts.php', ...$does],
            [['file', '/dev/null', 'r'], ['pipe', 'w']],
            $pipes,
            null,
            ['LINES' => $lines],
        );

        return [json_decode((string) fgets($pipes[1]), true), $pipes[1]];
    }
}
