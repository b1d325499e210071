<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Store;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Store\Condition;
use TrendVault\Writer\Store\Deadline;
use TrendVault\Writer\Store\ListedObject;
use TrendVault\Writer\Store\Payload;
use TrendVault\Writer\Store\S3Client;
use TrendVault\Writer\Store\StoreAddress;
use TrendVault\Writer\Store\StoreFailure;
use TrendVault\Writer\Store\Transport;
use TrendVault\Writer\Tests\Support\Draws;

final class S3ClientTest extends TestCase
{
    #[Test]
    public function objects_are_written_read_listed_in_pages_and_deleted(): void
    {
        $store = new FakeStore(page: 3);
        $client = self::client($store);
        foreach (range(1, 8) as $number) {
            $client->put("notes/$number", Payload::text(str_repeat('x', $number)), Condition::none());
        }
        $client->delete('notes/4');
        $client->delete('notes/4');

        self::assertSame('xx', $client->get('notes/2', 100)?->content);
        self::assertNull($client->get('notes/4', 100));
        self::assertNull($client->head('notes/4'));
        $listed = iterator_to_array($client->list('notes/'), false);
        self::assertSame(
            ['notes/1', 'notes/2', 'notes/3', 'notes/5', 'notes/6', 'notes/7', 'notes/8'],
            array_column($listed, 'key'),
        );
        self::assertSame([1, 2, 3, 5, 6, 7, 8], array_column($listed, 'bytes'));
        self::assertTrue(
            array_all(
                $listed,
                static fn(ListedObject $object): bool => abs($object->modifiedAt - time()) < 60,
            ),
        );
    }

    #[Test]
    public function a_condition_that_does_not_hold_leaves_the_object_as_it_is(): void
    {
        $store = new FakeStore();
        $client = self::client($store);
        $first = $client->put('a', Payload::text('first'), Condition::isNew());

        self::assertNull($client->put('a', Payload::text('second'), Condition::isNew()));
        self::assertNull($client->put('a', Payload::text('second'), Condition::matches('"0"')));
        self::assertNull($client->put('b', Payload::text('second'), Condition::matches('"0"')));
        self::assertSame('first', $client->get('a', 100)?->content);
        self::assertNotNull(
            $client->put('a', Payload::text('2'), Condition::matches((string) $first?->field('etag'))),
        );
        self::assertSame('2', $client->get('a', 100)?->content);
    }

    #[Test]
    public function a_header_value_with_colons_is_read_whole(): void
    {
        $store = new FakeStore();
        $response = self::client($store)->put('a', Payload::text('x'), Condition::none());
        $clock = strtotime((string) $response?->field('date'));

        self::assertIsInt($clock);
        self::assertEqualsWithDelta(time(), $clock, 60);
    }

    #[Test]
    #[DataProvider('temporary')]
    public function what_is_temporary_is_tried_three_times(string $fault): void
    {
        $store = new FakeStore();
        $client = self::client($store);
        $store->fail([['fault' => $fault], ['fault' => $fault]]);
        self::assertNotNull($client->put('a', Payload::text('x'), Condition::none()));

        $store->fail([['fault' => $fault, 'for_ever' => true]]);
        $before = count(preg_grep('/^PUT/', $store->requests()));
        try {
            $client->put('a', Payload::text('y'), Condition::none());
            self::fail('it was taken');
        } catch (StoreFailure) {
        }
        self::assertCount($before + S3Client::ATTEMPTS, preg_grep('/^PUT/', $store->requests()));
    }

    /** @return iterable<array{string}> */
    public static function temporary(): iterable
    {
        foreach (['500', '503 SlowDown', '429', '409 ConditionalRequestConflict'] as $fault) {
            yield $fault => [$fault];
        }
    }

