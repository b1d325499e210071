<?php

declare(strict_types=1);

namespace TrendVault\Writer\Publication;

use Psr\Clock\ClockInterface;
use TrendVault\Writer\Store\S3Client;
use TrendVault\Writer\Store\Condition;
use TrendVault\Writer\Store\Deadline;
use TrendVault\Writer\Store\Payload;
use TrendVault\Writer\Store\StoreFailure;
use TrendVault\Writer\Store\WorkFolder;
use TrendVault\Writer\Time\Rfc3339;

/** Publishes the bundle of a generation: the object, its pointer under its own name, and then bundle.json. */
final readonly class BundlePublisher
{
    public const string KEY = 'bundle.json';
    /** More than a pointer may have, so that what is no pointer can be said. */
    private const int MOST_BYTES = 4096;

    public function __construct(
        private S3Client $store,
        private SigningKeys $keys,
        /** How the store is called in its pointers. */
        private string $name,
        private Renderer $renderer,
        private ClockInterface $clock,
    ) {}

    /**
     * @param WorkFolder $folder where the bundle is written first
     * @return ?RenderedBundle null when the store has one of this generation already
     * @throws StoreFailure
     */
    public function publish(int $generation, GenerationFile $file, WorkFolder $folder): ?RenderedBundle
    {
        [$condition, $stored] = $this->current();
        if ($stored >= $generation) {
            return $stored === $generation ? null : throw $this->ahead($stored, $generation);
        }
        // A renderer may outlive a writer that was killed: a file of that name would be written by two.
        $path = $folder->file("$generation-" . bin2hex(random_bytes(8)) . '.bundle');
        $bundle = $this->renderer->render($file->plain(), $path, $this->store->deadline);
        $this->store->putOnce($bundle->key(), self::payload($bundle, $generation, $path));
        $pointer = BundlePointer::sign(
            $this->keys,
            $this->name,
            $bundle,
            $this->clock->now()->getTimestamp(),
        );
        // A run that died may have left one that nothing names yet.
        $this->store->putText($pointer->key(), $pointer->text, Condition::none());
        // Another writer may have followed it before it is read again.
        $isLater = fn(string $text): bool => ($this->read($text)->generation ?? 0) > $generation;
        if ($this->store->putText(self::KEY, $pointer->text, $condition, $isLater) === null) {
            throw $this->ahead($this->current()[1], $generation);
        }

        return $bundle;
    }

    /**
     * @return array{Condition, int} by which bundle.json may be replaced, and its generation; 0 without one
     * @throws StoreFailure
     */
    private function current(): array
    {
        $object = $this->store->get(self::KEY, self::MOST_BYTES);
        if ($object === null) {
            return [Condition::isNew(), 0];
        }
        $found = $this->read($object->content);

        return $found instanceof BundlePointer
            ? [Condition::matches($object->etag), $found->generation]
            : throw StoreFailure::because(
                'No bundle was published: ' . self::KEY . " in the store is not ours, {$found->sentence()}.",
            );
    }

    private function read(string $text): BundlePointer|PointerVerdict
    {
        return BundlePointer::read($text, new PointerReader($this->keys->publicKeys, $this->name));
    }

    /** @throws StoreFailure when the file is not what the renderer said */
    private static function payload(RenderedBundle $bundle, int $generation, string $path): Payload
    {
        $payload = is_file($path) ? Payload::file($path) : null;

        return $payload !== null &&
            $bundle->generation === $generation &&
            $payload->bytes === $bundle->bytes &&
            $payload->name() === $bundle->hash
            ? $payload
            : throw StoreFailure::because(
                "No bundle was published: RENDER_COMMAND wrote another file than it said (of generation $bundle->generation, with $bundle->bytes bytes).",
            );
    }

    private function ahead(int $stored, int $generation): StoreFailure
    {
        return StoreFailure::because(
            "No bundle of generation $generation was published: {$this->store->address->name()} has one of generation $stored, so another writer publishes there. Stop one of the two.",
        );
    }
}

/** The signed document that names the newest bundle of rendered documents; contract/pointer.ts describes it. */
final readonly class BundlePointer
{
    private const string CONTEXT = "trendvault bundle pointer v2\n";
    private const string FORM =
        '~^\{"version":2,"store":"(' .
        PointerReader::STORE_NAME .
        ')","generation":([1-9][0-9]{0,14}),"published_at":"([0-9TZ:-]{20})","bundle":\{"sha256":"([A-Za-z0-9_-]{43})","bytes":([1-9][0-9]{0,14}),"index_bytes":([1-9][0-9]{0,14}),"index_sha256":"([A-Za-z0-9_-]{43})"\},"kid":"[A-Za-z0-9_-]{8}","signature":"[A-Za-z0-9_-]{86}"\}$~D';

    private function __construct(
        /** How its store is called. */
        public string $store,
        public int $generation,
        /** Of the bundle; base64url. */
        public string $bundleHash,
        public string $text,
    ) {}

    /** @param int $now UTC seconds */
    public static function sign(SigningKeys $keys, string $store, RenderedBundle $bundle, int $now): self
    {
        $text = SignedText::of($keys, self::CONTEXT, [
            'version' => 2,
            'store' => $store,
            'generation' => $bundle->generation,
            'published_at' => Rfc3339::format($now),
            'bundle' => [
                'sha256' => $bundle->hash,
                'bytes' => $bundle->bytes,
                'index_bytes' => $bundle->indexBytes,
                'index_sha256' => $bundle->indexHash,
            ],
        ]);

        return new self($store, $bundle->generation, $bundle->hash, $text);
    }

    public static function read(string $text, PointerReader $reader): self|PointerVerdict
    {
        $pointer = self::parse($text);

        return $pointer === null
            ? SignedText::whyNotRead($text)
            : $reader->verdict($text, self::CONTEXT, $pointer->store) ?? $pointer;
    }

    /** Null when it is not such a pointer. The signature is not verified. */
    private static function parse(string $text): ?self
    {
        if (strlen($text) > SignedText::MOST_BYTES || preg_match(self::FORM, $text, $match) !== 1) {
            return null;
        }
        [, $store, $generation, $publishedAt, $hash, $bytes, $indexBytes, $indexHash] = $match;
        $isPossible =
            SignedText::isTime($publishedAt) &&
            Base64Url::decode($hash) !== null &&
            Base64Url::decode($indexHash) !== null &&
            (int) $indexBytes <= (int) $bytes;

        return $isPossible ? new self($store, (int) $generation, $hash, $text) : null;
    }

    public function key(): string
    {
        return "bundles/$this->generation.json";
    }
}

