<?php

declare(strict_types=1);

// PSR-4 by hand: at run time the writer needs nothing but PHP.
spl_autoload_register(static function (string $class): void {
    $prefix = 'TrendVault\\Writer\\';
    if (str_starts_with($class, $prefix)) {
        require __DIR__ . '/' . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
    }
});
