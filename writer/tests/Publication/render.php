<?php

declare(strict_types=1);

// Plays RENDER_COMMAND: writes the name of its database's newest generation as a bundle. RENDER_FAULT says how it fails.

$options = getopt('', ['database:', 'output:']);
$fault = (string) getenv('RENDER_FAULT');
$database = new SQLite3($options['database'], SQLITE3_OPEN_READONLY);
$database->busyTimeout(60_000);
$generation = $database->querySingle('SELECT max(id) FROM generations');
$bundle = "bundle of $generation";
fwrite(STDERR, "rendering…\n");
$secrets = ['S3_SECRET_ACCESS_KEY', 'PUBLISH_SIGNING_KEYS', 'HTTP_SOURCE_AUTHORIZATION'];
if (array_any($secrets, static fn(string $name): bool => getenv($name) !== false)) {
    fwrite(STDERR, "it was given keys of the writer\n");
    exit(3);
}
if ($fault === 'says its output') {
    fwrite(STDERR, "{$options['output']}\n");
    exit(7);
}
if ($fault === 'crash') {
    fwrite(STDERR, "no such font\n");
    exit(7);
}
file_put_contents($options['output'], $fault === 'another file' ? 'something else' : $bundle);
$hash = static fn(string $bytes): string => rtrim(
    strtr(base64_encode(hash('sha256', $bytes, true)), '+/', '-_'),
    '=',
);
echo $fault === 'silent'
    ? "done\n"
    : json_encode([
            'generation' => $generation,
            'documents' => 3,
            'bytes' => strlen($bundle),
            'index_bytes' => 4,
            'sha256' => $hash($bundle),
            'index_sha256' => $hash(substr($bundle, -4)),
            'seconds' => 0.1,
        ]) . "\n";