    #[Test]
    #[DataProvider('refusals')]
    public function what_is_not_temporary_is_said_at_once(string $fault, string $expected): void
    {
        $store = new FakeStore();
        $store->fail([['fault' => $fault]]);
        try {
            self::client($store)->get('a', 100);
            self::fail('it was taken');
        } catch (StoreFailure $failure) {
            self::assertStringContainsString($expected, $failure->getMessage());
            self::assertStringNotContainsString('AKID', $failure->getMessage());
        }
        self::assertCount(1, preg_grep('/^GET/', $store->requests()));
    }

    /** @return iterable<string, array{string, string}> */
    public static function refusals(): iterable
    {
        yield 'a wrong key' => ['403 SignatureDoesNotMatch', 'check S3_ACCESS_KEY_ID'];
        yield 'a wrong clock' => ['403 RequestTimeTooSkewed', 'Set the clock'];
        yield 'no bucket' => ['404 NoSuchBucket', 'has no such bucket'];
        yield 'full' => ['507 QuotaExceeded', 'The store is full'];
        yield 'a redirect to another region' => ['301 PermanentRedirect', 'status 301, PermanentRedirect'];
    }

    #[Test]
    public function an_object_that_is_larger_than_expected_is_not_read_to_its_end(): void
    {
        $store = new FakeStore();
        $store->put('large', str_repeat('x', 3_000_000));
        $this->expectException(StoreFailure::class);
        $this->expectExceptionMessage('has more than 1000 bytes');
        self::client($store)->get('large', 1000);
    }

    #[Test]
    public function an_object_that_breaks_off_is_read_again_from_its_beginning(): void
    {
        $store = new FakeStore();
        $content = Draws::randomizer()->getBytes(500_000);
        $store->put('large', $content);
        $store->fail([['fault' => 'truncated']]);
        $file = tmpfile();

        self::assertTrue(self::client($store)->download('large', $file, 1_000_000));
        rewind($file);
        self::assertSame(hash('sha256', $content), hash('sha256', (string) stream_get_contents($file)));
    }

    #[Test]
    public function a_file_is_sent_as_it_is_and_found_damaged_when_the_store_kept_a_part(): void
    {
        $store = new FakeStore();
        $checked = self::client($store);
        $path = (string) tempnam(sys_get_temp_dir(), 'writer-test-');
        file_put_contents($path, Draws::randomizer()->getBytes(700_000));
        $payload = Payload::file($path);
        $checked->putOnce('large', $payload);
        self::assertSame(file_get_contents($path), $store->content('large'));

        $store->put('large', 'a part');
        $checked->putOnce('large', $payload);
        self::assertSame(file_get_contents($path), $store->content('large'));
        unlink($path);

        $store->fail([['fault' => 'half']]);
        $this->expectExceptionMessage('The store confirmed other, but what is there now has other bytes');
        $checked->putOnce('other', Payload::text('twelve bytes'));
    }

    #[Test]
    public function an_etag_that_is_no_md5_is_no_failure_when_the_bytes_are_right(): void
    {
        $store = new FakeStore();
        $store->fail([['fault' => 'lying-etag', 'for_ever' => true]]);
        self::client($store)->putOnce('a', Payload::text('some bytes'));

        self::assertSame('some bytes', $store->content('a'));
    }

    #[Test]
    public function a_list_that_is_cut_off_or_garbage_is_refused(): void
    {
        $store = new FakeStore();
        $store->fail([['fault' => 'garbage']]);
        $this->expectExceptionMessage('with something else than a whole ListBucketResult');
        iterator_to_array(self::client($store)->list(''));
    }

    private static function client(FakeStore $store): S3Client
    {
        $settings = $store->settings();
        $address = StoreAddress::read(
            FakeStore::ADDRESS,
            $store->url,
            'auto',
            $settings['S3_ACCESS_KEY_ID'],
            $settings['S3_SECRET_ACCESS_KEY'],
        );

        return new S3Client(
            $address,
            new Transport($address),
            new Deadline(60),
            static fn(float $seconds) => null,
        );
    }
}
