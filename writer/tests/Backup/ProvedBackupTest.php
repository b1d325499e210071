<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Backup;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Publication\PublicationTestCase;
use TrendVault\Writer\Tests\Store\FakeStore;
use TrendVault\Writer\Tests\Support\Installation;

/** Whose backup it is that `restore` brings back. */
final class ProvedBackupTest extends PublicationTestCase
{
    private const string TAKES = ' --allow-unproved takes it, if you know that it is yours.';

    /** @param callable(FakeStore, Installation): void $prepare */
    #[Test]
    #[DataProvider('unproved')]
    public function an_unproved_backup_is_refused_and_taken_when_somebody_says_so(
        callable $prepare,
        string $expected,
    ): void {
        [$store, $target] = self::backedUp();
        $prepare($store, $target);
        $refused = $target->run(['restore']);
        $result = $target->run(['restore', '--allow-unproved']);

        self::assertSame(ExitCode::SourceFailed, $refused->exitCode);
        self::assertStringContainsString($expected, $refused->message());
        self::assertStringEndsWith(self::TAKES, $refused->message());
        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        self::assertFalse($result->events('restored')[0]['is_proved']);
        self::assertStringContainsString('Nothing proves who made it', $result->message('restored'));
    }

    /** @return array<string, array{callable(FakeStore, Installation): void, string}> */
    public static function unproved(): array
    {
        return [
            'not signed' => [
                static fn(FakeStore $store) => self::rename($store, '~-[\w-]{8}-[\w-]{86}(?=\.db)~', ''),
                'is not signed: it was made without PUBLISH_SIGNING_KEYS, by a version before, or by somebody else.',
            ],
            'signed by another key' => [
                static function (FakeStore $store, Installation $target): void {
                    $target->environment['PUBLISH_SIGNING_KEYS'] = strrev(FakeStore::SIGNING_KEY);
                    $target->environment['PUBLISH_URL'] = ''; // whose pointers are signed by that key as well
                },
                'names a key that is not in PUBLISH_SIGNING_KEYS',
            ],
        ];
    }

    #[Test]
    public function a_forged_backup_is_never_taken(): void
    {
        [$store, $target] = self::backedUp();
        self::rename($store, '~/20~', '/21');
        $result = $target->run(['restore', '--allow-unproved']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringEndsWith('is not what was signed.', $result->message());
        self::assertFileDoesNotExist($target->database);
    }

    #[Test]
    public function a_proved_backup_goes_before_others_of_its_time_and_only_such_are_named(): void
    {
        [$store, $target] = self::backedUp();
        [$proved] = $store->keys('backups/');
        $time = substr($proved, strlen('backups/'), 18);
        foreach (['A', 'z'] as $letter) {
            $hash = str_repeat($letter, 43);
            $store->put("backups/$time-$hash.db.gz", 'unsigned');
            $store->put((string) preg_replace('~Z-.{43}~', "Z-$hash", $proved), 'forged');
            $store->put("backups/2120-01-01T000000Z-$hash.db.gz", 'unsigned');
        }
        $newest = $target->run(['restore']);
        $result = $target->run(['restore', '--backup', $time, '--allow-unproved']);

        self::assertStringEndsWith("For --backup there are $time.", $newest->message());
        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        self::assertTrue($result->events('restored')[0]['is_proved']);
        self::assertStringContainsString($proved, $result->message('restored'));
    }

    /** Puts the backup under another name. */
    private static function rename(FakeStore $store, string $pattern, string $replacement): void
    {
        [$key] = $store->keys('backups/');
        $content = (string) $store->content($key);
        $store->delete($key);
        $store->put((string) preg_replace($pattern, $replacement, $key), $content);
    }

    /** @return array{FakeStore, Installation} with a backup, and one where there is none yet */
    private static function backedUp(): array
    {
        $store = new FakeStore();
        $installation = self::installation($store, ['BACKUP_URL' => FakeStore::ADDRESS]);
        $installation->run(['cron']);

        return [$store, new Installation($installation->environment)];
    }
}
