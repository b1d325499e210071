<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\Http;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use Symfony\Component\HttpClient\MockHttpClient;
use Symfony\Component\HttpClient\Response\MockResponse;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Sources\Http\Downloader;
use TrendVault\Writer\Sources\Http\HttpUrl;
use TrendVault\Writer\Sources\RunTime;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;
use TrendVault\Writer\Tests\Support\PhpServer;
use TrendVault\Writer\Tests\Support\ProcessResult;
use TrendVault\Writer\Tests\Support\TemporaryFolder;

final class HttpSourceTest extends TestCase
{
    private const string TOKEN = 'Bearer nobody-may-see-this';

    private static ?string $observedAt = null;
    private FileServer $server;

    protected function setUp(): void
    {
        $this->server = new FileServer();
    }

    #[Test]
    public function a_file_is_stored_and_read_again_only_when_its_entity_tag_is_another(): void
    {
        $installation = Installation::migrated();
        $this->server->answer(self::lines(2), ['ETag' => '"one"']);
        self::assertSame(ExitCode::Ok, $this->ingest($installation)->exitCode);
        $again = $this->ingest($installation);
        self::assertSame([ExitCode::Ok, 0], [$again->exitCode, $again->events('ingested')[0]['unchanged']]);
        $this->server->answer(self::lines(3), ['ETag' => '"two"']);
        $third = $this->ingest($installation);

        self::assertSame(
            [1, 2],
            [$third->events('ingested')[0]['accepted'], $third->events('ingested')[0]['unchanged']],
        );
        self::assertSame(3, $installation->value('SELECT count(*) FROM observations'));
        $tags = array_map(
            static fn(array $request): ?string => $request['headers']['If-None-Match'] ?? null,
            $this->server->requests(),
        );
        self::assertSame([null, '"one"', '"one"'], $tags);
    }

    #[Test]
    public function a_server_that_says_not_modified_is_not_silent(): void
    {
        $installation = Installation::migrated();
        $this->server->answer(self::lines(1), ['ETag' => '"one"']);
        $this->ingest($installation);
        $heardAt = $installation->value('SELECT heard_at FROM sources');
        $installation->execute('UPDATE sources SET heard_at = 1');
        $this->ingest($installation);

        self::assertSame('"one"', $this->server->requests()[1]['headers']['If-None-Match'] ?? null);
        self::assertGreaterThanOrEqual($heardAt, $installation->value('SELECT heard_at FROM sources'));
    }

    #[Test]
    public function what_does_not_change_is_read_whole_again_before_what_it_announces_ends_by_age(): void
    {
        $installation = Installation::migrated(['OBSERVATION_RETENTION_HOURS' => '400']);
        $this->server->answer(self::lines(1), ['ETag' => '"one"']);
        $this->ingest($installation);
        $age = static fn(int $seconds): string => "UPDATE http_sources SET read_at = read_at - $seconds";
        $installation->execute($age(100 * 3600 - 60));
        $this->ingest($installation);
        $installation->execute($age(120));
        $this->ingest($installation);
        $this->ingest($installation);
        $tags = array_map(
            static fn(array $request): ?string => $request['headers']['If-None-Match'] ?? null,
            $this->server->requests(),
        );

        self::assertSame([null, '"one"', null, '"one"'], $tags);
    }

    #[Test]
    public function a_complete_catalogue_with_a_line_that_is_rejected_is_received_once(): void
    {
        $installation = Installation::migrated();
        $this->server->answer(self::lines(1) . "{\n{\"complete\": true}\n", ['ETag' => '"one"']);

        self::assertStringContainsString(
            'Nothing leaves',
            $this->ingest($installation)->message('source_failed'),
        );
        self::assertSame(ExitCode::Ok, $this->ingest($installation)->exitCode);
        self::assertSame('"one"', $this->server->requests()[1]['headers']['If-None-Match'] ?? null);
    }

    #[Test]
    public function a_complete_catalogue_that_came_half_is_received_again_so_that_it_can_be_allowed(): void
    {
        $installation = Installation::migrated();
        $line = ['region' => null, 'regions' => ['GB'], 'views' => null, 'observed_at' => null];
        foreach ([8 => '', 4 => '--allow-leaving', 5 => '--allow-leaving'] as $videos => $advice) {
            $named = array_map(
                static fn(int $video): array => [...$line, 'id' => "v$video"],
                range(1, $videos),
            );
            $this->server->answer(NdjsonLine::many($named) . "{\"complete\": true}\n", [
                'ETag' => "\"$videos\"",
            ]);
            self::assertStringContainsString($advice, $this->ingest($installation)->errors);
        }
        $allowed = $installation->run(['ingest', '--allow-leaving', "http:{$this->server->url}"]);

        self::assertSame(3, $allowed->events('ingested')[0]['left'] ?? null, $allowed->errors);
        self::assertSame(5, $installation->value('SELECT count(*) FROM catalogue'));
    }

