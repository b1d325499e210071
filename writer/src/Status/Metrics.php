<?php

declare(strict_types=1);

namespace TrendVault\Writer\Status;

/** Metrics in Prometheus' text format 0.0.4: a name's help and type once, then its samples. */
final class Metrics
{
    private string $text = '';

    /**
     * @param string $name without its prefix, with its unit at the end
     * @param list<array{0: int|float|null, 1?: array<string, string|int>}> $samples a value and its labels; null is left out
     */
    public function gauge(string $name, string $help, array $samples): void
    {
        $this->add('gauge', $name, $help, $samples);
    }

    /** @param list<array{0: int|float|null, 1?: array<string, string|int>}> $samples */
    public function counter(string $name, string $help, array $samples): void
    {
        $this->add('counter', $name, $help, $samples);
    }

    public function text(): string
    {
        return $this->text;
    }

    /** @param list<array{0: int|float|null, 1?: array<string, string|int>}> $samples */
    private function add(string $type, string $name, string $help, array $samples): void
    {
        $lines = [];
        foreach ($samples as $sample) {
            if ($sample[0] !== null) {
                $lines[] = "trendvault_writer_$name" . self::labels($sample[1] ?? []) . " $sample[0]\n";
            }
        }
        if ($lines !== []) {
            $this->text .= "# HELP trendvault_writer_$name $help\n# TYPE trendvault_writer_$name $type\n";
            $this->text .= implode('', $lines);
        }
    }

    /** @param array<string, string|int> $labels */
    private static function labels(array $labels): string
    {
        $pairs = [];
        foreach ($labels as $name => $value) {
            $pairs[] =
                $name . '="' . strtr((string) $value, ['\\' => '\\\\', '"' => '\\"', "\n" => '\\n']) . '"';
        }

        return $pairs === [] ? '' : '{' . implode(',', $pairs) . '}';
    }
}
