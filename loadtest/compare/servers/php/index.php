<?php

declare(strict_types=1);

define('WINDOWS', explode(',', (string) getenv('WINDOWS')));

if (parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) !== '/api/trending') {
    http_response_code(404);
    exit();
}
$region = strtoupper($_GET['region'] ?? 'GB');
$window = $_GET['window'] ?? 'day';
$limit = (int) ($_GET['limit'] ?? 24);
$page =
    in_array($window, WINDOWS, true) && $limit >= 1 && $limit <= 50 ? page($region, $window, $limit) : null;
if ($page === null) {
    http_response_code(400);
    exit();
}
$body = json_encode($page, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
header('Content-Type: application/json');
header('Content-Length: ' . strlen($body));
echo $body;

/** @return ?array<string, mixed> */
function page(string $region, string $window, int $limit): ?array
{
    // Persistent: the connection outlives the request.
    $database = new PDO(
        'sqlite:' . getenv('DB_PATH'),
        options: [
            PDO::ATTR_PERSISTENT => true,
            PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC,
            PDO::SQLITE_ATTR_OPEN_FLAGS => PDO::SQLITE_OPEN_READONLY,
        ],
    );
    $head =
        select(
            $database,
            "SELECT id, published_at, previous_at, newest_observed_at, max_per_channel, max_per_channel_ranks,
            CASE WHEN ifnull(look_weight, 0) = 0 THEN 'views' WHEN look_weight < 1 THEN 'mixed' ELSE 'clicks' END AS score_unit
        FROM regions JOIN generations LEFT JOIN generation_regions ON region = code AND generation = id
        WHERE code = ? ORDER BY id DESC LIMIT 1",
            [$region],
        )[0] ?? null;
    if ($head === null) {
        return null;
    }
    $list = [$head['id'], $region, $window];
    $total =
        select(
            $database,
            "SELECT max(rank) AS total FROM trending
        WHERE generation = ? AND region = ? AND window = ? AND category = ''",
            $list,
        )[0]['total'] ?? 0;
    $rows = select(
        $database,
        "SELECT video_id, rank, title, channel, videos.category, videos.published_at,
            score, views_per_hour, previous_views_per_hour, views, thumb_base, url, previous_rank, expected_views
        FROM trending JOIN videos ON videos.id = video_id
        WHERE generation = ? AND region = ? AND window = ? AND trending.category = ''
        ORDER BY rank LIMIT ?",
        [...$list, $limit],
    );
    $count = count($rows);
    return [
        'region' => $region,
        'window' => $window,
        'category' => null,
        'generation' => $head['id'],
        'generated_at' => moment($head['published_at']),
        'previous_generated_at' => moment($head['previous_at']),
        'newest_observed_at' => moment($head['newest_observed_at']),
        'channel_limit' => [
            'videos' => $head['max_per_channel'],
            'within_ranks' => $head['max_per_channel_ranks'],
        ],
        'score_unit' => $head['score_unit'],
        'count' => $count,
        'total' => $total,
        'token' => token("$region/$window//{$head['id']}/0+$count"),
        'items' => array_map(item(...), $rows),
        'next' =>
            $count < $total ? next_page($region, $window, $limit) . "&cursor={$head['id']}-$count" : null,
    ];
}

/** @return list<array<string, mixed>> */
function select(PDO $database, string $sql, array $values): array
{
    $statement = $database->prepare($sql);
    $statement->execute($values);
    return $statement->fetchAll();
}

/** @return array<string, mixed> */
function item(array $row): array
{
    return [
        'id' => $row['video_id'],
        'rank' => $row['rank'],
        'previous_rank' => $row['previous_rank'],
        'title' => $row['title'],
        'channel' => $row['channel'],
        'category' => $row['category'],
        'published_at' => moment($row['published_at']),
        'score' => tenth($row['score']),
        'expected_views' => tenth($row['expected_views']),
        'velocity' => [
            'views_per_hour' => tenth($row['views_per_hour']),
            'previous_views_per_hour' => tenth($row['previous_views_per_hour']),
            'views' => $row['views'],
        ],
        'thumbs' => ["{$row['thumb_base']}/hq.webp", "{$row['thumb_base']}/sd.webp"],
        'url' => $row['url'],
    ];
}

function next_page(string $region, string $window, int $limit): string
{
    return "/api/trending?region=$region" .
        ($window === 'day' ? '' : "&window=$window") .
        ($limit === 24 ? '' : "&limit=$limit");
}

function token(string $sub): string
{
    $seed = base64_decode(strtr(getenv('TOKEN_SIGNING_KEYS'), '-_', '+/'));
    $pair = sodium_crypto_sign_seed_keypair($seed);
    $x = base64url(sodium_crypto_sign_publickey($pair));
    $kid = substr(
        base64url(hash('sha256', "{\"crv\":\"Ed25519\",\"kty\":\"OKP\",\"x\":\"$x\"}", true)),
        0,
        8,
    );
    $iat = intdiv(time(), 60) * 60;
    $header = json_encode(['alg' => 'EdDSA', 'kid' => $kid, 'typ' => 'tv+jwt']);
    $payload = json_encode(['iat' => $iat, 'exp' => $iat + 900, 'sub' => $sub], JSON_UNESCAPED_SLASHES);
    $input = base64url($header) . '.' . base64url($payload);
    return $input . '.' . base64url(sodium_crypto_sign_detached($input, sodium_crypto_sign_secretkey($pair)));
}

function base64url(string $bytes): string
{
    return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
}

function moment(?int $seconds): ?string
{
    return $seconds === null ? null : gmdate('Y-m-d\TH:i:s\Z', $seconds);
}

function tenth(?float $value): ?float
{
    return $value === null ? null : round($value * 10) / 10;
}
