<?php

declare(strict_types=1);

// Plays the edge's side of a pull, as contract/openapi.ts and contract/request-signatures.ts describe it, run by PHP's
// own web server. state.json says what the shards hold, faults.json what the next answers do wrong.

$folder = (string) getenv('FOLDER');
file_put_contents("$folder/requests.txt", "{$_SERVER['REQUEST_URI']}\n", FILE_APPEND);

function problem(int $status, string $detail): never
{
    http_response_code($status);
    header('Content-Type: application/problem+json');
    exit(json_encode(['type' => '/problems/pull', 'status' => $status, 'detail' => $detail]));
}

function answer(mixed $body): never
{
    header('Content-Type: application/json');
    header('Cache-Control: no-store');
    exit(is_string($body) ? $body : json_encode($body));
}

function verify(): void
{
    [$path, $query] = [...explode('?', $_SERVER['REQUEST_URI'], 2), null];
    $pattern =
        '/^pull=(\("@method" "@path" "@query"\);created=([1-9]\d*);nonce="[\w-]{16,64}";keyid="(\w+)";alg="hmac-sha256")$/D';
    if (preg_match($pattern, $_SERVER['HTTP_SIGNATURE_INPUT'] ?? '', $match) !== 1) {
        problem(403, 'unsigned');
    }
    [$kid, $key] = explode(':', (string) getenv('EDGE_KEYS'));
    $base = "\"@method\": GET\n\"@path\": $path\n\"@query\": ?$query\n\"@signature-params\": $match[1]";
    $mac = base64_encode(hash_hmac('sha256', $base, base64_decode(strtr($key, '-_', '+/')), true));
    match (true) {
        $match[3] !== $kid => problem(403, 'unknown key'),
        ($_SERVER['HTTP_SIGNATURE'] ?? '') !== "pull=:$mac:" => problem(403, 'tampered'),
        abs(time() - (int) $match[2]) > 60 => problem(403, 'the clocks differ'),
        default => null,
    };
}

/** Whole minutes after the cursor, at most $limit rows unless the first minute has more. */
function minutes(array $shard, string $name, ?int $after, int $limit): array
{
    $first = max($after ?? -1, ($shard['first'] ?? 0) - 1);
    $rows = [];
    foreach (['looks', 'served'] as $kind) {
        foreach ($shard[$kind] ?? [] as $row) {
            if ($row['minute'] > $first && $row['minute'] <= $shard['last_closed']) {
                $rows[$row['minute']][] = [$kind, $row];
            }
        }
    }
    ksort($rows);
    [$until, $taken] = [$shard['last_closed'], []];
    foreach ($rows as $minute => $ofMinute) {
        if ($taken !== [] && count($taken) + count($ofMinute) > $limit) {
            $until = $minute - 1;
            break;
        }
        array_push($taken, ...$ofMinute);
    }
    $of = static fn(string $kind): array => array_column(
        array_filter($taken, static fn(array $row): bool => $row[0] === $kind),
        1,
    );

    return [
        'shard' => $name,
        'after' => $after,
        'until' => max($until, (int) $after),
        'last_closed' => $shard['last_closed'],
        'lost_until' => $after !== null && $first > $after ? $first : null,
        'looks' => array_values($of('looks')),
        'served' => array_values($of('served')),
    ];
}

function spoil(string $fault, array $right, string $folder): mixed
{
    $row = ['minute' => $right['until'], 'window' => 'day', 'category' => '', 'generation' => 1];
    $with = static fn(array $rank, array $other = []): array => [
        ...$right,
        'looks' => [...$right['looks'], [...$row, ...$other, 'ranks' => [$rank]]],
    ];

    return match ($fault) {
        'truncated' => substr(json_encode($right), 0, -7),
        'no JSON' => '<html>not found</html>',
        'a list' => [1, 2, 3],
        'empty object' => '{}',
        'future' => [...$right, 'until' => intdiv(time(), 60) + 90, 'last_closed' => intdiv(time(), 60) + 90],
        'clock back' => [...$right, 'until' => 5, 'last_closed' => 5, 'looks' => [], 'served' => []],
        'another shard' => [...$right, 'shard' => 'PL-63'],
        'answered before' => is_file("$folder/before.json")
            ? (string) file_get_contents("$folder/before.json")
            : '{}',
        'out of order' => [...$right, 'after' => (int) $right['after'] + 1],
        'cursor stays' => [
            ...$right,
            'until' => (int) $right['after'],
            'last_closed' => $right['last_closed'] + 1,
        ],
        'cursor back' => [...$right, 'until' => (int) $right['after'] - 1],
        'negative' => $with([1, 'a', -5, 1]),
        'absurd' => $with([1, 'a', PHP_INT_MAX, 1]),
        'fraction' => $with([1, 'a', 1.5, 1]),
        'text' => $with([1, 'a', '5', 1]),
        'minute before' => $with([1, 'a', 5, 1], ['minute' => (int) $right['after']]),
        'minute behind' => $with([1, 'a', 5, 1], ['minute' => $right['until'] + 1]),
        'page of 0 ranks' => [...$right, 'served' => [[...$row, 'pages' => [[0, 0, 5]]]]],
        'rank 0' => $with([0, 'a', 5, 1]),
        'no id' => $with([1, '../a', 5, 1]),
    };
}

// It is the test's to write, also while a request of a writer that was killed is answered: how many are used up is in a
// file beside it.
$drawn = json_decode((string) @file_get_contents("$folder/faults.json"), true) ?? [
    'draw' => 0,
    'faults' => [],
];
$used = "$folder/used-{$drawn['draw']}.txt";
$fault = $drawn['faults'][is_file($used) ? filesize($used) : 0] ?? '';
file_put_contents($used, '.', FILE_APPEND);

$state = json_decode((string) file_get_contents("$folder/state.json"), true);
verify();
if (str_starts_with($fault, 'status ')) {
    problem((int) substr($fault, 7), 'a drawn fault');
}
if ($fault === 'disconnected') {
    header('Content-Length: 100000');
    exit('{');
}
if ($fault === 'redirect') {
    header('Location: http://127.0.0.1:1/', true, 302);
    exit();
}
if (parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) === '/api/views/shards') {
    answer($fault === '' ? ['shards' => $state['listed'], 'kept_hours' => 48] : ['shards' => $fault]);
}
$name = $_GET['shard'];
if (getenv('IN_PAIRS') !== false) {
    // Every second request is answered when another one is there, or after a second, since the other may queue behind it in
    // this process: one by one, requests take longer than a run may.
    $begun = static fn(): int => count(file("$folder/requests.txt") ?: []);
    for ($mine = $begun(), $tries = 0; $mine % 2 === 0 && $begun() === $mine && $tries < 100; $tries++) {
        usleep(10_000);
    }
}
if (!isset($state['shards'][$name])) {
    problem(503, 'the object does not answer');
}
$after = isset($_GET['after']) ? (int) $_GET['after'] : null;
$right = minutes(
    $state['shards'][$name],
    $name,
    $after,
    min((int) $_GET['limit'], $state['shards'][$name]['limit'] ?? 1000),
);
$body = $fault === '' ? $right : spoil($fault, $right, $folder);
file_put_contents("$folder/before.json", json_encode($right));
answer($body);
