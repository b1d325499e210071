<?php

declare(strict_types=1);

use Psr\Clock\ClockInterface;

// Composer loads this file with our classes. Where it did not install the libraries, they are
// Debian's packages: those that bin/setup brought, else the system's. Debian has PSR-20 since
// Symfony 6.4.
foreach ([dirname(__DIR__, 2) . '/.tools/php/usr/share/php', '/usr/share/php'] as $folder) {
    if (!interface_exists(ClockInterface::class) && is_file("$folder/Psr/Clock/autoload.php")) {
        require "$folder/Psr/Clock/autoload.php";
        require "$folder/Psr/Log/autoload.php";
        require "$folder/Symfony/Component/Console/autoload.php";
        require "$folder/Symfony/Component/HttpClient/autoload.php";
    }
}

// A class that is newer than Composer's list of them: bin/setup writes the list again, and until then it is found here.
spl_autoload_register(static function (string $class): void {
    if (!str_starts_with($class, 'TrendVault\\Writer\\')) {
        return;
    }
    $path = explode('\\', substr($class, strlen('TrendVault\\Writer\\')));
    $name = array_pop($path);
    foreach (glob(implode('/', [__DIR__, ...$path, '*.php'])) ?: [] as $file) {
        if (
            preg_match("/^[a-z ]*(class|interface|enum) $name\b/m", (string) file_get_contents($file)) === 1
        ) {
            require_once $file;
            return;
        }
    }
});
