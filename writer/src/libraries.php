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
