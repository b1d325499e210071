<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Cli;

use FilesystemIterator;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use RecursiveDirectoryIterator;
use RecursiveIteratorIterator;
use ReflectionClass;
use RuntimeException;
use SQLite3Exception;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Cli\Settings;
use TrendVault\Writer\Database\DatabaseFailure;
use TrendVault\Writer\Database\DatabaseFault;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\WriterException;

final class ExitCodesTest extends TestCase
{
    #[Test]
    public function every_exception_class_that_reaches_an_operator_has_an_exit_code(): void
    {
        $classes = self::exceptionClasses();

        self::assertContains(SourceFailure::class, $classes);
        foreach (array_diff($classes, [DatabaseFailure::class]) as $class) {
            $failure = new ReflectionClass($class)->newInstanceWithoutConstructor();
            self::assertNotSame(ExitCode::Internal, ExitCode::of($failure), "$class has no entry");
        }
    }

    #[Test]
    #[DataProvider('faults')]
    public function a_failure_of_the_database_has_an_exit_code_for_each_fault(
        DatabaseFault $fault,
        int $resultCode,
        ExitCode $expected,
    ): void {
        $failure = DatabaseFailure::from(new SQLite3Exception('why', $resultCode), '/no/such.db');

        self::assertSame([$fault, $expected], [$failure->fault, ExitCode::of($failure)]);
    }

    /** @return iterable<string, array{DatabaseFault, int, ExitCode}> a result code of SQLite for each fault */
    public static function faults(): iterable
    {
        foreach (DatabaseFault::cases() as $fault) {
            yield $fault->name => [
                $fault,
                ...match ($fault) {
                    DatabaseFault::Unavailable => [26, ExitCode::DatabaseUnavailable], // SQLITE_NOTADB
                    DatabaseFault::Busy => [5, ExitCode::DatabaseBusy], // SQLITE_BUSY
                    DatabaseFault::DiskFull => [13, ExitCode::DiskFull], // SQLITE_FULL
                    DatabaseFault::Unknown => [1, ExitCode::Internal], // SQLITE_ERROR
                },
            ];
        }
    }

    #[Test]
    public function an_exception_that_is_not_the_writers_own_is_a_bug(): void
    {
        self::assertSame(ExitCode::Internal, ExitCode::of(new RuntimeException('a bug')));
    }

    /** @return list<class-string<WriterException>> every class in src that extends WriterException */
    private static function exceptionClasses(): array
    {
        $source = Settings::projectRoot() . '/writer/src/';
        $classes = [];
        foreach (
            new RecursiveIteratorIterator(
                new RecursiveDirectoryIterator($source, FilesystemIterator::SKIP_DOTS),
            )
            as $file
        ) {
            $code = $file->getExtension() === 'php' ? (string) file_get_contents($file->getPathname()) : '';
            preg_match('/^namespace (.+);$/m', $code, $namespace);
            preg_match_all('/^[a-z ]*class (\w+) extends WriterException$/m', $code, $found);
            foreach ($found[1] as $name) {
                $classes[] = "$namespace[1]\\$name";
            }
        }

        return $classes;
    }
}
