<?php

declare(strict_types=1);

namespace TrendVault\Writer\Backup;

use Closure;
use SQLite3Exception;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\DatabaseFailure;
use TrendVault\Writer\Database\IntegrityCheck;
use TrendVault\Writer\Database\RegionTable;
use TrendVault\Writer\Publication\Base64Url;
use TrendVault\Writer\Publication\PublicKeys;
use TrendVault\Writer\Store\S3Client;
use TrendVault\Writer\Store\StoreFailure;
use TrendVault\Writer\Store\WorkFolder;

/**
 * Brings a backup back as a file: its name is signed, or somebody says that it may be without; the hash in the name is
 * that of what was downloaded; it is unpacked and checked for damage.
 */
final readonly class Restoration
{
    private const int CHUNK_BYTES = 262_144;
    private const int NAMED_TIMES = 20; // in a message

    /**
     * @param ?PublicKeys $keys those that sign backups; null where none is known, and every backup is unproved
     * @param bool $allowsUnproved whether a backup is taken that nothing proves; one that is signed wrongly never is
     */
    public function __construct(
        private S3Client $store,
        private WorkFolder $folder,
        private ?PublicKeys $keys,
        private bool $allowsUnproved,
    ) {}

    /**
     * The backup of a time: a proved one, where there is one.
     *
     * @param ?string $time that of a backup, such as 2026-11-22T034000Z; null for the newest one
     * @throws StoreFailure when there is none that may be taken
     */
    public function find(?string $time): StoredBackup
    {
        $backups = StoredBackup::allOf($this->store);
        $newest = end($backups);
        $sought = $time ?? ($newest === false ? '' : $newest->name->time);
        $unproved = null;
        $refusal = null;
        foreach ($backups as $backup) {
            if ($backup->name->time !== $sought) {
                continue;
            }
            $verdict = $this->verdict($backup->name);
            if ($verdict === BackupVerdict::Proved) {
                return $backup;
            }
            $refusal = "{$backup->name->key} {$verdict->describe()}";
            $unproved ??= $verdict->isUnproved() ? $backup : null;
        }
        $isTaken = $unproved !== null && ($this->allowsUnproved || $this->keys === null);

        return $isTaken ? $unproved : throw $this->failure($backups, $time, $refusal, $unproved !== null);
    }

    /** Unsigned is, too, what no key is there to look at. */
    public function verdict(BackupName $backup): BackupVerdict
    {
        return $this->keys === null ? BackupVerdict::Unsigned : $backup->verdict($this->keys);
    }

    /**
     * @return string the path of the file, still in the folder
     * @throws StoreFailure
     */
    public function fetch(StoredBackup $backup): string
    {
        $packed = $this->download($backup);
        $path = $this->folder->file('restored.db');
        $this->unpack($packed, $path, $backup->name->key);
        unlink($packed);

        return $path;
    }

    /**
     * Makes the next generation's number larger than one that was published elsewhere.
     *
     * @param ?Closure(Database): mixed $expectKnown throws a DatabaseFailure where this writer cannot use the schema; null for its own
     * @throws StoreFailure when the file is damaged
     * @throws DatabaseFailure
     */
    public static function checkAndRaise(string $path, int $generation, ?Closure $expectKnown = null): void
    {
        try {
            $database = Database::openForWriting($path, 0);
            $problems = new IntegrityCheck($database)->problems();
            if ($problems === []) {
                if ($expectKnown !== null) {
                    $expectKnown($database);
                }
                RegionTable::raiseNumbers($database, $generation);
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

    /** @param list<StoredBackup> $backups all there are */
    private function failure(array $backups, ?string $time, ?string $refusal, bool $mayBeTaken): StoreFailure
    {
        $folder = "{$this->store->address->name()}/backups/";
        $others = $this->othersThan($backups, $time);

        return StoreFailure::because(
            match (true) {
                $refusal !== null => "Nothing was restored: $refusal." .
                    ($mayBeTaken ? ' --allow-unproved takes it, if you know that it is yours.' : '') .
                    ($others === '' ? '' : " For --backup there are $others."),
                $backups === [] => "There is no backup in $folder.",
                default => "There is no backup of $time in $folder" .
                    ($others === '' ? '.' : ", only of $others."),
            },
        );
    }

    /**
     * The newest times that have a proved backup, or any where no key is there.
     *
     * @param list<StoredBackup> $backups
     */
    private function othersThan(array $backups, ?string $time): string
    {
        $times = [];
        foreach ($backups as $backup) {
            if ($this->keys === null || $this->verdict($backup->name) === BackupVerdict::Proved) {
                $times[$backup->name->time] = true;
            }
        }
        unset($times[(string) $time]);

        return implode(', ', array_slice(array_keys($times), -self::NAMED_TIMES));
    }

    /** @throws StoreFailure */
    private function download(StoredBackup $backup): string
    {
        $path = $this->folder->file('restored.db.gz');
        $file = fopen($path, 'w+b');
        $isThere = $this->store->download($backup->name->key, $file, $backup->bytes);
        fclose($file);
        $hash = $isThere ? Base64Url::encode((string) hash_file('sha256', $path, true)) : '';

        return $hash === $backup->name->hash
            ? $path
            : throw StoreFailure::because(
                "{$backup->name->key} in the store is not what was backed up: its hash is another one. Take an older one.",
            );
    }

    /** @throws StoreFailure on a full disk */
    private function unpack(string $packed, string $path, string $key): void
    {
        [$from, $to, $inflate] = [fopen($packed, 'rb'), fopen($path, 'xb'), inflate_init(ZLIB_ENCODING_GZIP)];
        assert($inflate !== false);
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
