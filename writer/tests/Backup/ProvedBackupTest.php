<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Backup;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use TrendVault\Writer\Backup\BackupName;
use TrendVault\Writer\Backup\BackupVerdict;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Publication\Base64Url;
use TrendVault\Writer\Publication\SigningKeys;
use TrendVault\Writer\Tests\Publication\PublicationTestCase;
use TrendVault\Writer\Tests\Store\FakeStore;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\Installation;

/** Whose backup it is that `restore` brings back, and what its name says of that. */
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

    #[Test]
    public function a_name_says_time_and_hash_and_who_signed_both(): void
    {
        [$keys, $others] = [self::keys('a'), self::keys('b')];
        $name = BackupName::of(FixedClock::NOON, self::hash('x'), $keys);
        $read = BackupName::read($name->key);

        self::assertEquals($name, $read);
        self::assertSame(self::hash('x'), $read->hash);
        self::assertSame(BackupVerdict::Proved, $read->verdict($keys->publicKeys));
        self::assertSame(BackupVerdict::UnknownKey, $read->verdict($others->publicKeys));
    }

    #[Test]
    public function a_key_that_does_not_sign_any_more_still_proves(): void
    {
        [$old, $new] = [self::seed('a'), self::seed('b')];
        $name = BackupName::of(FixedClock::NOON, self::hash('x'), SigningKeys::read($old));

        self::assertSame(BackupVerdict::Proved, $name->verdict(SigningKeys::read("$new,$old")->publicKeys));
    }

    #[Test]
    public function without_a_key_it_is_not_signed(): void
    {
        $name = BackupName::of(FixedClock::NOON, self::hash('x'), null);

        self::assertEquals($name, BackupName::read($name->key));
        self::assertSame(BackupVerdict::Unsigned, $name->verdict(self::keys('a')->publicKeys));
    }

    #[Test]
    public function no_character_of_a_signed_name_can_be_another_one(): void
    {
        $random = Draws::randomizer();
        $keys = self::keys('a');
        for ($draw = 0; $draw < 1000; $draw++) {
            $key = BackupName::of($random->getInt(0, 4_000_000_000), self::hash((string) $draw), $keys)->key;
            $place = $random->getInt(strlen(BackupName::FOLDER), strlen($key) - strlen('.db.gz') - 1);
            $forged = $key;
            $forged[$place] = $random->getBytesFromString('abcXYZ019-_TZ', 1);
            $verdict = BackupName::read($forged)?->verdict($keys->publicKeys);

            self::assertSame($forged === $key, $verdict === BackupVerdict::Proved, Draws::hint());
        }
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

    private static function keys(string $character): SigningKeys
    {
        return SigningKeys::read(self::seed($character));
    }

    private static function seed(string $character): string
    {
        return Base64Url::encode(hash('sha256', $character, true));
    }

    private static function hash(string $content): string
    {
        return Base64Url::encode(hash('sha256', $content, true));
    }
}
