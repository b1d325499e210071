<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

/** What is said once in the life of a database, not at each run. */
final readonly class Notices
{
    public function __construct(private Database $database) {}

    /**
     * Whether it was not said yet; from now on it was.
     *
     * @param int $now UTC seconds
     */
    public function isNew(string $name, int $now): bool
    {
        return $this->database->run('INSERT OR IGNORE INTO notices (name, said_at) VALUES (?, ?)', [
            $name,
            $now,
        ]) === 1;
    }
}
