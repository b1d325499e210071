<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Commands;

use FilesystemIterator;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\Attributes\TestWith;
use RecursiveDirectoryIterator;
use RecursiveIteratorIterator;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Publication\PublicationTestCase;
use TrendVault\Writer\Tests\Store\FakeStore;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;
use TrendVault\Writer\Tests\Support\TemporaryFolder;

final class EraseTest extends PublicationTestCase
{
    private const string CHANNEL = 'Zoë Quixworthy';
    private const string ID = 'quixvideo-1';
    /** As they are, and as JSON may write them. */
    private const array NAMES = [
        'channel' => [self::CHANNEL, 'Zo\u00eb Quixworthy', 'Quixworthy', 'quixvideo-', 'A talk by Q'],
        'video' => [self::ID, 'A talk by Q number 1'],
    ];

    private FakeStore $store;
    private Installation $installation;

    protected function setUp(): void
    {
        $this->store = new FakeStore();
        $this->installation = self::installation($this->store, [
            'BACKUP_URL' => FakeStore::ADDRESS,
            'RENDER_COMMAND' => sprintf('"%s" "%s/Publication/render.php"', PHP_BINARY, dirname(__DIR__)),
        ]);
        mkdir("{$this->installation->folder->path}/spool");
        $this->installation->environment['SOURCES'] .= ",spool:{$this->installation->folder->path}/spool";
    }

    #[Test]
    #[TestWith(['channel', self::CHANNEL])]
    #[TestWith(['video', self::ID])]
    public function afterwards_no_place_has_a_byte_of_the_name_and_it_does_not_come_back(
        string $kind,
        string $name,
    ): void {
        $this->fill();
        foreach (self::NAMES[$kind] as $text) {
            self::assertNotSame([], $this->placesOf($text), $text);
        }
        $result = $this->installation->run(['erase', "--$kind", $name]);

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        self::assertStringContainsString('What this cannot reach', $result->output);
        self::assertStringNotContainsString($name, $result->output . $result->errors);
        $this->assertErased($kind);
        self::assertSame('ok', $this->installation->value('PRAGMA integrity_check'));
        self::assertSame([], $this->installation->rows('PRAGMA foreign_key_check'));
        self::assertWholeChain($this->store);
        self::assertNeverBackwards($this->store);
        $generations = $this->installation->rows('SELECT id FROM generations');
        self::assertCount(1, $generations);
        self::assertGreaterThan(0, $this->installation->value('SELECT count(*) FROM trending'));
        self::assertCount(1, $this->store->keys('backups/'));

        $this->send(0);
        $again = $this->installation->run(['cron']);
        self::assertSame(ExitCode::Ok, $again->exitCode, $again->errors);
        self::assertGreaterThan(0, array_sum(array_column($again->events('ingested'), 'erased')));
        $this->assertErased($kind);
        self::assertSame(ExitCode::Ok, $this->installation->run(['erase', "--$kind", $name])->exitCode);

        $restored = new Installation($this->installation->environment);
        self::assertSame(ExitCode::Ok, $restored->run(['restore'])->exitCode);
        $this->installation = $restored;
        $this->send(0);
        $restored->run(['cron']);
        $this->assertErased($kind);
        self::assertGreaterThan(0, $restored->value('SELECT count(*) FROM videos'));
    }

    #[Test]
    public function a_channel_that_no_video_has_is_kept_out_when_it_comes(): void
    {
        self::assertSame(
            ExitCode::Ok,
            $this->installation->run(['erase', '--channel', self::CHANNEL])->exitCode,
        );
        $this->send(0);
        $this->installation->run(['cron']);

        $this->assertErased('channel');
        self::assertSame([], $this->installation->rows('SELECT * FROM removals'));
    }

    #[Test]
    public function a_file_that_named_nothing_else_is_left_empty_and_no_remark_is_made_of_it(): void
    {
        $folder = dirname($this->installation->database) . '/rejected';
        mkdir($folder);
        file_put_contents("$folder/bad.ndjson", NdjsonLine::of(['id' => self::ID]) . "\n");
        foreach ([1, 2] as $_) {
            $result = $this->installation->run(['erase', '--video', self::ID]);
            self::assertSame(ExitCode::Ok, $result->exitCode);
            self::assertStringNotContainsString('bad.ndjson', $result->output);
            self::assertStringEqualsFile("$folder/bad.ndjson", '');
        }
    }

