<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Support;

use RuntimeException;

/** PHP's own web server with one script, on a port of its own; it ends when nothing refers to it any more. */
final readonly class PhpServer
{
    /** http://127.0.0.1:PORT */
    public string $address;
    /** Where the script finds what to answer, and writes down what it was asked: FOLDER in its environment. */
    public TemporaryFolder $folder;
    /** @var resource */
    private mixed $process;

    /**
     * @param string $script its path
     * @param array<string, string> $environment beside FOLDER and PATH
     * @param list<string> $options of PHP
     */
    public function __construct(string $script, array $environment = [], array $options = [])
    {
        $this->folder = new TemporaryFolder();
        $this->process = proc_open(
            [PHP_BINARY, ...$options, '-S', '127.0.0.1:0', $script],
            [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w'], ['pipe', 'w']],
            $pipes,
            null,
            ['FOLDER' => $this->folder->path, 'PATH' => (string) getenv('PATH'), ...$environment],
        );
        $this->address = self::awaitAddress($pipes[2]);
        fclose($pipes[2]); // a pipe that is not read fills, and the server would wait in the middle of its log
    }

    public function __destruct()
    {
        proc_terminate($this->process, SIGKILL);
        proc_close($this->process);
    }

    /** As a whole: the script never sees half of it. */
    public function write(string $name, mixed $content): void
    {
        $path = $this->folder->write("$name.new", json_encode($content, JSON_THROW_ON_ERROR));
        rename($path, "{$this->folder->path}/$name");
    }

    /** @return list<string> the lines that the script wrote down */
    public function lines(string $name): array
    {
        return @file("{$this->folder->path}/$name", FILE_IGNORE_NEW_LINES) ?: [];
    }

    /** @return list<array<string, mixed>> the lines that the script wrote down, which are JSON */
    public function records(string $name): array
    {
        return array_map(
            static fn(string $line): array => json_decode($line, true, flags: JSON_THROW_ON_ERROR),
            $this->lines($name),
        );
    }

    /** @param resource $log */
    private static function awaitAddress(mixed $log): string
    {
        while (($line = fgets($log)) !== false) {
            if (preg_match('~http://127\.0\.0\.1:\d+~', $line, $match) === 1) {
                return $match[0];
            }
        }
        throw new RuntimeException('the web server did not start');
    }
}
