<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Faults;

use FilesystemIterator;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use Random\Randomizer;
use RecursiveDirectoryIterator;
use RecursiveIteratorIterator;
use Throwable;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;

/** Any content of a spool folder: the run ends, every good line is stored once, and no file is lost. */
final class FolderContentTest extends TestCase
{
    private const array KINDS = [
        'good',
        'good',
        'good',
        'mixed',
        'mixed',
        'packed',
        'members',
        'bad sum',
        'cut',
        'flipped',
        'bytes',
        'bomb',
        'empty',
        'folder',
        'pipe',
        'dangling',
        'link',
        'hard link',
        'device',
        'incomplete',
        'died once',
        'died twice',
        'died often',
        'stray claim',
        'trap',
        'trap',
    ];
    private const array JUNK = [
        "{}\n",
        "\n",
        "\r\n",
        "null\n",
        "[]\n",
        "\"x\"\n",
        "{\"id\":\"a\"}\n",
        "\x00\n",
        "\xff\xfe\n",
        "{{{{\n",
        "1e999\n",
        "{\"id\":[\"a\"],\"region\":{},\"observed_at\":[],\"views\":{}}\n",
    ];

    private Randomizer $random;
    private Installation $installation;
    private string $spool;
    /** A file that no producer may touch, as the database is one. */
    private string $victim;
    private int $lines = 0;
    private int $entries = 0;
    private bool $hasFlipped = false;
    /** @var array<string, true> ids of the lines that must be stored */
    private array $expected = [];
    /** @var array<string, true> ids of the lines that may be stored */
    private array $possible = [];

    protected function setUp(): void
    {
        $this->random = Draws::randomizer();
        $this->installation = Installation::migrated();
        $this->victim = "{$this->installation->folder->path}/victim";
        file_put_contents($this->victim, 'as it was');
    }

    protected function onNotSuccessfulTest(Throwable $failure): never
    {
        fwrite(STDERR, "\nFolderContentTest failed with " . Draws::hint() . "; set it to repeat.\n");
        throw $failure;
    }

    #[Test]
    public function whatever_is_in_the_spool_the_run_ends_and_every_good_line_is_stored_once(): void
    {
        $folders = Draws::count(usual: 20, long: 200);
        for ($folder = 0; $folder < $folders; $folder++) {
            $this->spool = "{$this->installation->folder->path}/spool $folder";
            mkdir($this->spool);
            for ($entry = $this->random->getInt(1, 15); $entry > 0; $entry--) {
                $this->make(self::KINDS[$this->random->getInt(0, count(self::KINDS) - 1)]);
            }
            $before = $this->inodes();
            $this->installation->environment['SOURCES'] = "spool:$this->spool";
            $exitCodes = [];
            foreach ([1, 2] as $run) {
                $exitCodes[] = $this->installation->run(['cron'])->exitCode;
            }

            self::assertContains($exitCodes[0], [ExitCode::Ok, ExitCode::SourceFailed]);
            self::assertSame(ExitCode::Ok, $exitCodes[1], 'the second run finds nothing that is new');
            self::assertSame([], array_diff($before, $this->inodes()), 'every file is still there');
            self::assertSame('as it was', file_get_contents($this->victim));
            self::assertSame('ok', $this->installation->value('PRAGMA integrity_check'));
            $this->assertStored();
        }
    }

    private function assertStored(): void
    {
        $stored = array_column($this->installation->rows('SELECT video_id FROM observations'), 'video_id');
        self::assertSame([], array_diff(array_keys($this->expected), $stored));
        if (!$this->hasFlipped) {
            // A flipped bit may have changed an id, which the checksum shows too late.
            self::assertSame([], array_diff($stored, array_keys($this->possible)));
        }
        self::assertSame(count($stored), $this->installation->value('SELECT sum(accepted) FROM runs'));
    }

    private function make(string $kind): void
    {
        $path = "$this->spool/{$this->fileName()}";
        match ($kind) {
            'good' => $this->write($path, $this->good()),
            'mixed' => $this->write($path, $this->mixed()),
            'packed' => $this->write($path, gzencode($this->mixed())),
            'members' => $this->write(
                $path,
                gzencode($this->good()) . gzencode('') . gzencode($this->mixed()),
            ),
            'bad sum' => $this->write(
                $path,
                substr(gzencode($this->good()), 0, -8) . $this->random->getBytes(8),
            ),
            'cut' => $this->write($path, $this->cut(gzencode($this->good(false)))),
            'flipped' => $this->write($path, $this->flipped(gzencode($this->good(false)))),
            'bytes' => $this->write($path, $this->bytes()),
            'bomb' => $this->write($path, gzencode(str_repeat($this->junk(), 60_000) . $this->good())),
            'empty' => $this->write($path, ''),
            'folder' => mkdir($path),
            'pipe' => posix_mkfifo($path, 0o600),
            'dangling' => symlink('../nothing', $path),
            'device' => symlink('/dev/zero', $path),
            'link' => symlink('../' . basename($this->elsewhere()), $path),
            'hard link' => link($this->elsewhere(), $path),
            'incomplete' => $this->write("$path.part", $this->good(false)),
            'died once' => $this->write($this->claim(1), $this->good()),
            'died twice' => $this->write($this->claim(2), $this->good(false)),
            'died often' => $this->write($this->claim(4), $this->good(false)),
            'stray claim' => $this->write("{$this->reading()}/{$this->entries}-x", 'not ours'),
            'trap' => $this->trap(),
        };
    }

