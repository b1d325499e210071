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

    #[Test]
    public function the_example_line_of_a_catalogue_is_accepted_with_every_field(): void
    {
        $documentation = file_get_contents(dirname(__DIR__, 3) . '/docs/observations.md');
        preg_match_all('/^```json\n(.+)\n```$/m', $documentation, $matches);
        $parser = new ObservationParser(['GB' => true, 'IE' => true], strtotime('2026-11-20T10:00:00Z'));

        $announcement = $parser->parse($matches[1][1]);

        self::assertSame(['kT9-2hLw0aQ', ['GB', 'IE']], [$announcement->videoId, $announcement->regions]);
        foreach ($announcement->description as $name => $value) {
            self::assertNotNull($value, $name);
        }
    }
}
