<?php

declare(strict_types=1);

namespace TrendVault\Writer\Store;

use RuntimeException;

/** What is written to the store: a text, or a file that is never in memory as a whole. */
final readonly class Payload
{
    private const int CHUNK_BYTES = 262_144;

    /**
     * @param string $sha256 32 bytes
     * @param string $md5 hexadecimal, as in the ETag of an object that was written at once
     */
    private function __construct(
        public int $bytes,
        public string $sha256,
        public string $md5,
        private ?string $path,
        private string $text,
    ) {}

    public static function text(string $text): self
    {
        return new self(strlen($text), hash('sha256', $text, true), md5($text), null, $text);
    }

    /** Reads the file once, for its hashes. */
    public static function file(string $path): self
    {
        [$sha256, $md5, $bytes] = [hash_init('sha256'), hash_init('md5'), 0];
        $file = self::openFile($path);
        while (($chunk = (string) fread($file, self::CHUNK_BYTES)) !== '') {
            hash_update($sha256, $chunk);
            hash_update($md5, $chunk);
            $bytes += strlen($chunk);
        }
        fclose($file);

        return new self($bytes, hash_final($sha256, true), hash_final($md5), $path, '');
    }

    /** @return resource from its beginning */
    public function open(): mixed
    {
        if ($this->path !== null) {
            return self::openFile($this->path);
        }
        $stream = fopen('php://memory', 'r+');
        fwrite($stream, $this->text);
        rewind($stream);

        return $stream;
    }

    /** base64url without padding: 43 characters. */
    public function name(): string
    {
        return rtrim(strtr(base64_encode($this->sha256), '+/', '-_'), '=');
    }

    /** @return resource */
    private static function openFile(string $path): mixed
    {
        return @fopen($path, 'rb') ?: throw new RuntimeException("cannot read $path");
    }
}
