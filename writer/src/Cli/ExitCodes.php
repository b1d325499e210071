<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use Symfony\Component\Console\Exception\ExceptionInterface;
use Throwable;
use TrendVault\Writer\Database\AlreadyRunning;
use TrendVault\Writer\Database\BadRegionTable;
use TrendVault\Writer\Database\DatabaseFailure;
use TrendVault\Writer\Database\DatabaseFault;
use TrendVault\Writer\Database\SchemaMismatch;
use TrendVault\Writer\Ranking\ClockBackwards;
use TrendVault\Writer\Ranking\EmptyPublication;
use TrendVault\Writer\Sources\RejectStoreFailure;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Simulation\UnknownWorld;
use TrendVault\Writer\Sources\Stopped;
use TrendVault\Writer\Store\StoreFailure;

/** The one map from an exception to an exit code. What is not in it is a bug. */
final readonly class ExitCodes
{
    public static function of(Throwable $error): ExitCode
    {
        return match (true) {
            $error instanceof UsageError,
            $error instanceof UnknownWorld,
            $error instanceof BadRegionTable,
            $error instanceof ExceptionInterface
                => ExitCode::Usage,
            $error instanceof AlreadyRunning => ExitCode::AlreadyRunning,
            $error instanceof SourceFailure,
            $error instanceof RejectStoreFailure,
            $error instanceof StoreFailure
                => ExitCode::SourceFailed,
            $error instanceof DatabaseFailure => self::ofDatabase($error->fault),
            $error instanceof SchemaMismatch => ExitCode::SchemaMismatch,
            $error instanceof ClockBackwards => ExitCode::ClockBackwards,
            $error instanceof EmptyPublication => ExitCode::EmptyPublication,
            $error instanceof OutputFailure => ExitCode::OutputFailed,
            $error instanceof Stopped => ExitCode::Stopped,
            default => ExitCode::Internal,
        };
    }

    private static function ofDatabase(DatabaseFault $fault): ExitCode
    {
        return match ($fault) {
            DatabaseFault::Unavailable => ExitCode::DatabaseUnavailable,
            DatabaseFault::Busy => ExitCode::DatabaseBusy,
            DatabaseFault::DiskFull => ExitCode::DiskFull,
            DatabaseFault::Unknown => ExitCode::Internal,
        };
    }
}
