<?php

declare(strict_types=1);

namespace TrendVault\Writer\Store;

/** A folder beside the database for files that are on their way to a store. What a run that was killed left there goes. */
final readonly class WorkFolder
{
    private const int CHUNK_BYTES = 262_144;
    /** Level 6 of zlib. */
    private const int GZIP_LEVEL = 6;

    private function __construct(public string $path) {}

    /**
     * The caller holds the lock of the database.
     *
     * @throws StoreFailure
     */
    public static function beside(string $databasePath): self
    {
        $folder = new self("$databasePath.publication");
        if (!is_dir($folder->path) && !@mkdir($folder->path, 0o700)) {
            throw StoreFailure::because(
                "Cannot make the folder $folder->path: permission denied, or the disk is full.",
            );
        }
        $folder->empty();

        return $folder;
    }

    public function file(string $name): string
    {
        return "$this->path/$name";
    }

    public function empty(): void
    {
        array_map(unlink(...), glob("$this->path/*") ?: []);
    }

    public function remove(): void
    {
        $this->empty();
        @rmdir($this->path);
    }

    /**
     * Packs a file of this folder; the same bytes make the same bytes.
     *
     * @return string the path of the packed one
     * @throws StoreFailure on a full disk
     */
    public function gzip(string $path): string
    {
        [$from, $to] = [fopen($path, 'rb'), @fopen("$path.gz", 'xb')];
        $deflate = deflate_init(ZLIB_ENCODING_GZIP, ['level' => self::GZIP_LEVEL]);
        assert($deflate !== false);
        do {
            $chunk = (string) fread($from, self::CHUNK_BYTES);
            $isEnd = $chunk === '';
            $packed = (string) deflate_add($deflate, $chunk, $isEnd ? ZLIB_FINISH : ZLIB_NO_FLUSH);
            if ($to === false || @fwrite($to, $packed) !== strlen($packed)) {
                throw self::cannotWrite("$path.gz");
            }
        } while (!$isEnd);
        fclose($from);

        return fclose($to) ? "$path.gz" : throw self::cannotWrite("$path.gz");
    }

    public static function cannotWrite(string $path): StoreFailure
    {
        return StoreFailure::because(
            "Cannot write $path: the disk is full, or the folder is not this user's. The generation is served here all the same; the next run publishes.",
        );
    }
}