    #[Test]
    public function lines_that_are_cut_off_or_too_long_go_too_and_go_when_they_come_again(): void
    {
        $folder = dirname($this->installation->database) . '/rejected';
        $name = json_encode(self::CHANNEL, JSON_THROW_ON_ERROR);
        $lines = [
            "{\"id\": \"other\", \"channel\": $name, \"title\": \"A ti",
            "{\"channel\" :$name, \"title\": \"" . str_repeat('quix ', 600_000) . '"}',
            '{"id": "kept", "title": "A ti',
        ];
        $stored = fn(): string => implode(
            array_map(file_get_contents(...), array_filter(glob("$folder/*") ?: [], is_file(...))),
        );
        $this->installation->run(['ingest', '-'], implode("\n", $lines));
        self::assertStringContainsString('quix', $stored());
        foreach (range(1, 2) as $_) {
            $result = $this->installation->run(['erase', '--channel', self::CHANNEL]);
            self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
            self::assertStringNotContainsString('quix', $stored());
            self::assertStringNotContainsString('other', $stored());
            self::assertStringContainsString('kept', $stored());
        }
        foreach ($lines as $line) {
            $this->installation->run(['ingest', '-'], $line);
            self::assertStringNotContainsString('quix', $stored());
            self::assertStringNotContainsString('other', $stored());
        }
    }

    #[Test]
    public function what_links_lead_to_is_left_alone(): void
    {
        $folder = dirname($this->installation->database) . '/rejected';
        mkdir($folder);
        $line = NdjsonLine::of(['id' => self::ID]) . "\n";
        file_put_contents("$folder/bad.ndjson", $line);
        file_put_contents("{$this->installation->folder->path}/elsewhere", $line);
        foreach (['link.ndjson', 'bad.ndjson.erasing'] as $name) {
            symlink('../elsewhere', "$folder/$name");
        }
        $result = $this->installation->run(['erase', '--video', self::ID]);

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        self::assertStringEqualsFile("$folder/bad.ndjson", '');
        self::assertStringEqualsFile("{$this->installation->folder->path}/elsewhere", $line);
        self::assertTrue(is_link("$folder/link.ndjson"));
    }

    #[Test]
    public function of_a_name_that_nothing_has_this_is_said(): void
    {
        $result = $this->installation->run(['erase', '--channel', 'Germany']);

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        self::assertStringContainsString(
            'Nothing was erased: nothing here has that name.',
            $result->events('erased')[0]['message'],
        );
        self::assertStringNotContainsString('Other rows have this text', $result->output);
    }

    #[Test]
    #[TestWith(['PUBLISH_SIGNING_KEYS', 'wrong'])]
    #[TestWith(['BACKUP_RETENTION_HOURS', 'wrong'])]
    public function a_wrong_setting_is_told_before_anything_is_deleted(string $name, string $value): void
    {
        $this->fill();
        $this->installation->environment[$name] = $value;
        $result = $this->installation->run(['erase', '--channel', self::CHANNEL]);

        self::assertSame(ExitCode::Usage, $result->exitCode, $result->errors);
        self::assertStringContainsString($name, $result->message());
        self::assertSame(0, $this->installation->value('SELECT count(*) FROM erased'));
        self::assertSame(2, $this->installation->value("SELECT count(*) FROM videos WHERE id LIKE 'quix%'"));
    }

    #[Test]
    public function no_backup_goes_before_the_store_has_given_the_new_one_back(): void
    {
        $this->fill();
        $before = $this->store->keys('backups/');
        $this->store->fail([
            ['fault' => 'truncated', 'method' => 'GET', 'key' => 'backups/', 'for_ever' => true],
        ]);
        $failed = $this->installation->run(['erase', '--channel', self::CHANNEL]);

        self::assertSame(ExitCode::SourceFailed, $failed->exitCode, $failed->errors);
        self::assertCount(1, $failed->events('backup_failed'));
        self::assertSame([], array_diff($before, $this->store->keys('backups/')));
        $this->store->fail([]);
        self::assertSame(
            ExitCode::Ok,
            $this->installation->run(['erase', '--channel', self::CHANNEL])->exitCode,
        );
        self::assertCount(1, $this->store->keys('backups/'));
        $this->assertErased('channel');
    }

