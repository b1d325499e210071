<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

/** The table erased: which videos and channels may not come back. It has their keyed hashes only. */
final class Erasures
{
    private const string ADD = 'INSERT OR IGNORE INTO erased (name_hash, erased_at) VALUES (unhex(?), ?)';
    private const string HASHES = 'SELECT hex(name_hash) FROM erased';
    private const string KEY = 'SELECT hex(key) FROM erasure_key';
    private const string MAKE_KEY = 'INSERT INTO erasure_key (key) SELECT randomblob(32) WHERE NOT EXISTS (SELECT 1 FROM erasure_key)';
    private const int MOST_REMEMBERED = 10_000;
    /** In what is no JSON: a name, and the string behind it. */
    private const string NAME = '/"(id|channel)"\s*+:\s*+("(?:[^"\\\\]++|\\\\.)*+")/s';

    /** @var array<array-key, int> with hashes as keys */
    private array $hashes;
    private ?string $key;
    /** @var array<string, bool> of channels, each of which many lines name */
    private array $channels = [];

    public function __construct(private readonly Database $database)
    {
        $this->hashes = array_fill_keys($database->texts(self::HASHES), 1);
        $this->key = $database->text(self::KEY);
    }

    /** @param int $at UTC seconds */
    public function add(RemovalKind $kind, string $name, int $at): void
    {
        if ($this->key === null) {
            $this->database->run(self::MAKE_KEY);
            $this->key = $this->database->text(self::KEY);
        }
        $hash = $this->hash($kind, $name);
        $this->database->run(self::ADD, [$hash, $at]);
        $this->hashes[$hash] = 1;
        $this->channels = [];
    }

    public function hasVideo(string $id): bool
    {
        return $this->hashes !== [] && isset($this->hashes[$this->hash(RemovalKind::Video, $id)]);
    }

    public function hasChannel(string $name): bool
    {
        if (count($this->channels) >= self::MOST_REMEMBERED) {
            $this->channels = [];
        }

        return $this->channels[$name] ??=
            $this->hashes !== [] && isset($this->hashes[$this->hash(RemovalKind::Channel, $name)]);
    }

    /** Whether a line of NDJSON, or a piece of one, names one of them, whatever else is wrong with it. */
    public function areIn(string $line): bool
    {
        $fields = json_decode($line, true);
        if (is_array($fields)) {
            return $this->isEither($fields['id'] ?? null, $fields['channel'] ?? null);
        }
        $found = [];
        preg_match_all(self::NAME, $line, $found, PREG_SET_ORDER);

        return array_any(
            $found,
            fn(array $one): bool => $one[1] === 'id'
                ? $this->isEither(json_decode($one[2]), null)
                : $this->isEither(null, json_decode($one[2])),
        );
    }

    private function isEither(mixed $id, mixed $channel): bool
    {
        return (is_string($id) && $this->hasVideo($id)) ||
            (is_string($channel) && $this->hasChannel($channel));
    }

    private function hash(RemovalKind $kind, string $name): string
    {
        return strtoupper(hash_hmac('sha256', "$kind->value\n$name", (string) $this->key));
    }
}
