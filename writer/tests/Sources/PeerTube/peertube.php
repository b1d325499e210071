<?php

declare(strict_types=1);

// Plays a PeerTube instance, run by PHP's own web server, as https://docs.joinpeertube.org/api-rest-reference.html
// describes GET /api/v1/videos: parameters and their bounds, rate limits, weak entity tags, gzip. state.json says which
// videos there are, faults.json what the next answers do wrong.

$folder = (string) getenv('FOLDER');
$host = $_SERVER['HTTP_HOST'];
$state = json_decode((string) file_get_contents("$folder/state.json"), true);
file_put_contents(
    "$folder/requests.ndjson",
    json_encode(['query' => $_GET, 'headers' => getallheaders()]) . "\n",
    FILE_APPEND,
);

function problem(int $status, string $detail): never
{
    http_response_code($status);
    header('Content-Type: application/problem+json; charset=utf-8');
    exit(
        json_encode(['detail' => $detail, 'status' => $status, 'title' => 'Error', 'type' => 'about:blank'])
    );
}

function limitRate(string $folder, int $most, int $windowSeconds): void
{
    $now = microtime(true);
    $times = array_filter(
        json_decode((string) @file_get_contents("$folder/times.json"), true) ?? [],
        static fn(float $time): bool => $time > $now - $windowSeconds,
    );
    $times[] = $now;
    file_put_contents("$folder/times.json", json_encode(array_values($times)));
    $resetAt = (int) ceil(min($times) + $windowSeconds);
    header("X-RateLimit-Limit: $most");
    header('X-RateLimit-Remaining: ' . max(0, $most - count($times)));
    header("X-RateLimit-Reset: $resetAt");
    if (count($times) > $most) {
        header('Retry-After: ' . max(1, $resetAt - time()));
        http_response_code(429);
        exit('Too many requests, please try again later.');
    }
}

/** As VideoModel.toFormattedJSON() has it; what the state says of the video replaces that. */
function item(array $video, string $host): array
{
    $number = $video['number'];
    $uuid = sprintf('9c9de5e8-0a1e-484a-b099-%012d', $number);
    $actor = [
        'id' => 5,
        'name' => 'main',
        'displayName' => 'A channel',
        'url' => "https://$host/video-channels/main",
        'host' => $host,
        'avatars' => [
            [
                'width' => 48,
                'path' => '/lazy-static/avatars/a.png',
                'createdAt' => '2024-01-01T00:00:00.000Z',
            ],
        ],
    ];

    return [
        'id' => $number,
        'uuid' => $uuid,
        'shortUUID' => short($number),
        'url' => "https://$host/videos/watch/$uuid",
        'name' => "Video $number",
        'category' => ['id' => 15, 'label' => 'Science & Technology'],
        'licence' => ['id' => 1, 'label' => 'Attribution'],
        'language' => ['id' => 'de', 'label' => 'German'],
        'privacy' => ['id' => 1, 'label' => 'Public'],
        'nsfw' => false,
        'truncatedDescription' => str_repeat('A sentence about it. ', 12),
        'description' => str_repeat('A sentence about it. ', 12),
        'isLocal' => true,
        'duration' => 254,
        'aspectRatio' => 1.7778,
        'views' => 1000 + $number,
        'viewers' => 0,
        'likes' => 12,
        'dislikes' => 1,
        'comments' => 3,
        'thumbnailPath' => "/lazy-static/thumbnails/$uuid.jpg",
        'previewPath' => "/lazy-static/previews/$uuid.jpg",
        'embedPath' => "/videos/embed/$uuid",
        'createdAt' => '2025-11-01T10:52:46.396Z',
        'updatedAt' => '2025-11-02T10:52:46.396Z',
        'publishedAt' => '2025-11-01T11:52:46.396Z',
        'originallyPublishedAt' => null,
        'isLive' => false,
        'account' => $actor,
        'channel' => $actor,
        ...array_diff_key($video, ['number' => true]),
    ];
}

/** 22 characters of the alphabet of short UUIDs, another for each number. */
function short(int $number): string
{
    return strtr(sprintf('%022d', $number), '0123456789', 'aBcDeFgHjK');
}