    #[Test]
    public function a_store_that_has_no_bundles_any_more_names_none(): void
    {
        $this->fill();
        unset($this->installation->environment['RENDER_COMMAND']);
        self::assertNotNull($this->store->content('bundle.json'));
        $result = $this->installation->run(['erase', '--channel', self::CHANNEL]);

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        self::assertNull($this->store->content('bundle.json'));
        self::assertSame([], $this->store->keys('bundles/'));
    }

    #[Test]
    public function what_the_editorial_file_or_an_operator_still_says_of_it_is_not_stored_again(): void
    {
        $outside = new TemporaryFolder();
        $file = "$outside->path/editorial.json";
        $this->installation->environment['EDITORIAL_FILE'] = $file;
        $pin = ['video' => self::ID, 'region' => 'GB', 'window' => 'day', 'rank' => 1];
        $decisions = [
            'removals' => [
                ['channel' => self::CHANNEL, 'reason' => 'a letter'],
                ['video' => 'kept', 'reason' => 'spam'],
            ],
            'pins' => [[...$pin, 'until' => '2099-01-01T00:00:00Z', 'reason' => 'why']],
            'rules' => [
                [
                    'channel' => self::CHANNEL,
                    'factor' => 0.5,
                    'until' => '2099-01-01T00:00:00Z',
                    'reason' => 'why',
                ],
                [
                    'tag' => self::CHANNEL,
                    'factor' => 0,
                    'until' => '2099-01-01T00:00:00Z',
                    'reason' => 'why',
                ],
                [
                    'word' => self::CHANNEL,
                    'factor' => 0,
                    'until' => '2099-01-01T00:00:00Z',
                    'reason' => 'why',
                ],
            ],
            'allowed' => [['channel' => self::CHANNEL], ['video' => self::ID]],
            'lifted' => [['video' => self::ID, 'field' => 'mature', 'reason' => 'seen']],
        ];
        file_put_contents($file, json_encode($decisions, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE));
        $this->send(300);
        $this->installation->run(['cron']);
        self::assertSame(
            ExitCode::Ok,
            $this->installation->run(['erase', '--channel', self::CHANNEL])->exitCode,
        );
        $this->assertErased('channel');

        $this->send(0);
        $this->installation->run(['cron']);
        foreach ([['--channel', self::CHANNEL], [self::ID]] as $words) {
            $removed = $this->installation->run(['remove', ...$words]);
            self::assertSame(ExitCode::Ok, $removed->exitCode, $removed->errors);
            self::assertCount(1, $removed->events('removed_erased'));
        }
        $this->assertErased('channel');
        self::assertSame(
            [['name' => 'kept']],
            $this->installation->rows('SELECT name FROM removals'),
            'the rest of the file is in force',
        );
        self::assertStringContainsString(
            'What it says of an erased name is left out',
            $this->installation->run(['editorial'])->output,
        );
    }

    #[Test]
    public function what_another_video_says_of_it_stays_and_is_told(): void
    {
        $this->fill();
        $this->write('others', [
            ['id' => 'other', 'region' => 'GB', 'title' => self::CHANNEL . ' explained'],
        ]);
        $this->installation->run(['cron']);
        $result = $this->installation->run(['erase', '--channel', self::CHANNEL]);

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        self::assertStringContainsString('Other rows have this text in videos.title (1).', $result->output);
    }

    #[Test]
    public function after_the_store_has_failed_the_same_command_erases_the_rest(): void
    {
        $this->fill();
        $this->store->fail([['fault' => '403 AccessDenied', 'method' => 'PUT DELETE', 'for_ever' => true]]);
        $failed = $this->installation->run(['erase', '--channel', self::CHANNEL]);
        self::assertSame(ExitCode::SourceFailed, $failed->exitCode, $failed->errors);
        $this->store->fail([]);
        $result = $this->installation->run(['erase', '--channel', self::CHANNEL]);

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        $this->assertErased('channel');
    }

    #[Test]
    #[TestWith([[]])]
    #[TestWith([['--video', 'a', '--channel', 'b']])]
    #[TestWith([['--video', 'not an id']])]
    public function a_mistake_erases_nothing(array $options): void
    {
        self::assertSame(ExitCode::Usage, $this->installation->run(['erase', ...$options])->exitCode);
        self::assertSame(0, $this->installation->value('SELECT count(*) FROM erased'));
    }

