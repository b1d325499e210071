<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Publication;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Publication\CurrentPointer;
use TrendVault\Writer\Store\Deadline;
use TrendVault\Writer\Store\S3Client;
use TrendVault\Writer\Store\StoreAddress;
use TrendVault\Writer\Store\Transport;
use TrendVault\Writer\Tests\Store\FakeStore;
use TrendVault\Writer\Tests\Store\RealStore;
use TrendVault\Writer\Tests\Support\Installation;

final class PublishTest extends PublicationTestCase
{
    #[Test]
    public function a_generation_is_an_object_then_a_pointer_then_the_current_pointer(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store);
        $result = $installation->run(['cron']);

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        $pointer = self::current($store);
        self::assertSame(1, $pointer->generation);
        self::assertSame(
            ["PUT {$pointer->fileKey()}", 'PUT pointers/1.json', 'PUT current.json'],
            array_values(preg_grep('/^PUT/', $store->requests())),
        );
        self::assertSame(1, $result->events('stored')[0]['generation']);
        self::assertWholeChain($store);
        self::assertDirectoryDoesNotExist("$installation->database.publication");
    }

    #[Test]
    public function each_pointer_has_the_hash_of_the_one_before(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store);
        for ($run = 1; $run <= 3; $run++) {
            $installation->run(['cron']);
        }

        self::assertSame(
            [3, 2],
            [self::current($store)->generation, self::current($store)->previousGeneration],
        );
        self::assertWholeChain($store);
        self::assertNeverBackwards($store);
    }

    #[Test]
    public function what_is_published_already_is_left_alone(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store);
        $installation->run(['cron']);
        $requests = count($store->requests());
        $result = $installation->run(['publish']);

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        self::assertSame(['GET current.json'], array_slice($store->requests(), $requests));
    }

    #[Test]
    public function a_cron_that_ranks_nothing_new_asks_the_store_nothing(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store);
        $installation->run(['cron']);
        $requests = count($store->requests());
        $installation->execute('UPDATE generations SET published_at = published_at + 86400');
        $result = $installation->run(['cron']);

        self::assertSame(ExitCode::ClockBackwards, $result->exitCode, $result->errors);
        self::assertCount($requests, $store->requests());
    }

    #[Test]
    public function a_generation_that_was_not_published_is_left_out_of_the_chain(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store);
        $installation->run(['cron']);
        $installation->run(['rank']);
        $installation->run(['rank']);
        $installation->run(['publish']);

        self::assertSame(
            [3, 1],
            [self::current($store)->generation, self::current($store)->previousGeneration],
        );
    }

    #[Test]
    public function nothing_of_a_key_is_in_a_log_an_error_or_a_table(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store);
        $said = '';
        foreach (['', '403 AccessDenied', '500', 'garbage', 'lost'] as $fault) {
            $store->fail($fault === '' ? [] : [['fault' => $fault, 'for_ever' => true]]);
            $result = $installation->run(['cron', '-vvv']);
            $said .= $result->errors . $result->output;
        }
        $said .=
            $installation->run(['status', '--json'])->output . file_get_contents($installation->database);

        foreach (['not-to-be-logged', FakeStore::SIGNING_KEY, 'AKIDTEST', 'AKIDSECRET'] as $secret) {
            self::assertStringNotContainsString($secret, $said);
        }
    }

    /** @param array<string, string> $environment */
    #[Test]
    #[DataProvider('mistakes')]
    public function a_setting_that_is_wrong_or_missing_is_said(array $environment, string $expected): void
    {
        $settings = [
            'PUBLISH_URL' => FakeStore::ADDRESS,
            'S3_ENDPOINT_URL' => 'http://127.0.0.1:1',
            'S3_ACCESS_KEY_ID' => 'a',
            'S3_SECRET_ACCESS_KEY' => 'b',
            'PUBLISH_SIGNING_KEYS' => FakeStore::SIGNING_KEY,
        ];
        $installation = Installation::migrated();
        $installation->environment = array_filter(
            [...$settings, ...$environment],
            static fn(string $value): bool => $value !== '',
        );
        $result = $installation->run(['publish']);

        self::assertSame(ExitCode::Usage, $result->exitCode, $result->errors);
        self::assertStringContainsString($expected, $result->message());
        self::assertStringNotContainsString(substr(FakeStore::SIGNING_KEY, 0, 20), $result->errors);
    }

    /** @return iterable<array{array<string, string>, string}> */
    public static function mistakes(): iterable
    {
        yield [['PUBLISH_URL' => ''], 'PUBLISH_URL is not set. Expected s3://'];
        yield [
            ['PUBLISH_URL' => 'https://lists/x'],
            'expected s3://, a bucket of 3 to 63 characters and perhaps a prefix',
        ];
        yield [
            ['PUBLISH_URL' => 's3://lists/../x'],
            'expected s3://, a bucket of 3 to 63 characters and perhaps a prefix',
        ];
        yield [['PUBLISH_URL' => 's3://x/y'], 'a bucket of 3 to 63 characters'];
        yield [
            ['S3_ENDPOINT_URL' => 'http://store.example'],
            'expected https. Plain http is for this machine only',
        ];
        yield [['S3_ENDPOINT_URL' => 'http://127.0.0.1.example:9000'], 'expected https. Plain http'];
        yield [['S3_ENDPOINT_URL' => ''], 'PUBLISH_URL is set, but S3_ENDPOINT_URL is not'];
        yield [['S3_ENDPOINT_URL' => 'ftp://x'], 'expected scheme, host and perhaps a port'];
        yield [['S3_ENDPOINT_URL' => 'https://key:secret@x'], 'expected scheme, host and perhaps a port'];
        yield [['S3_REGION' => 'a b'], 'expected a region of the store'];
        yield [['S3_ACCESS_KEY_ID' => ''], 'S3_ACCESS_KEY_ID is not'];
        yield [
            ['S3_SECRET_ACCESS_KEY' => 'file:/no/such/file'],
            'Cannot read S3_SECRET_ACCESS_KEY=file:/no/such/file: it is missing',
        ];
        yield [
            ['S3_SECRET_ACCESS_KEY' => 'file:/etc/passwd'],
            'it is open to every user: chmod o= /etc/passwd',
        ];
        yield [
            ['PUBLISH_SIGNING_KEYS' => ''],
            'PUBLISH_SIGNING_KEYS is not set. Expected base64url of exactly 32',
        ];
        yield [
            ['PUBLISH_SIGNING_KEYS' => substr(FakeStore::SIGNING_KEY, 1)],
            'Cannot read PUBLISH_SIGNING_KEYS: expected base64url of exactly 32',
        ];
        yield [
            ['PUBLISH_SIGNING_KEYS' => str_repeat('A', 43)],
            'expected base64url of exactly 32 random bytes',
        ];
        yield [['STORE_TIMEOUT_SECONDS' => '0'], 'expected a whole number from 1 to 86400'];
        yield [['PUBLISH_RETENTION_HOURS' => '721'], 'expected a whole number from 1 to 720'];
    }

    #[Test]
    public function the_public_keys_verify_what_was_published(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store);
        $installation->run(['cron']);
        $jwks = json_decode($installation->run(['publication-keys'])->output, true);

        self::assertSame(['publications'], array_column($jwks['keys'], 'purpose'));
        self::assertStringContainsString(
            "\"kid\":\"{$jwks['keys'][0]['kid']}\"",
            self::current($store)->text,
        );
    }

    #[Test]
    public function status_says_what_was_published_and_how_the_last_run_failed(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store);
        $installation->run(['cron']);
        $store->fail([['fault' => '403 AccessDenied', 'for_ever' => true]]);
        $installation->run(['cron']);
        $text = $installation->run(['status'])->output;
        [$facts] = json_decode($installation->run(['status', '--json'])->output, true)['stores'];

        self::assertMatchesRegularExpression('~^Store +s3://lists/production: generation 1, ~m', $text);
        self::assertStringContainsString(
            'ago: The store refuses current.json (status 403, AccessDenied)',
            $text,
        );
        self::assertSame([FakeStore::ADDRESS, 1], [$facts['store'], $facts['generation']]);
        self::assertGreaterThan(0, $facts['seconds']);
        self::assertSame(self::current($store)->fileBytes, $facts['file_bytes']);
        self::assertStringContainsString('AccessDenied', $facts['failure']);

        $store->fail([]);
        $installation->run(['cron']);
        self::assertStringNotContainsString('ago: The store', $installation->run(['status'])->output);
    }

    #[Test]
    public function a_server_that_checks_signatures_and_conditions_takes_what_the_writer_sends(): void
    {
        $store = new RealStore();
        $installation = self::withVideos([
            ...$store->settings,
            'BACKUP_URL' => $store->settings['PUBLISH_URL'],
        ]);
        $first = $installation->run(['cron']);
        $copy = new Installation($installation->environment);
        copy($installation->database, $copy->database);
        $second = $installation->run(['cron']);
        $refused = $copy->run(['cron']);
        $wrongKey = new Installation(
            [...$installation->environment, 'S3_SECRET_ACCESS_KEY' => 'another'],
            $installation->database,
        );
        $restored = new Installation($installation->environment);

        self::assertSame([ExitCode::Ok, ExitCode::Ok], [$first->exitCode, $second->exitCode], $first->errors);
        self::assertSame(ExitCode::SourceFailed, $refused->exitCode);
        self::assertStringContainsString('another writer publishes there', $refused->message('store_failed'));
        self::assertStringContainsString(
            'check S3_ACCESS_KEY_ID',
            $wrongKey->run(['cron'])->message('store_failed'),
        );
        self::assertSame(ExitCode::Ok, $restored->run(['restore'])->exitCode);
        self::assertSame(3, self::generationIn($store));
    }

    private static function generationIn(RealStore $store): int
    {
        $settings = $store->settings;
        $address = StoreAddress::read(
            $settings['PUBLISH_URL'],
            $settings['S3_ENDPOINT_URL'],
            $settings['S3_REGION'],
            $settings['S3_ACCESS_KEY_ID'],
            $settings['S3_SECRET_ACCESS_KEY'],
        );
        $checked = new S3Client($address, new Transport($address), new Deadline(60));

        return CurrentPointer::read($checked, self::reader('trendvault/lists'))->generation();
    }
}
