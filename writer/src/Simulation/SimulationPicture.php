<?php

declare(strict_types=1);

namespace TrendVault\Writer\Simulation;

/** The value of lists over time, as SVG. */
final class SimulationPicture
{
    private const int WIDTH = 720;
    private const int HEIGHT = 300;
    private const int LEFT = 48;
    private const int BOTTOM = 40;
    private const array COLOURS = ['#2f6f4f', '#b4532a'];

    /** @param array<string, SimulationResult> $results by label, at most two */
    public static function svg(array $results, string $title): string
    {
        $right = self::WIDTH - 16;
        $bottom = self::HEIGHT - self::BOTTOM;
        $lines = [
            sprintf(
                '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">',
                self::WIDTH,
                self::HEIGHT,
            ),
            sprintf('<title>%s</title>', htmlspecialchars($title)),
            sprintf('<rect width="%d" height="%d" fill="#fff"/>', self::WIDTH, self::HEIGHT),
            sprintf('<text x="%d" y="20" font-weight="bold">%s</text>', self::LEFT, htmlspecialchars($title)),
        ];
        foreach ([0.0, 0.25, 0.5, 0.75, 1.0] as $value) {
            $y = self::y($value);
            $lines[] = sprintf('<path d="M%d %.1fH%d" stroke="#ddd"/>', self::LEFT, $y, $right);
            $lines[] = sprintf(
                '<text x="%d" y="%.1f" text-anchor="end">%.2f</text>',
                self::LEFT - 6,
                $y + 4,
                $value,
            );
        }
        $hours = max(
            array_map(static fn(SimulationResult $one): float => end($one->steps)['hour'], $results),
        );
        for ($day = 0; $day <= $hours / 24 + 0.1; $day++) {
            $x = self::LEFT + (24 * $day * ($right - self::LEFT)) / max(1.0, $hours);
            $lines[] = sprintf(
                '<text x="%.1f" y="%d" text-anchor="middle">day %d</text>',
                min($x, $right - 16),
                $bottom + 18,
                $day,
            );
        }
        foreach (array_values($results) as $index => $result) {
            $lines[] = sprintf(
                '<path d="M%s" fill="none" stroke="%s" stroke-width="2"/>',
                implode('L', self::points($result, $hours, $right)),
                self::COLOURS[$index % 2],
            );
            $lines[] = sprintf(
                '<text x="%d" y="%d" fill="%s">%s</text>',
                self::LEFT + 230 * $index,
                $bottom + 34,
                self::COLOURS[$index % 2],
                htmlspecialchars(array_keys($results)[$index]),
            );
        }

        return implode("\n", [...$lines, '</svg>']) . "\n";
    }

    private static function y(float $value): float
    {
        return 32 + (1 - $value) * (self::HEIGHT - self::BOTTOM - 32);
    }

    /** @return list<string> the mean of each hour */
    private static function points(SimulationResult $result, float $hours, int $right): array
    {
        $points = [];
        foreach (array_chunk($result->steps, 12) as $chunk) {
            $points[] = sprintf(
                '%.1f %.1f',
                self::LEFT + ($chunk[0]['hour'] * ($right - self::LEFT)) / max(1.0, $hours),
                self::y(array_sum(array_column($chunk, 'value')) / count($chunk)),
            );
        }

        return $points;
    }
}
