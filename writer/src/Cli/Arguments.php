<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

/** A command's options and operands: `--name VALUE`, `--name=VALUE`, `--switch`; `--` ends the options. */
final readonly class Arguments
{
    /**
     * @param array<string, string> $options by name; a switch that was given is ''
     * @param list<string> $operands
     */
    private function __construct(private array $options, public array $operands) {}

    /**
     * @param list<string> $words
     * @param list<Option> $known
     * @throws UsageError
     */
    public static function parse(array $words, array $known): self
    {
        $options = $operands = [];
        while (($word = array_shift($words)) !== null) {
            if ($word === '--') {
                $operands = [...$operands, ...$words];
                break;
            }
            if (!str_starts_with($word, '--')) {
                $operands[] = $word;
                continue;
            }
            [$name, $value] = [...explode('=', substr($word, 2), 2), null];
            $option =
                array_find($known, static fn(Option $option): bool => $option->name === $name) ??
                throw UsageError::unknownOption($word, $known);
            $options[$name] = self::valueOf($option, $value, $words);
        }

        return new self($options, $operands);
    }

    public function has(string $name): bool
    {
        return isset($this->options[$name]);
    }

    public function value(string $name): ?string
    {
        return $this->options[$name] ?? null;
    }

    /** @throws UsageError when there are operands */
    public function expectNoOperands(): void
    {
        if ($this->operands !== []) {
            throw UsageError::because(
                "Did not expect {$this->operands[0]}: this command takes options only.",
            );
        }
    }

    /** @param list<string> $words what follows; the option's value is taken from it */
    private static function valueOf(Option $option, ?string $attached, array &$words): string
    {
        if ($option->valueName === null) {
            return $attached === null ? '' : throw UsageError::because("--$option->name takes no value.");
        }

        return $attached ??
            (array_shift($words) ??
                throw UsageError::because("--$option->name needs a value: {$option->label()}."));
    }
}
