<?php

// The endpoint of one page, with PHP's own server.
$parameters = $_GET + ['region' => 'GB', 'window' => 'day', 'limit' => '24'];
[$window, $limit] = [$parameters['window'], (int) $parameters['limit']];
$database = new SQLite3(getenv('DB_PATH'), SQLITE3_OPEN_READONLY);
$find = $database->prepare(getenv('PAGE_SQL'));
foreach ([strtoupper($parameters['region']), $window, $limit] as $number => $value) {
    $find->bindValue($number + 1, $value);
}
$page = $find->execute()->fetchArray(SQLITE3_ASSOC);
if (!$page || !in_array($window, explode(',', getenv('WINDOWS'))) || $limit < 1 || $limit > 50) {
    http_response_code(400);
    return;
}
$encode = fn(string $text): string => sodium_bin2base64($text, SODIUM_BASE64_VARIANT_URLSAFE_NO_PADDING);
$seed = sodium_base642bin(getenv('TOKEN_SIGNING_KEYS'), SODIUM_BASE64_VARIANT_URLSAFE_NO_PADDING);
$pair = sodium_crypto_sign_seed_keypair($seed);
$public = $encode(sodium_crypto_sign_publickey($pair));
$kid = substr($encode(hash('sha256', "{\"crv\":\"Ed25519\",\"kty\":\"OKP\",\"x\":\"$public\"}", true)), 0, 8);
$issued = intdiv(time(), 60) * 60;
$claims = ['iat' => $issued, 'exp' => $issued + 900, 'sub' => $page['subject']];
$parts = [['alg' => 'EdDSA', 'kid' => $kid, 'typ' => 'tv+jwt'], $claims];
$input = implode('.', array_map(fn(array $part): string => $encode(json_encode($part)), $parts));
$token = $input . '.' . $encode(sodium_crypto_sign_detached($input, sodium_crypto_sign_secretkey($pair)));
header('Content-Type: application/json');
echo $page['before'], $token, $page['after'];