/** Runs RENDER_COMMAND, without a shell: the origin's own code makes a bundle of documents from a generation file. */
final readonly class Renderer
{
    /** What it needs none of. */
    private const string OUR_SECRETS = '/^(S3_|PUBLISH_SIGNING_KEYS|VIEWS_KEYS|YOUTUBE_API_KEY|HTTP_SOURCE_AUTHORIZATION)/';
    private const int POLL_MICROSECONDS = 20_000;
    private const int MOST_OUTPUT_BYTES = 4096;

    /** @param list<string> $command */
    public function __construct(private array $command) {}

    /**
     * @param string $database the path of the generation file
     * @param string $output the path of the bundle
     * @throws StoreFailure
     */
    public function render(string $database, string $output, Deadline $deadline): RenderedBundle
    {
        [$said, $complaints, $pipes] = [tmpfile(), tmpfile(), []];
        $process =
            $said === false || $complaints === false
                ? false
                : @proc_open(
                    [...$this->command, '--database', $database, '--output', $output],
                    [['file', '/dev/null', 'r'], $said, $complaints],
                    $pipes,
                    env_vars: self::environment(),
                );
        if ($said === false || $complaints === false || $process === false) {
            throw $this->failure('it cannot be started');
        }
        $exitCode = self::wait($process, $deadline);
        if ($exitCode !== 0) {
            throw $this->failure(
                $exitCode === null
                    ? "it took longer than STORE_TIMEOUT_SECONDS=$deadline->seconds"
                    : "it ended with exit code $exitCode: " . self::lastLine($complaints),
            );
        }

        return RenderedBundle::read(self::lastLine($said)) ??
            throw $this->failure('its last line of output does not describe a bundle');
    }

    private function failure(string $reason): StoreFailure
    {
        return StoreFailure::because(
            "No bundle was published: RENDER_COMMAND ({$this->command[0]} …) failed: $reason. The generation itself is published; the next run tries again.",
        );
    }

    /**
     * @param resource $process
     * @return ?int its exit code; null when it was killed at the deadline
     */
    private static function wait(mixed $process, Deadline $deadline): ?int
    {
        $status = proc_get_status($process);
        while ($status['running'] && $deadline->secondsLeft() > 0) {
            usleep(self::POLL_MICROSECONDS);
            $status = proc_get_status($process);
        }
        if ($status['running']) {
            proc_terminate($process, SIGKILL);
        }
        proc_close($process);

        return $status['running'] ? null : $status['exitcode'];
    }

    /** @return array<string, string> */
    private static function environment(): array
    {
        return array_filter(
            getenv(),
            static fn(string $name): bool => preg_match(self::OUR_SECRETS, $name) !== 1,
            ARRAY_FILTER_USE_KEY,
        );
    }

    /** @param resource $file */
    private static function lastLine(mixed $file): string
    {
        fseek($file, 0, SEEK_END);
        fseek($file, max(0, (int) ftell($file) - self::MOST_OUTPUT_BYTES));
        $lines = explode("\n", trim((string) stream_get_contents($file)));

        return (string) preg_replace('/[^\x20-\x7e]+/', ' ', end($lines));
    }
}

/** What the renderer says about the bundle that it has written. Hashes are base64url. */
final readonly class RenderedBundle
{
    public function __construct(
        public int $generation,
        public int $documents,
        public int $bytes,
        public string $hash,
        public int $indexBytes,
        public string $indexHash,
    ) {}

    /** @return ?self null when the line is something else */
    public static function read(string $line): ?self
    {
        $decoded = json_decode($line, true);
        $said = is_array($decoded) ? $decoded : [];
        $count = static fn(string $name): int => is_int($said[$name] ?? null) ? $said[$name] : 0;
        $hash = static fn(string $name): string => is_string($said[$name] ?? null) ? $said[$name] : '';
        $one = new self(
            $count('generation'),
            $count('documents'),
            $count('bytes'),
            $hash('sha256'),
            $count('index_bytes'),
            $hash('index_sha256'),
        );

        return min($one->generation, $one->documents, $one->bytes, $one->indexBytes) > 0 &&
            strlen((string) Base64Url::decode($one->hash)) === 32 &&
            strlen((string) Base64Url::decode($one->indexHash)) === 32
            ? $one
            : null;
    }

    public function key(): string
    {
        return "bundles/$this->generation-$this->hash.bundle";
    }
}
