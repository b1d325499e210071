<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Backup;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Backup\BackupName;
use TrendVault\Writer\Backup\BackupVerdict;
use TrendVault\Writer\Publication\Base64Url;
use TrendVault\Writer\Publication\SigningKeys;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;

final class BackupNameTest extends TestCase
{
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
