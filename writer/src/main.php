<?php

declare(strict_types=1);

use TrendVault\Writer\Cli\Application;
use TrendVault\Writer\Cli\Log;
use TrendVault\Writer\Cli\Streams;

if (PHP_VERSION_ID < 80400 || !extension_loaded('sqlite3') || !extension_loaded('mbstring')) {
    fwrite(STDERR, 'writer: needs PHP 8.4 with sqlite3 and mbstring, this is PHP ' . PHP_VERSION . ".\n");
    exit(70);
}
$loader = dirname(__DIR__) . '/vendor/autoload.php';
if (is_file($loader)) {
    require $loader;
}
if (!class_exists(Symfony\Component\Console\Application::class)) {
    fwrite(
        STDERR,
        "writer: its libraries are missing. Run bin/setup, or composer install --no-dev in writer/.\n",
    );
    exit(70);
}

ini_set('display_errors', 'stderr');
set_error_handler(static function (int $level, string $message, string $file, int $line): bool {
    // A call silenced with @ checks its result itself.
    return (error_reporting() & $level) === 0
        ? true
        : throw new ErrorException($message, 0, $level, $file, $line);
});

$application = new Application(getenv(), Streams::ofProcess(), Log::toStandardError());
exit($application->run(array_slice($argv, 1))->value);
