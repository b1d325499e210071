<?php

declare(strict_types=1);

namespace TrendVault\Writer\Publication;

use SQLite3Exception;
use TrendVault\Writer\Store\StoreFailure;
use TrendVault\Writer\Store\WorkFolder;

/** The file of a generation, plain and packed, each made when it is needed first. */
final class GenerationFiles
{
    private ?string $plain = null;
    private ?string $packed = null;

    public function __construct(
        private readonly GenerationFile $file,
        private readonly WorkFolder $folder,
        private readonly int $generation,
    ) {}

    /**
     * @return string its path
     * @throws StoreFailure on a full disk
     */
    public function plain(): string
    {
        return $this->plain ??= $this->make();
    }

    /**
     * @return string its path
     * @throws StoreFailure on a full disk
     */
    public function packed(): string
    {
        return $this->packed ??= $this->folder->gzip($this->plain());
    }

    private function make(): string
    {
        $path = $this->folder->file("$this->generation.db");
        try {
            $this->file->make($this->generation, $path);
        } catch (SQLite3Exception $failure) {
            throw StoreFailure::because(
                "Cannot make $path: {$failure->getMessage()}. The generation is served here all the same; the next run publishes.",
            );
        }

        return $path;
    }
}
