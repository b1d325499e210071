<?php

declare(strict_types=1);

namespace TrendVault\Writer\Bench;

require __DIR__ . '/../vendor/autoload.php';

$arguments = array_slice($argv, 1);
$wanted = array_values(array_diff($arguments, ['--json']));
$unknown = array_diff($wanted, Scenarios::NAMES);
if ($unknown !== []) {
    fwrite(
        STDERR,
        'bench: expected some of ' .
            implode(', ', Scenarios::NAMES) .
            ', got ' .
            implode(', ', $unknown) .
            ".\n",
    );
    exit(2);
}
$figures = new Scenarios()->run($wanted === [] ? Scenarios::NAMES : $wanted);
if (in_array('--json', $arguments, true)) {
    echo json_encode($figures, JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR), "\n";
} else {
    foreach ($figures as ['what' => $what, 'figure' => $figure, 'target' => $target, 'met' => $met]) {
        printf(
            "%-52s %14s   %-18s %s\n",
            $what,
            $figure,
            $target,
            $met === null ? '' : ($met ? 'met' : 'MISSED'),
        );
    }
}
exit(in_array(false, array_column($figures, 'met'), true) ? 1 : 0);
