<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Contract;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Pull\Settlement;
use TrendVault\Writer\Sources\Edge\ClosedMinutes;
use TrendVault\Writer\Sources\Edge\KeyRing;

final class PullVectorsTest extends TestCase
{
    private const string CONTRACT = __DIR__ . '/../../../contract';

    /** @param array<string, mixed> $vector */
    #[Test]
    #[DataProvider('vectors')]
    public function a_request_is_signed_byte_for_byte_as_the_vector_says(array $vector, string $keys): void
    {
        ['created' => $created, 'nonce' => $nonce, 'keyid' => $keyId] = $vector['parameters'];
        $entries = array_filter(
            explode(',', $keys),
            static fn(string $entry): bool => str_starts_with($entry, "$keyId:"),
        );

        self::assertSame(
            ['Signature-Input' => $vector['signature_input'], 'Signature' => $vector['signature']],
            KeyRing::read(implode($entries))->sign($vector['path'], $vector['query'], $created, $nonce),
        );
    }

    /** @return iterable<string, array{array<string, mixed>, string}> the valid ones of GET */
    public static function vectors(): iterable
    {
        $file = json_decode((string) file_get_contents(self::CONTRACT . '/pull-vectors.json'), true);
        foreach ($file['vectors'] as $vector) {
            if (
                $vector['expect'] === 'valid' &&
                isset($vector['parameters']) &&
                $vector['method'] === 'GET'
            ) {
                yield $vector['name'] => [$vector, $file['keys']];
            }
        }
    }

    #[Test]
    public function the_documented_answers_are_taken(): void
    {
        $openapi = json_decode((string) file_get_contents(self::CONTRACT . '/openapi.json'), true);
        $example = static fn(string $path): array => $openapi['paths'][$path]['get']['responses']['200'][
            'content'
        ]['application/json']['example'];
        $answer = $example('/api/views/minutes');

        $minutes = ClosedMinutes::read(
            $answer,
            $answer['shard'],
            $answer['after'],
            60 * ($answer['last_closed'] + 1),
        );

        self::assertSame($answer['until'], $minutes->until);
        self::assertNotSame([], $minutes->impressions);
        self::assertNotSame([], $minutes->served);
        self::assertSame(['shards', 'kept_hours'], array_keys($example('/api/views/shards')));
    }

    #[Test]
    public function the_ceiling_looks_back_for_as_long_as_messages_are_taken(): void
    {
        $seconds = [];
        preg_match_all(
            '/^(?:(?:export )?const |  )(\w+)(?: =|:) ([\w.+\s]+)[;,]/m',
            (string) file_get_contents(self::CONTRACT . '/lists.ts'),
            $constants,
            PREG_SET_ORDER,
        );
        foreach ($constants as [, $name, $terms]) {
            $values = array_map(
                static fn(string $term): int => (int) str_replace('_', '', $seconds[$term] ?? $term),
                preg_split('/\s*\+\s*/', str_replace('answerSeconds.', '', $terms)),
            );
            $seconds[$name] = (string) array_sum($values);
        }

        self::assertSame((int) ceil($seconds['viewsAcceptedSeconds'] / 60), Settlement::ACCEPTED_MINUTES);
    }
}
