<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Publication;

use PHPUnit\Framework\Attributes\Test;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Publication\CurrentPointer;
use TrendVault\Writer\Store\Deadline;
use TrendVault\Writer\Store\S3Client;
use TrendVault\Writer\Store\StoreAddress;
use TrendVault\Writer\Store\Transport;
use TrendVault\Writer\Tests\Store\RealStore;
use TrendVault\Writer\Tests\Support\Installation;

final class RealStoreTest extends PublicationTestCase
{
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