    #[Test]
    public function what_ends_with_the_connection_is_asked_for_again_because_it_may_have_been_cut(): void
    {
        foreach ([[], ['Transfer-Encoding' => 'identity']] as $coding) {
            $installation = Installation::migrated();
            $this->server->answer(self::lines(2), ['ETag' => '"one"', ...$coding], more: ['seconds' => 0]);
            self::assertSame(ExitCode::Ok, $this->ingest($installation)->exitCode);
            $this->server->answer(self::lines(3), ['ETag' => '"one"']);
            self::assertSame(ExitCode::Ok, $this->ingest($installation)->exitCode);

            self::assertSame(3, $installation->value('SELECT count(*) FROM observations'));
        }
    }

    #[Test]
    public function what_ends_with_its_last_chunk_is_received_once(): void
    {
        $installation = Installation::migrated();
        $chunks = sprintf("%x\r\n%s\r\n0\r\n\r\n", strlen(self::lines(2)), self::lines(2));
        $headers = ['ETag' => '"one"', 'Transfer-Encoding' => 'chunked'];
        $this->server->answer($chunks, $headers, more: ['seconds' => 0]);
        $this->ingest($installation);
        $this->ingest($installation);

        self::assertSame(2, $installation->value('SELECT count(*) FROM observations'));
        self::assertSame('"one"', $this->server->requests()[1]['headers']['If-None-Match'] ?? null);
    }

    #[Test]
    public function gzip_is_unpacked_whether_it_is_the_file_or_the_coding(): void
    {
        $installation = Installation::migrated();
        foreach ([['Content-Encoding' => 'gzip'], ['Content-Type' => 'application/gzip']] as $headers) {
            $this->server->answer((string) gzencode(self::lines(2)), $headers);
            self::assertSame(ExitCode::Ok, $this->ingest($installation)->exitCode);
        }
        self::assertSame(2, $installation->value('SELECT count(*) FROM observations'));
    }

    #[Test]
    public function credentials_are_sent_to_their_host_only_and_are_in_no_log_and_no_table(): void
    {
        $host =
            parse_url($this->server->url, PHP_URL_HOST) . ':' . parse_url($this->server->url, PHP_URL_PORT);
        $this->server->answer(self::lines(1), ['ETag' => '"one"']);
        foreach ([$host => self::TOKEN, 'other.example' => null] as $name => $expected) {
            $installation = Installation::migrated();
            $installation->environment['HTTP_SOURCE_AUTHORIZATION'] = "$name " . self::TOKEN;
            $result = $this->ingest($installation, '?key=secret-of-a-query');
            $requests = $this->server->requests();

            self::assertSame($expected, end($requests)['headers']['Authorization'] ?? null);
            $database = (string) file_get_contents($installation->database);
            foreach ([$result->output, $result->errors, $database] as $text) {
                self::assertStringNotContainsString('nobody-may-see-this', $text);
                self::assertStringNotContainsString('secret-of-a-query', $text);
            }
        }
    }

    #[Test]
    public function a_server_that_asks_for_a_pause_gets_it(): void
    {
        $installation = Installation::migrated();
        $this->server->answer('', ['Retry-After' => '600'], 429);
        $first = $this->ingest($installation);
        $second = $this->ingest($installation);

        self::assertSame([ExitCode::SourceFailed, ExitCode::Ok], [$first->exitCode, $second->exitCode]);
        self::assertStringContainsString('a pause of 600 s', $first->message('source_failed'));
        self::assertStringContainsString('is not asked before', $second->message('source_paused'));
        self::assertCount(1, $this->server->requests());
        $pause = $second->events('source_paused')[0];
        self::assertStringContainsString(
            "trendvault_writer_source_retry_timestamp_seconds{source=\"{$pause['source']}\"} " .
                strtotime($pause['until']),
            $installation->run(['status', '--prometheus'])->output,
        );
    }

    #[Test]
    public function a_file_that_is_too_large_is_given_up(): void
    {
        $answer = new MockResponse((string) gzencode(self::lines(2)));
        $folder = new TemporaryFolder();
        $downloader = new Downloader(new MockHttpClient($answer), $folder->path, new RunTime(600), 10, []);
        [$received] = $downloader->fetch([HttpUrl::read('http:https://stats.example/views.ndjson.gz')]);

        self::assertInstanceOf(SourceFailure::class, $received);
        self::assertStringContainsString('it has more than 10 bytes. Nothing of it', $received->getMessage());
    }

