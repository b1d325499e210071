<?php

declare(strict_types=1);

namespace TrendVault\Writer\Backup;

use SQLite3Exception;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\IntegrityCheck;
use TrendVault\Writer\Store\ListedObject;
use TrendVault\Writer\Store\S3Client;
use TrendVault\Writer\Store\StoreFailure;
use TrendVault\Writer\Store\WorkFolder;

/** Brings a backup back as a file: downloaded, compared with the hash in its name, unpacked, and checked for damage. */
final readonly class Restoration
{
    private const int CHUNK_BYTES = 262_144;
    private const string RAISE = "UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'generations' AND seq < ?1";
    private const string ADD = <<<'SQL'
    INSERT INTO sqlite_sequence (name, seq) SELECT 'generations', ? WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'generations')
    SQL;

    public function __construct(private S3Client $store, private WorkFolder $folder) {}

    /**
     * @param ?string $time that of a backup, such as 2026-11-22T034000Z; null for the newest one
     * @return string the path of the file, still in the folder
     * @throws StoreFailure
     */
    public function fetch(?string $time): string
    {
        $backup = $this->find($time);
        $packed = $this->download($backup);
        $path = $this->folder->file('restored.db');
        $this->unpack($packed, $path, $backup->key);
        unlink($packed);

        return $path;
    }

    /**
     * Makes the next generation's number larger than one that was published elsewhere.
     *
     * @throws StoreFailure when the file is damaged
     */
    public static function checkAndRaise(string $path, int $generation): void
    {
        try {
            $database = Database::openForWriting($path, 0);
            $problems = new IntegrityCheck($database)->problems();
            if ($problems === []) {
                $database->run(self::ADD, [$generation]);
                $database->run(self::RAISE, [$generation]);
                $database->truncateWal();
            }
            $database->close();
        } catch (SQLite3Exception $failure) {
            $problems = [$failure->getMessage()];
        }
        if ($problems !== []) {
            throw StoreFailure::because(
                "The backup is damaged, so nothing was restored: $problems[0]. Take an older one.",
            );
        }
    }

    /** @throws StoreFailure */
    private function find(?string $time): ListedObject
    {
        $backups = BackupList::of($this->store);
        $wanted = array_filter(
            $backups,
            static fn(ListedObject $backup): bool => $time === null ||
                BackupName::read($backup->key)?->time === $time,
        );
        $times = array_map(
            static fn(ListedObject $backup): string => (string) BackupName::read($backup->key)?->time,
            $backups,
        );

        return end($wanted) ?:
            throw StoreFailure::because(
                ($time === null ? 'There is no backup' : "There is no backup of $time") .
                    " in {$this->store->address->name()}/backups/" .
                    ($times === [] ? '.' : ', only of ' . implode(', ', $times) . '.'),
            );
    }

    /** @throws StoreFailure */
    private function download(ListedObject $backup): string
    {
        $path = $this->folder->file('restored.db.gz');
        $file = fopen($path, 'w+b');
        $isThere = $this->store->download($backup->key, $file, $backup->bytes);
        fclose($file);
        $hash = $isThere ? strtr(base64_encode((string) hash_file('sha256', $path, true)), '+/', '-_') : '';

        return rtrim($hash, '=') === BackupName::read($backup->key)?->hash
            ? $path
            : throw StoreFailure::because(
                "$backup->key in the store is not what was backed up: its hash is another one. Take an older one.",
            );
    }

    /** @throws StoreFailure on a full disk */
    private function unpack(string $packed, string $path, string $key): void
    {
        [$from, $to, $inflate] = [fopen($packed, 'rb'), fopen($path, 'xb'), inflate_init(ZLIB_ENCODING_GZIP)];
        do {
            $chunk = (string) fread($from, self::CHUNK_BYTES);
            $plain = @inflate_add($inflate, $chunk, $chunk === '' ? ZLIB_FINISH : ZLIB_SYNC_FLUSH);
            if ($plain === false) {
                throw StoreFailure::because("$key in the store cannot be unpacked. Take an older backup.");
            }
            if (@fwrite($to, $plain) !== strlen($plain)) {
                throw WorkFolder::cannotWrite($path);
            }
        } while ($chunk !== '');
        fclose($from);
        fsync($to);
        fclose($to);
    }
}