    /** Names it in every place that there is: tables, files in every state, several generations, bundles and backups. */
    private function fill(): void
    {
        foreach ([300, 200, 100] as $age) {
            $this->send($age);
            $result = $this->installation->run(['cron']);
            self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
            $this->installation->run(['backup']);
        }
        $this->installation->execute(
            "INSERT INTO impressions SELECT 'GB', id, 1, 0, 3, 1, 0.5, unixepoch(), 3, 1 FROM videos;
            INSERT INTO pulled_counts SELECT 'GB', 29000000, 'day', '', row_number() OVER (), id, 3, 1 FROM videos;
            INSERT INTO lifted SELECT id, 'mature', NULL FROM videos;
            INSERT INTO youtube_videos SELECT 'GB', id, 1, unixepoch() FROM videos;
            INSERT INTO removals VALUES ('channel', '" .
                self::CHANNEL .
                "', 'a letter', 1), ('video', '" .
                self::ID .
                "', 'a letter', 1);
            INSERT INTO removal_claims VALUES ('channel', '" .
                self::CHANNEL .
                "', 1);
            INSERT INTO peertube_pages VALUES ('tube.example', 0, 'x', 1, 'packed " .
                self::CHANNEL .
                ' ' .
                self::ID .
                "');
            UPDATE runs SET error = 'Cannot read " .
                self::CHANNEL .
                ' ' .
                self::ID .
                "';
            PRAGMA secure_delete = OFF;
            CREATE TABLE freed AS SELECT v.channel || ' Quixworthy ' || v.title || v.id AS text FROM videos AS v, observations;
            DROP TABLE freed",
        );
    }

    private function send(int $age): void
    {
        $lines = [];
        foreach ([1, 2] as $number) {
            $lines[] = [
                'id' => "quixvideo-$number",
                'region' => 'GB',
                'channel' => self::CHANNEL,
                'title' => "A talk by Q number $number",
                'observed_at' => NdjsonLine::ago($age),
                'views' => 1_000_000 - 100 * $age,
                'available_until' => '2099-01-01T00:00:00Z',
                'tags' => [self::CHANNEL],
                'pictures' => [
                    [
                        'url' => "https://quixworthy.example/quixvideo-$number",
                        'width' => 640,
                        'height' => 360,
                    ],
                ],
                'titles' => ['cy' => "A talk by Q number $number (Zoë Quixworthy)", 'en' => 'A talk by Q'],
            ];
        }
        $other = [
            'id' => 'kept',
            'region' => 'GB',
            'observed_at' => NdjsonLine::ago($age),
            'views' => 10_000 - $age,
        ];
        $this->write("plain-$age", [...$lines, $other]);
        $this->write("packed-$age", $lines, isPacked: true);
        $this->write("bad-$age", [
            ...$lines,
            [...$lines[0], 'views' => -1],
            [...$lines[1], 'views' => -1],
            [...$other, 'views' => -1],
        ]);
    }

    /** @param list<array<string, mixed>> $lines */
    private function write(string $name, array $lines, bool $isPacked = false): void
    {
        $spool = "{$this->installation->folder->path}/spool";
        if (!is_dir($spool)) {
            mkdir($spool);
            $this->installation->environment['SOURCES'] = "spool:$spool";
        }
        $text = NdjsonLine::many($lines);
        if ($isPacked) {
            $text = str_replace('ë', '\u00eb', $text); // as other writers of JSON do
        }
        file_put_contents(
            "$spool/$name.ndjson" . ($isPacked ? '.gz' : ''),
            $isPacked ? gzencode($text) : $text,
        );
    }

    private function assertErased(string $kind): void
    {
        foreach (self::NAMES[$kind] as $text) {
            self::assertSame([], $this->placesOf($text), $text);
        }
    }

    /** @return list<string> the files and objects that have a text, packed or not */
    private function placesOf(string $text): array
    {
        $places = [];
        $files = new RecursiveIteratorIterator(
            new RecursiveDirectoryIterator($this->installation->folder->path, FilesystemIterator::SKIP_DOTS),
        );
        foreach ($files as $file) {
            $places[$file->getPathname()] = (string) file_get_contents($file->getPathname());
        }
        foreach ($this->store->keys() as $key) {
            $places[$key] = (string) $this->store->content($key);
        }

        return array_keys(
            array_filter(
                $places,
                static fn(string $bytes): bool => str_contains($bytes . @gzdecode($bytes), $text),
            ),
        );
    }
}