    /** @param array{0: string, 1?: array<string, string>, 2?: int, 3?: array<string, mixed>} $answer */
    #[Test]
    #[DataProvider('faults')]
    public function a_file_that_does_not_come_whole_is_asked_for_again(
        array $answer,
        string $message,
        int $stored = 0,
    ): void {
        $installation = Installation::migrated();
        $installation->environment['SOURCE_TIMEOUT_SECONDS'] = isset($answer[3]) ? '3' : '600';
        $this->server->answer(...$answer);
        $failed = $this->ingest($installation);
        $installation->environment['SOURCE_TIMEOUT_SECONDS'] = '600';
        $installation->execute('UPDATE http_sources SET retry_at = 0'); // the pause of an endless one is over
        self::assertSame(ExitCode::SourceFailed, $failed->exitCode);
        self::assertStringContainsString($message, $failed->message('source_failed'));
        self::assertSame($stored, $installation->value('SELECT count(*) FROM observations'));
        self::assertSame([], glob("{$installation->folder->path}/.download*"));

        $this->server->answer(self::lines(2), ['ETag' => '"whole"']);
        self::assertSame(ExitCode::Ok, $this->ingest($installation)->exitCode);
        self::assertSame(2, $installation->value('SELECT count(*) FROM observations'));
    }

    /** @return array<string, array{0: array<mixed>, 1: string, 2?: int}> what is answered, said, and stored */
    public static function faults(): array
    {
        $lines = self::lines(2);
        $tag = ['ETag' => '"whole"'];

        return [
            'cut off' => [[$lines, [...$tag, 'Content-Length' => '9999']], 'Nothing of it is stored'],
            'in another coding' => [[$lines, [...$tag, 'Content-Encoding' => 'br']], 'in the coding br'],
            'endless' => [[$lines, $tag, 200, ['seconds' => 30]], 'Nothing of it is stored'],
            'empty' => [['', $tag], 'is empty'],
            'damaged gzip, after its lines' => [
                [substr((string) gzencode($lines), 0, -6), $tag],
                'gzip data is damaged',
                2,
            ],
            'refused' => [[$lines, $tag, 403], 'HTTP_SOURCE_AUTHORIZATION'],
            'moved' => [[$lines, ['Location' => 'https://other.example/'], 302], 'It redirects'],
            'not found' => [[$lines, $tag, 404], 'the server answers 404'],
            'broken' => [[$lines, $tag, 500], 'the server answers 500'],
            'not modified, without a reason' => [[$lines, [], 304], 'the server answers 304'],
        ];
    }

    #[Test]
    #[DataProvider('badNames')]
    public function an_address_that_cannot_be_asked_safely_is_refused_without_its_secrets(
        string $name,
        string $message,
    ): void {
        $result = Installation::migrated()->run(['ingest', $name]);
        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringContainsString($message, $result->message('source_failed'));
        self::assertStringNotContainsString('hunter2', $result->message('source_failed'));
    }

    /** @return array<string, array{string, string}> */
    public static function badNames(): array
    {
        return [
            'no TLS' => ['http:http://stats.example/views.ndjson?key=hunter2', 'expected https'],
            'a user' => ['http:https://me:hunter2@stats.example/views.ndjson', 'without a user'],
            'another scheme' => ['http:ftp://stats.example/views.ndjson', 'expected http: and an address'],
            'no address' => ['http:', 'expected http: and an address'],
        ];
    }

    private function ingest(Installation $installation, string $query = ''): ProcessResult
    {
        return $installation->run(['ingest', "http:{$this->server->url}$query"]);
    }

    private static function lines(int $count): string
    {
        self::$observedAt ??= NdjsonLine::ago(60); // the same lines again are the same observations
        $fields = array_map(
            static fn(int $number): array => ['id' => "video-$number", 'observed_at' => self::$observedAt],
            range(1, $count),
        );

        return NdjsonLine::many($fields);
    }
}

/** A web server with one file, on a port of its own. */
final class FileServer
{
    public readonly string $url;
    private readonly PhpServer $server;

    public function __construct()
    {
        // An endless answer does not keep the next one.
        $this->server = new PhpServer(__DIR__ . '/stub.php', ['PHP_CLI_SERVER_WORKERS' => '4']);
        $this->url = "{$this->server->address}/views.ndjson";
    }

    /**
     * @param array<string, string> $headers
     * @param array<string, mixed> $more members of stub.php's answer; with one, the body ends with the connection
     */
    public function answer(string $body, array $headers = [], int $status = 200, array $more = []): void
    {
        $this->server->write('answer.json', [
            'status' => $status,
            'headers' => (object) ($headers + ($more === [] ? ['Content-Length' => strlen($body)] : [])),
            'body' => base64_encode($body),
            ...$more,
        ]);
    }

    /** @return list<array{target: string, headers: array<string, string>}> */
    public function requests(): array
    {
        return $this->server->records('requests.ndjson');
    }
}
