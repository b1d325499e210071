<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Observations;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Observations\ObservationParser;

final class DocumentedLineTest extends TestCase
{
    #[Test]
    public function the_example_line_of_the_documentation_is_accepted_with_every_field(): void
    {
        $documentation = file_get_contents(dirname(__DIR__, 3) . '/docs/observations.md');
        self::assertSame(1, preg_match('/^```json\n(.+)\n```$/m', $documentation, $match));
        $parser = new ObservationParser(['DE' => true], strtotime('2026-11-20T10:00:00Z'));

        $observation = $parser->parse($match[1]);

        self::assertSame('GJ5N-98zdlw', $observation->videoId);
        $optional = ['likes', 'comments'];
        foreach (array_diff_key(get_object_vars($observation), array_flip($optional)) as $name => $value) {
            self::assertNotNull($value, $name);
        }
    }
}
