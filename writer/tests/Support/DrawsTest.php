<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Support;

use FilesystemIterator;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use RecursiveDirectoryIterator;
use RecursiveIteratorIterator;

final class DrawsTest extends TestCase
{
    /** The seed itself, and names of folders. */
    private const array MAY_DRAW = ['Draws.php', 'DrawsTest.php', 'TemporaryFolder.php'];
    private const string WITHOUT_SEED = '/\b(random_int|random_bytes|uniqid|lcg_value|new Randomizer)\(/';
    /** They draw from the state that mt_srand() sets. */
    private const string OF_STATE = '/\b(mt_rand|rand|array_rand|shuffle|str_shuffle)\(/';

    #[Test]
    public function what_a_test_draws_follows_from_the_seed_of_the_run(): void
    {
        foreach (self::files() as $path) {
            $code = (string) file_get_contents($path);
            self::assertDoesNotMatchRegularExpression(self::WITHOUT_SEED, $code, $path);
            if (preg_match(self::OF_STATE, $code) === 1) {
                self::assertStringContainsString('mt_srand(Draws::', $code, $path);
            }
        }
    }

    /** @return iterable<string> the paths of all tests and what they share */
    private static function files(): iterable
    {
        $folder = new RecursiveDirectoryIterator(
            dirname(__DIR__),
            FilesystemIterator::SKIP_DOTS | FilesystemIterator::CURRENT_AS_PATHNAME,
        );
        foreach (new RecursiveIteratorIterator($folder) as $path) {
            if (str_ends_with($path, '.php') && !in_array(basename($path), self::MAY_DRAW, true)) {
                yield $path;
            }
        }
    }
}
