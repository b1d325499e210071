<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\Http;

use RuntimeException;
use TrendVault\Writer\Tests\Support\TemporaryFolder;

/** A web server with one file, on a port of its own. */
final class FileServer
{
    public readonly string $url;
    private readonly TemporaryFolder $folder;
    /** @var resource */
    private readonly mixed $process;

    public function __construct()
    {
        $this->folder = new TemporaryFolder();
        $this->process = proc_open(
            [PHP_BINARY, '-S', '127.0.0.1:0', __DIR__ . '/stub.php'],
            [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['pipe', 'w']],
            $pipes,
            null,
            [
                'STUB_FOLDER' => $this->folder->path,
                'PHP_CLI_SERVER_WORKERS' => '4', // an endless answer does not keep the next one
                'PATH' => (string) getenv('PATH'),
            ],
        );
        while (($line = fgets($pipes[2])) !== false) {
            if (preg_match('~http://127\.0\.0\.1:\d+~', $line, $match) === 1) {
                $this->url = "$match[0]/views.ndjson";
                fclose($pipes[2]); // a pipe that is not read fills, and the server would wait in the middle of its log

                return;
            }
        }
        throw new RuntimeException('the web server did not start');
    }

    public function __destruct()
    {
        proc_terminate($this->process, SIGKILL);
        proc_close($this->process);
    }

    /**
     * @param array<string, string> $headers
     * @param array<string, mixed> $more members of stub.php's answer
     */
    public function answer(string $body, array $headers = [], int $status = 200, array $more = []): void
    {
        $answer = [
            'status' => $status,
            'headers' => (object) $headers,
            'body' => base64_encode($body),
            ...$more,
        ];
        $this->folder->write('answer.json', json_encode($answer, JSON_THROW_ON_ERROR));
    }

    /** @return list<array{target: string, headers: array<string, string>}> */
    public function requests(): array
    {
        $lines = @file("{$this->folder->path}/requests.ndjson") ?: [];

        return array_map(
            static fn(string $line): array => json_decode($line, true, flags: JSON_THROW_ON_ERROR),
            $lines,
        );
    }
}
