<?php

declare(strict_types=1);

require __DIR__ . '/../src/autoload.php';

// In front of the writer's own loader, whose prefix is a prefix of this one.
spl_autoload_register(static function (string $class): void {
    $prefix = 'TrendVault\\Writer\\Tests\\';
    if (str_starts_with($class, $prefix)) {
        require __DIR__ . '/' . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
    }
}, prepend: true);
