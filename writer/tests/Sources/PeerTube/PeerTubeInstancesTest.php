<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\PeerTube;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use Psr\Log\NullLogger;
use Random\Randomizer;
use Symfony\Component\Console\Output\BufferedOutput;
use Symfony\Component\HttpClient\Exception\InvalidArgumentException;
use Symfony\Component\HttpClient\MockHttpClient;
use Symfony\Component\HttpClient\Response\MockResponse;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\Settings;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ingest\ObservationStore;
use TrendVault\Writer\Ingest\SourceIngestion;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Sources\PeerTube\InstanceUrl;
use TrendVault\Writer\Sources\PeerTube\PeerTubeInstances;
use TrendVault\Writer\Sources\PeerTube\RegionRule;
use TrendVault\Writer\Sources\RunTime;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;
use TrendVault\Writer\Tests\Support\TemporaryFolder;

final class PeerTubeInstancesTest extends TestCase
{
    private const int INSTANCES = 20;
    private const array LANGUAGES = ['DE' => ['de'], 'FR' => ['fr']];

    private Database $database;
    private FixedClock $clock;
    /** @var list<string> hosts in the order in which they were asked */
    private array $asked = [];

    protected function setUp(): void
    {
        $this->database = MigratedDatabase::inMemory();
        $this->clock = new FixedClock();
    }

    #[Test]
    public function of_twenty_instances_of_which_one_answers_garbage_nineteen_are_in(): void
    {
        $random = Draws::randomizer();
        $bad = $random->getInt(1, self::INSTANCES);
        $failures = $this->runOnce([$bad => self::garbage($random)]);

        self::assertSame(["tube$bad.example"], $failures, Draws::hint());
        $hosts = array_column(
            $this->database->rows("SELECT DISTINCT substr(id, instr(id, '~') + 1) AS host FROM videos"),
            'host',
        );
        self::assertCount(self::INSTANCES - 1, $hosts);
        self::assertNotContains("tube$bad.example", $hosts);
    }

    #[Test]
    public function an_instance_that_fails_is_not_asked_each_minute_and_the_others_not_before_the_interval(): void
    {
        $answers = [3 => new MockResponse('', ['http_code' => 500])];
        $this->runOnce($answers);
        $this->asked = [];
        $this->clock->now += 20;
        $this->runOnce($answers);
        self::assertSame([], $this->asked);
        $this->clock->now += 60;
        $this->runOnce($answers);
        self::assertSame(['tube3.example'], array_unique($this->asked));
        $this->clock->now += 1800;
        $this->asked = [];
        $this->runOnce([]);
        self::assertCount(self::INSTANCES, $this->asked);
        self::assertSame('tube3.example', end($this->asked)); // it waited for the shortest time
    }

    #[Test]
    public function an_entry_that_cannot_be_read_or_names_an_instance_twice_harms_no_other(): void
    {
        $names = [
            'peertube:nonsense',
            'peertube:https://tube1.example#DE',
            'peertube:https://tube1.example#FR',
        ];
        $said = [];
        foreach ($this->instances([])->open($names, new RunTime(600)) as $name => $source) {
            $said[$name] = $source instanceof SourceFailure ? $source->getMessage() : 'asked';
        }

        self::assertStringContainsString('expected peertube:', $said[$names[0]]);
        self::assertSame('asked', $said[$names[1]]);
        self::assertStringContainsString('named twice', $said[$names[2]]);
    }

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

    /**
     * @param array<int, MockResponse|InvalidArgumentException> $answers in place of the right one, by the number of the
     *   instance; an exception is thrown before there is a request
     * @return list<string> the hosts of instances that failed
     */
    private function runOnce(array $answers): array
    {
        $folder = new TemporaryFolder();
        $run = MigratedDatabase::beginRun($this->database);
        $parser = new ObservationParser(['DE' => true], $this->clock->now);
        $ingestion = new SourceIngestion(
            $this->database,
            $run,
            $parser,
            new ObservationStore($this->database, $this->clock->now),
            $folder->path,
        );
        $failed = [];
        $names = array_map(
            static fn(int $number): string => "peertube:https://tube$number.example#DE",
            range(1, self::INSTANCES),
        );
        foreach ($this->instances($answers)->open($names, new RunTime(600)) as $source) {
            $result = $ingestion->ingest($source, static fn(): null => null);
            if ($result['failure'] !== null) {
                $failed[] = substr($source->name(), strlen('peertube-'));
            }
        }

        return $failed;
    }

    /** @param array<int, MockResponse|InvalidArgumentException> $answers */
    private function instances(array $answers): PeerTubeInstances
    {
        $client = new MockHttpClient(function (string $method, string $url) use ($answers): MockResponse {
            $host = (string) parse_url($url, PHP_URL_HOST);
            $this->asked[] = $host;

            $answer = $answers[(int) filter_var($host, FILTER_SANITIZE_NUMBER_INT)] ?? self::list($host);

            return $answer instanceof MockResponse ? $answer : throw $answer;
        });
        $context = new Context(
            Settings::read([], null),
            $this->clock,
            new NullLogger(),
            new BufferedOutput(),
        );

        return new PeerTubeInstances($context, $this->database, $client);
    }

    private static function list(string $host): MockResponse
    {
        $item = [
            'shortUUID' => '2y84q2MQUMWPbiEcxNXMgC',
            'name' => 'A name',
            'isLocal' => true,
            'views' => 1000,
            'thumbnailPath' => '/lazy-static/thumbnails/a.jpg',
            'channel' => ['displayName' => 'A channel', 'host' => $host],
        ];

        return new MockResponse(json_encode(['data' => [$item]], JSON_THROW_ON_ERROR));
    }

    private static function garbage(Randomizer $random): MockResponse|InvalidArgumentException
    {
        return match ($random->getInt(0, 10)) {
            0 => new MockResponse('<!doctype html>'),
            1 => new MockResponse('{"data": 5}'),
            2 => new MockResponse(''),
            3 => new MockResponse("\x1f\x8b broken gzip"),
            4 => new MockResponse($random->getBytes(1000)),
            5 => new MockResponse(str_repeat('[', 100_000)),
            6 => new MockResponse('', ['http_code' => 502]),
            7 => new MockResponse('', [
                'http_code' => 301,
                'response_headers' => ['Location' => 'http://10.0.0.1/'],
            ]),
            8 => new MockResponse('', ['error' => 'host unreachable']),
            9 => self::list('tube99.example'),
            10 => new InvalidArgumentException('Malformed URL "https://tube.example/".'),
        };
    }
}
