<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Store;

use PHPUnit\Framework\Assert;
use TrendVault\Writer\Cli\Settings;

/** A real S3 server in a folder (versitygw, see tests/README.md). Skips the test where there is none. */
final class RealStore
{
    private const int NO_SERVER = 77;

    /** @var array<string, string> S3_ENDPOINT_URL and so on, and PUBLISH_URL */
    public readonly array $settings;
    /** @var resource */
    private mixed $process;
    /** @var array<int, resource> */
    private array $pipes = [];

    public function __construct()
    {
        $root = Settings::projectRoot();
        $bun = is_file("$root/.tools/bin/bun") ? "$root/.tools/bin/bun" : 'bun';
        $this->process = proc_open(
            [$bun, '--no-env-file', "$root/tests/kit/serve-object-store.ts"],
            [['pipe', 'r'], ['pipe', 'w'], ['pipe', 'w']],
            $this->pipes,
            $root,
        );
        $line = fgets($this->pipes[1]);
        if ($line === false) {
            $reason = trim((string) stream_get_contents($this->pipes[2]));
            $exitCode = proc_close($this->process);
            Assert::assertSame(self::NO_SERVER, $exitCode, $reason);
            Assert::markTestSkipped($reason);
        }
        $said = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
        $this->settings = [
            'PUBLISH_URL' => $said['address'],
            'PUBLISH_SIGNING_KEYS' => FakeStore::SIGNING_KEY,
            ...array_filter(
                $said,
                static fn(string $name): bool => str_starts_with($name, 'S3_'),
                ARRAY_FILTER_USE_KEY,
            ),
        ];
    }

    public function __destruct()
    {
        if (is_resource($this->process)) {
            array_map(fclose(...), $this->pipes);
            proc_close($this->process);
        }
    }
}
