<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\WriterException;

/** One kind of source, as SOURCES names it: it reads its own settings and opens what is to be read now. */
interface SourceKind
{
    /** Whether it is asked over the network: all of this kind are opened together, after what this machine has. */
    public const bool REMOTE = false;
    /** What may be said in public of where its counts come from; null for the host that its name has. */
    public const ?string HOST = null;
    /**
     * What deletes that which is kept only to ask for less, where nothing was asked since ? (UTC seconds). The schedules
     * of such sources are gone by then.
     *
     * @var list<string> of SQL
     */
    public const array FORGET = [];

    public function __construct(Context $context, Database $database);

    /**
     * @param list<string> $names of this kind: one, or all of them where they are opened together
     * @param RunTime $time what all kinds that are asked over the network may take together
     * @return iterable<string, Source|SourceFailure> by name; a failure where it cannot be read, nothing where it is not due
     * @throws SourceFailure|WriterException
     */
    public function open(array $names, RunTime $time): iterable;
}
