<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Publication;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Publication\Pointer;
use TrendVault\Writer\Publication\SigningKeys;
use TrendVault\Writer\Tests\Store\FakeStore;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;

final class PublishTest extends TestCase
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
        self::assertSame($pointer->text, $store->content('pointers/1.json'));
        $object = (string) $store->content($pointer->fileKey());
        self::assertSame($pointer->fileBytes, strlen($object));
        $writes = preg_grep('/^PUT/', $store->requests());
        self::assertSame(
            ["PUT {$pointer->fileKey()}", 'PUT pointers/1.json', 'PUT current.json'],
            array_values($writes),
        );
        self::assertSame(1, $result->events('stored')[0]['generation']);
        self::assertStringNotContainsString('not-to-be-logged', $result->errors);
    }

    private static function current(FakeStore $store): Pointer
    {
        $keys = SigningKeys::read(FakeStore::SIGNING_KEY)->publicKeys;
        $pointer = Pointer::read((string) $store->content('current.json'), $keys);
        self::assertInstanceOf(Pointer::class, $pointer);

        return $pointer;
    }

    private static function installation(FakeStore $store): Installation
    {
        $installation = new Installation($store->settings());
        $installation->environment['SOURCES'] = $installation->folder->write(
            'views.ndjson',
            NdjsonLine::many([['observed_at' => NdjsonLine::ago(60)]]),
        );

        return $installation;
    }
}
