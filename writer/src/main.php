<?php

declare(strict_types=1);

use Symfony\Component\Console\Input\ArgvInput;
use TrendVault\Writer\Application;
use TrendVault\Writer\Cli\Log;
use TrendVault\Writer\StandardOutput;
use TrendVault\Writer\Time\SystemClock;

$sqlite = extension_loaded('sqlite3') ? (string) SQLite3::version()['versionString'] : '0';
// For older ones, as Debian 12 has, a null is no valid JSON, and the schema's checks refuse it.
$isOld = PHP_VERSION_ID < 80400 || version_compare($sqlite, '3.46', '<');
if ($isOld || !extension_loaded('mbstring')) {
    $is = 'PHP ' . PHP_VERSION . " with SQLite $sqlite";
    fwrite(STDERR, "writer: expected PHP 8.4, mbstring and SQLite 3.46, or newer; this is $is.\n");
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

// A line that is rejected costs an exception: without the arguments it is a third cheaper.
ini_set('zend.exception_ignore_args', '1');
// Nothing makes cycles of objects, and PHP looks for them again and again while lists of objects grow.
gc_disable();

$environment = getenv();
$atTerminal = stream_isatty(STDERR);
// journald's, which may hang: no run waits for it, and holds the lock meanwhile. Of inode(7).
if (((fstat(STDERR)['mode'] ?? 0) & 0o170000) === 0o140000) {
    stream_set_blocking(STDERR, false);
}
if (!$atTerminal) {
    // Or Symfony starts stty to ask for the size of a terminal that is not there.
    putenv('COLUMNS=120');
    putenv('LINES=50');
}
// Help and completion name the program by these.
$_SERVER['PHP_SELF'] = $_SERVER['argv'][0] = $environment['TRENDVAULT_PROGRAM'] ?? 'writer';

$input = new ArgvInput();
$input->setInteractive(false); // A mistyped command ends with 2, it does not ask whether another was meant.
$output = new StandardOutput();
$clock = new SystemClock();
$log = new Log($output->getErrorOutput(), $clock, $atTerminal);
// When memory is used up, PHP itself would write text and end with 255, which no operator's table has.
ini_set('display_errors', '0');
ini_set('log_errors', '0');
register_shutdown_function(static function () use ($log): void {
    $error = error_get_last();
    if ($error !== null && ($error['type'] & (E_ERROR | E_CORE_ERROR | E_COMPILE_ERROR)) !== 0) {
        $log->error("Stopped by a bug: {$error['message']}", [
            'event' => 'bug',
            'where' => "{$error['file']}:{$error['line']}",
        ]);
        exit(70);
    }
});
exit(new Application($environment, $clock, $log)->run($input, $output));
