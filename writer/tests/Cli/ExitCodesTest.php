<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Cli;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use RuntimeException;
use SQLite3Exception;
use TrendVault\Writer\Database\DatabaseFailure;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\WriterException;

final class ExitCodesTest extends TestCase
{
    #[Test]
    #[DataProvider('resultCodes')]
    public function a_failure_of_the_database_has_the_exit_code_of_its_kind(
        int $resultCode,
        ExitCode $expected,
    ): void {
        $failure = DatabaseFailure::from(new SQLite3Exception('why', $resultCode), '/no/such.db');

        self::assertSame($expected, WriterException::exitCodeOf($failure));
    }

    /** @return iterable<string, array{int, ExitCode}> a result code of SQLite for each kind */
    public static function resultCodes(): iterable
    {
        yield 'SQLITE_NOTADB' => [26, ExitCode::DatabaseUnavailable];
        yield 'SQLITE_BUSY' => [5, ExitCode::DatabaseBusy];
        yield 'SQLITE_FULL' => [13, ExitCode::DiskFull];
        yield 'SQLITE_ERROR' => [1, ExitCode::Internal];
    }

    #[Test]
    public function an_exception_that_is_not_the_writers_own_is_a_bug(): void
    {
        self::assertSame(ExitCode::Internal, WriterException::exitCodeOf(new RuntimeException('a bug')));
    }
}