/** The body that a fault sends in place of the right one. */
function spoil(string $fault, array $right, string $host): string
{
    $each = static fn(array $changes): string => json_encode([
        ...$right,
        'data' => array_map(static fn(array $item): array => [...$item, ...$changes], $right['data']),
    ]);

    return match ($fault) {
        'html' => '<!doctype html><title>Welcome</title>',
        'truncated' => substr(json_encode($right), 0, -9),
        'empty' => '',
        'no list' => json_encode(['total' => 3, 'data' => ['a' => 1]]),
        'a list' => json_encode($right['data']),
        'text' => '"data"',
        'huge' => json_encode($right) . str_repeat(' ', 3_000_000),
        'brackets' => '{"data":[' . substr(str_repeat('[1],', 250_000), 0, -1) . ']}',
        'nested' => '{"data":' . str_repeat('[', 5000) . str_repeat(']', 5000) . '}',
        'no videos' => json_encode([...$right, 'data' => [null, 5, 'x', [], [[]]]]),
        'negative' => $each(['views' => -5, 'likes' => -1, 'duration' => -1]),
        'beyond' => str_replace('"views":1', '"views":99999999999999999999', json_encode($right)),
        'types' => $each([
            'views' => [1],
            'name' => 5,
            'language' => 'de',
            'publishedAt' => 7,
            'category' => null,
        ]),
        'controls' => $each(['name' => "\u{202e}evil\u{0}"]),
        'other host' => $each(['channel' => ['host' => 'other.example', 'displayName' => 'x']]),
        'not local' => $each(['isLocal' => false]),
        'other pictures' => $each([
            'thumbnailPath' => '//other.example/a.jpg',
            'thumbnails' => [['width' => 400, 'fileUrl' => 'https://other.example/a.jpg']],
        ]),
    };
}

$faults = json_decode((string) @file_get_contents("$folder/faults.json"), true) ?? [];
$isFailing = in_array((int) ($_GET['start'] ?? 0) / 100, $state['failing'] ?? [], true);
$fault = array_shift($faults) ?? ($isFailing ? 'status 500' : $state['always'] ?? '');
file_put_contents("$folder/faults.json", json_encode($faults));

if (parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) !== '/api/v1/videos') {
    problem(404, 'Not found');
}
limitRate($folder, $state['limit'] ?? 50, $state['limited_seconds'] ?? 10);
if (preg_match('~^status (\d+)(?: after (\d+))?$~', $fault, $match) === 1) {
    isset($match[2]) && header("Retry-After: $match[2]");
    problem((int) $match[1], 'a drawn fault');
}
if ($fault === 'redirect') {
    header('Location: http://169.254.169.254/latest/', true, 302);
    exit();
}
if ($fault === 'disconnected') {
    header('Content-Length: 100000');
    exit('{');
}
if ($fault === 'endless') {
    for ($end = microtime(true) + 30; microtime(true) < $end; usleep(50_000)) {
        echo ' ';
        flush();
    }
    exit();
}

[$start, $count] = [$_GET['start'] ?? '0', $_GET['count'] ?? '15'];
if (!ctype_digit($start) || !ctype_digit($count) || (int) $count > 100) {
    problem(400, 'Incorrect request parameters: start, count');
}
$videos = $state['videos'];
for ($number = 1; $number <= ($state['made'] ?? 0); $number++) {
    $videos[] = ['number' => $number];
}
$videos = array_map(static fn(array $video): array => item($video, $host), $videos);
$videos = array_filter(
    $videos,
    static fn(array $video): bool => ($state['unfiltered'] ?? false) ||
        ((($_GET['isLocal'] ?? null) !== 'true' || $video['isLocal']) &&
            (($_GET['nsfw'] ?? null) !== 'false' || !$video['nsfw'])),
);
$page = array_slice(array_values($videos), $fault === 'same again' ? 0 : (int) $start, (int) $count);
$right = [...($_GET['skipCount'] ?? '') === 'true' ? [] : ['total' => count($videos)], 'data' => $page];
$body = in_array($fault, ['', 'same again', 'not modified', 'bomb'], true)
    ? json_encode($right)
    : spoil($fault, $right, $host);
$etag = 'W/"' . dechex(strlen($body)) . '-' . base64_encode(sha1($body, true)) . '"';
header("ETag: $etag");
header('Content-Type: application/json; charset=utf-8');
if ($fault === 'not modified' || ($_SERVER['HTTP_IF_NONE_MATCH'] ?? '') === $etag) {
    http_response_code(304);
    exit();
}
if ($fault === 'bomb') {
    $gzip = deflate_init(ZLIB_ENCODING_GZIP);
    $body = deflate_add($gzip, $body, ZLIB_NO_FLUSH);
    for ($left = 20; $left > 0; $left--) {
        $body .= deflate_add($gzip, str_repeat(' ', 1_000_000), ZLIB_NO_FLUSH);
    }
    header('Content-Encoding: gzip');
    exit($body . deflate_add($gzip, '', ZLIB_FINISH));
}
if ($fault !== 'huge' && str_contains($_SERVER['HTTP_ACCEPT_ENCODING'] ?? '', 'gzip')) {
    header('Content-Encoding: gzip');
    $body = gzencode($body);
}
echo $body;