    /** Where writers before version 0.1 kept their files, something that leads them to the victim or lets them wait. */
    private function trap(): void
    {
        $folder = "$this->spool/{$this->oneOf(['reading', 'done', 'rejected'])}";
        $path = $folder;
        if ($this->random->getInt(0, 1) === 0 && !is_link($folder) && (is_dir($folder) || @mkdir($folder))) {
            $name = 'trap' . ++$this->lines . '.ndjson';
            $content = $this->good() . "nonsense\n";
            $this->write("$this->spool/$name", $content);
            $stem = substr(hash('sha256', $content), 0, 12) . "-$name";
            $path = "$folder/$stem" . $this->oneOf(['', '.report.ndjson']);
        }
        if (file_exists($path) || is_link($path)) {
            return;
        }
        match ($this->oneOf(['link', 'hard link', 'pipe', 'socket', 'folder'])) {
            'link' => symlink(
                $this->oneOf([
                    $this->victim,
                    $this->installation->database,
                    $this->installation->folder->path,
                    "{$this->installation->folder->path}/new",
                    '/dev/zero',
                ]),
                $path,
            ),
            'hard link' => link($this->victim, $path),
            'pipe' => posix_mkfifo($path, 0o600),
            'socket' => posix_mknod($path, POSIX_S_IFSOCK | 0o600, 1),
            'folder' => mkdir($path),
        };
    }

    /** @param non-empty-list<string> $choices */
    private function oneOf(array $choices): string
    {
        return $choices[$this->random->getInt(0, count($choices) - 1)];
    }

    /** Where files are that runs read or died of: now, or before version 0.1. */
    private function reading(): string
    {
        $folder = $this->oneOf(["{$this->installation->database}.reading", "$this->spool/reading"]);

        return (is_dir($folder) && !is_link($folder)) || @mkdir($folder) ? $folder : $this->reading();
    }

    private function write(string $path, string|false $content): void
    {
        file_put_contents($path, $content);
    }

    /** A file outside of the spool, to link to. */
    private function elsewhere(): string
    {
        $path = "$this->spool elsewhere $this->lines";
        $this->write($path, $this->good());

        return $path;
    }

    private function claim(int $runs): string
    {
        return "{$this->reading()}/$runs-" . bin2hex($this->random->getBytes(6)) . '-a.ndjson';
    }

    /** Any bytes that a file system takes; no two entries of a folder have the same name, one of which may be a pipe. */
    private function fileName(): string
    {
        $ending = $this->random->getInt(0, 1) === 0 ? '.ndjson' : '.ndjson.gz';
        $length = $this->random->getInt(0, 3) === 0 ? 240 : $this->random->getInt(4, 30);
        $bytes = strtr($this->random->getBytes($length - 3), ["\0" => '0', '/' => '_']);

        return sprintf('x%02d', ++$this->entries % 100) . $bytes . $ending;
    }

    private function good(bool $isExpected = true): string
    {
        $text = '';
        for ($count = $this->random->getInt(1, 40); $count > 0; $count--) {
            $id = 'v' . ++$this->lines;
            $this->possible[$id] = true;
            if ($isExpected) {
                $this->expected[$id] = true;
            }
            $text .= NdjsonLine::of(['id' => $id, 'observed_at' => NdjsonLine::ago(60)]) . "\n";
        }

        return $text;
    }

    private function mixed(): string
    {
        $text = '';
        for ($part = $this->random->getInt(1, 6); $part > 0; $part--) {
            $text .= $this->good() . str_repeat($this->junk(), $this->random->getInt(0, 3000));
        }

        return $text;
    }

    private function junk(): string
    {
        return self::JUNK[$this->random->getInt(0, count(self::JUNK) - 1)];
    }

    private function cut(string $bytes): string
    {
        return substr($bytes, 0, $this->random->getInt(0, strlen($bytes)));
    }

    private function flipped(string $bytes): string
    {
        $this->hasFlipped = true;
        $at = $this->random->getInt(0, strlen($bytes) - 1);

        return substr_replace($bytes, chr(ord($bytes[$at]) ^ (1 << $this->random->getInt(0, 7))), $at, 1);
    }

    private function bytes(): string
    {
        $bytes = $this->random->getBytes($this->random->getInt(1, 100_000));

        return $this->random->getInt(0, 1) === 0 ? $bytes : "\x1f\x8b\x08$bytes";
    }

    /** @return array<string, int> of all that is or was in a spool, by path */
    private function inodes(): array
    {
        $inodes = [];
        $flags = FilesystemIterator::SKIP_DOTS | FilesystemIterator::CURRENT_AS_PATHNAME;
        $entries = new RecursiveIteratorIterator(
            new RecursiveDirectoryIterator($this->installation->folder->path, $flags),
            RecursiveIteratorIterator::SELF_FIRST,
        );
        foreach ($entries as $path) {
            if ($path !== "$this->spool/reading" && preg_match('~\.db(-wal|-shm|\.lock)?$~D', $path) === 0) {
                $inodes[$path] = lstat($path)['ino'];
            }
        }

        return $inodes;
    }
}
