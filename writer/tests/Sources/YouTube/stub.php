<?php

declare(strict_types=1);

// Plays https://www.googleapis.com/youtube/v3/videos, run by PHP's own web server: checks the request as the
// documentation describes it, writes it down, and answers with the next of the scripted answers for its region and
// page, the last one for ever. SCRIPT is a JSON file: {"GB 1": [{"status": 200, "etag": "…", "body": {…}}], …}.

$folder = (string) getenv('FOLDER');
$page = $_GET['pageToken'] ?? 'page 1';
$asksStats = str_ends_with((string) parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH), ':batchGetStats');
$key = $asksStats ? 'stats' : "{$_GET['regionCode']} " . substr($page, 5);
file_put_contents(
    "$folder/requests.ndjson",
    json_encode([
        'key' => $key,
        'query' => $_GET,
        'api_key' => $_SERVER['HTTP_X_GOOG_API_KEY'] ?? null,
        'if_none_match' => $_SERVER['HTTP_IF_NONE_MATCH'] ?? null,
    ]) . "\n",
    FILE_APPEND,
);

$counts = is_file("$folder/counts.json")
    ? json_decode((string) file_get_contents("$folder/counts.json"), true)
    : [];
$counts[$key] = ($counts[$key] ?? 0) + 1;
file_put_contents("$folder/counts.json", json_encode($counts));

$script = json_decode((string) file_get_contents("$folder/script.json"), true);
$answers =
    $script[$key] ??
    ($script['*'] ?? [
        [
            'status' => 404,
            'body' => ['error' => ['code' => 404, 'errors' => [['reason' => 'videoChartNotFound']]]],
        ],
    ]);
$answer = $answers[min($counts[$key], count($answers)) - 1];
if ($asksStats && !isset($script['stats'])) {
    $answer = [
        'body' => [
            'items' => array_map(
                static fn(string $id): array => [
                    'id' => $id,
                    'statistics' => ['viewCount' => '223456', 'likeCount' => '790'],
                ],
                explode(',', $_GET['id']),
            ),
        ],
    ];
}
if (isset($answer['etag']) && ($_SERVER['HTTP_IF_NONE_MATCH'] ?? '') === $answer['etag']) {
    http_response_code(304);
    header("ETag: {$answer['etag']}");

    return;
}
http_response_code($answer['status'] ?? 200);
header('Content-Type: application/json');
foreach ($answer['headers'] ?? [] as $name => $value) {
    header("$name: $value");
}
if (isset($answer['etag'])) {
    header("ETag: {$answer['etag']}");
}
$body = is_string($answer['body']) ? $answer['body'] : json_encode($answer['body']);
if (isset($answer['gzipOf'])) {
    header('Content-Encoding: gzip');
    $gzip = deflate_init(ZLIB_ENCODING_GZIP);
    $packed = deflate_add($gzip, $body);
    for ($left = $answer['gzipOf']; $left > 0; $left -= 1_000_000) {
        $packed .= deflate_add($gzip, str_repeat(' ', min($left, 1_000_000)), ZLIB_NO_FLUSH);
    }
    $body = $packed . deflate_add($gzip, '', ZLIB_FINISH);
}
echo $body;
