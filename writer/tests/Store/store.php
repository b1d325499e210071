<?php

declare(strict_types=1);

// Plays an object store that speaks S3, run by PHP's own web server: objects are files in FOLDER, with conditional
// writes and lists in pages as the documentation of S3 describes them. `faults.json` has a list of rules, of which the
// first that matches a request is used up: {"method": "PUT", "key": "^current", "fault": "lost"}. It is the test's to
// write, also while a request of a writer that was killed is answered: what is used up is in a file beside it.

$folder = (string) getenv('FOLDER');
$path = rawurldecode((string) parse_url((string) $_SERVER['REQUEST_URI'], PHP_URL_PATH));
$method = (string) $_SERVER['REQUEST_METHOD'];
[, $bucket, $key] = [...explode('/', $path, 3), ''];
$body = (string) file_get_contents('php://input');
file_put_contents("$folder/requests.txt", "$method $key\n", FILE_APPEND);

$answer = static function (int $status, string $code = '', string $text = ''): void {
    http_response_code($status);
    header('Content-Type: application/xml');
    echo $code === ''
        ? $text
        : "<?xml version=\"1.0\"?><Error><Code>$code</Code><Message>AKIDSECRET is quoted here</Message></Error>";
};
$file = static fn(string $key): string => "$folder/objects/" . rawurlencode($key);

$drawn = json_decode((string) @file_get_contents("$folder/faults.json"), true) ?? [
    'draw' => 0,
    'rules' => [],
];
$used = @file("$folder/used-{$drawn['draw']}.txt", FILE_IGNORE_NEW_LINES) ?: [];
$fault = '';
foreach ($drawn['rules'] as $index => $rule) {
    if (
        !in_array((string) $index, $used, true) &&
        in_array($method, explode(' ', $rule['method'] ?? $method), true) &&
        preg_match('~' . ($rule['key'] ?? '') . '~', $key) === 1
    ) {
        $fault = $rule['fault'];
        if (!isset($rule['for_ever'])) {
            file_put_contents("$folder/used-{$drawn['draw']}.txt", "$index\n", FILE_APPEND);
        }
        break;
    }
}
file_put_contents("$folder/requests.txt", $fault === '' ? '' : "  fault: $fault\n", FILE_APPEND);
if (preg_match('~^(\d{3})(?: (\w+))?$~', $fault, $status) === 1) {
    $answer((int) $status[1], $status[2] ?? 'InternalError');

    return;
}
if ($fault === 'slow') {
    usleep(1_500_000);
}
while ($fault === 'held' && !is_file("$folder/released")) {
    usleep(1000);
}
if ($fault === 'garbage') {
    $answer(200, text: str_repeat("\x00garbage", 100));

    return;
}

if (
    !str_starts_with(
        (string) ($_SERVER['HTTP_AUTHORIZATION'] ?? ''),
        'AWS4-HMAC-SHA256 Credential=AKIDTEST/',
    ) ||
    ($_SERVER['HTTP_X_AMZ_CONTENT_SHA256'] ?? '') !== hash('sha256', $body)
) {
    $answer(403, 'SignatureDoesNotMatch');

    return;
}
if ($bucket !== 'lists') {
    $answer(404, 'NoSuchBucket');

    return;
}

if ($key === '') {
    $prefix = (string) ($_GET['prefix'] ?? '');
    $after = base64_decode((string) ($_GET['continuation-token'] ?? ''));
    $keys = array_map(
        static fn(string $name): string => rawurldecode(basename($name)),
        glob("$folder/objects/*") ?: [],
    );
    sort($keys, SORT_STRING);
    $keys = array_values(
        array_filter($keys, static fn(string $key): bool => str_starts_with($key, $prefix) && $key > $after),
    );
    $page = array_slice($keys, 0, (int) (getenv('STORE_PAGE') ?: 1000));
    $isCut = count($page) < count($keys);
    $contents = implode(
        array_map(
            static fn(string $key): string => '<Contents><Key>' .
                htmlspecialchars($key, ENT_XML1) .
                '</Key><LastModified>' .
                gmdate('Y-m-d\TH:i:s.000\Z', (int) filemtime($file($key))) .
                '</LastModified><ETag>&quot;x&quot;</ETag><Size>' .
                filesize($file($key)) .
                '</Size></Contents>',
            $page,
        ),
    );
    $next = $isCut
        ? '<NextContinuationToken>' . base64_encode((string) end($page)) . '</NextContinuationToken>'
        : '';
    $truncated = $isCut ? 'true' : 'false';
    $answer(
        200,
        text: "<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>$truncated</IsTruncated>$contents$next</ListBucketResult>",
    );

    return;
}

$found = is_file($file($key)) ? (string) file_get_contents($file($key)) : null;
$etag = static fn(string $content): string => '"' . md5($content) . '"';
if ($method === 'PUT') {
    $ifMatch = $_SERVER['HTTP_IF_MATCH'] ?? null;
    $ifNone = $_SERVER['HTTP_IF_NONE_MATCH'] ?? null;
    if ($ifMatch !== null && $found === null) {
        $answer(404, 'NoSuchKey');
    } elseif (
        ($ifNone !== null && $found !== null) ||
        ($ifMatch !== null && $ifMatch !== $etag((string) $found))
    ) {
        $answer(412, 'PreconditionFailed');
    } else {
        $kept = $fault === 'half' ? substr($body, 0, intdiv(strlen($body), 2)) : $body;
        if ($fault !== 'lost') {
            file_put_contents("$folder/new", $kept);
            rename("$folder/new", $file($key));
            file_put_contents("$folder/history.txt", "$key $kept\n", FILE_APPEND);
        }
        header('ETag: ' . ($fault === 'lying-etag' ? $etag('other') : $etag($body)));
        $answer($fault === 'unanswered' ? 500 : 200, $fault === 'unanswered' ? 'InternalError' : '');
    }
} elseif ($method === 'DELETE') {
    @unlink($file($key));
    $answer(204);
} elseif ($found === null) {
    $answer(404, $method === 'HEAD' ? '' : 'NoSuchKey');
} else {
    header('ETag: ' . ($fault === 'lying-etag' ? $etag('other') : $etag($found)));
    header('Content-Type: application/octet-stream');
    header('Content-Length: ' . strlen($found));
    echo $method === 'HEAD' ? '' : ($fault === 'truncated' ? substr($found, 0, -1) : $found);
}
