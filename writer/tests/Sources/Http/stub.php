<?php

declare(strict_types=1);

// A web server with one file, run by PHP's own: writes each request down, and answers as answer.json says:
// {"status": 200, "headers": {…}, "body": "base64", "chunk": "base64, sent again and again for SECONDS", "seconds": 5}.

$folder = (string) getenv('FOLDER');
$request = ['target' => $_SERVER['REQUEST_URI'], 'headers' => getallheaders()];
file_put_contents("$folder/requests.ndjson", json_encode($request) . "\n", FILE_APPEND);
$answer = json_decode((string) file_get_contents("$folder/answer.json"), true);
$etag = $answer['headers']['ETag'] ?? null;
if ($etag !== null && ($_SERVER['HTTP_IF_NONE_MATCH'] ?? '') === $etag) {
    http_response_code(304);
    header("ETag: $etag");

    return;
}
http_response_code($answer['status'] ?? 200);
foreach ($answer['headers'] ?? [] as $name => $value) {
    header("$name: $value");
}
echo base64_decode($answer['body'] ?? '');
for ($end = microtime(true) + ($answer['seconds'] ?? 0); microtime(true) < $end; usleep(50_000)) {
    echo base64_decode($answer['chunk'] ?? '');
    flush();
}
