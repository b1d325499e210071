<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Commands;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Commands\SourceKinds;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Installation;

final class SourceKindsTest extends TestCase
{
    #[Test]
    public function a_source_is_named_in_metrics_by_its_kind_and_host_without_what_may_be_secret(): void
    {
        $labels = [
            'demo' => 'demo',
            'youtube' => 'youtube',
            'spool:/srv/a-secret' => 'spool',
            '/srv/a-secret.ndjson' => 'ndjson',
            'http:https://stats.example/a-secret?key=a-secret' => 'http:stats.example',
            'http:https://a-user:a-secret@stats.example/' => 'http:stats.example',
            'http:a-secret' => 'http',
            'http:https://stats.example:99999/?key=a-secret' => 'http',
            'peertube:https://tube.example#language+GB' => 'peertube:tube.example',
            'edge:https://lists.example' => 'edge:lists.example',
        ];

        foreach ($labels as $source => $label) {
            self::assertSame($label, SourceKinds::label($source));
        }
    }

    #[Test]
    #[DataProvider('names')]
    public function a_name_that_is_no_source_is_refused_with_what_is_there(
        string $name,
        string $message,
    ): void {
        $installation = Installation::migrated();
        $folder = $installation->folder->path;
        posix_mkfifo("$folder/pipe", 0o600);
        symlink('nothing', "$folder/dangling");
        $result = $installation->run(['ingest', str_replace('FOLDER', $folder, $name)]);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringContainsString($message, $result->message('source_failed'));
    }

    /** @return array<string, array{string, string}> */
    public static function names(): array
    {
        return [
            'a device' => ['/dev/zero', 'it is a folder, a pipe or a device'],
            'a pipe' => ['FOLDER/pipe', 'it is a folder, a pipe or a device'],
            'a link to nothing' => ['FOLDER/dangling', 'the link leads to nothing'],
            'nothing' => ['FOLDER/nothing', 'Expected demo, spool:FOLDER, http:URL'],
        ];
    }
}
