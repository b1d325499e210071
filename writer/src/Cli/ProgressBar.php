<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

/** How far a long work is: a bar that is drawn over itself, on a terminal only. */
final class ProgressBar
{
    private const int WIDTH = 30;
    private const int REDRAW_NANOSECONDS = 100_000_000;

    private int $drawnAt = 0;

    /** @param resource $stream */
    public function __construct(
        private readonly mixed $stream,
        private readonly bool $visible,
        private readonly string $label,
    ) {}

    public static function onStandardError(string $label): self
    {
        return new self(STDERR, stream_isatty(STDERR), $label);
    }

    /** @param ?float $share from 0 to 1; null draws nothing */
    public function advance(?float $share): void
    {
        $now = hrtime(true);
        if (
            !$this->visible ||
            $share === null ||
            ($share < 1 && $now - $this->drawnAt < self::REDRAW_NANOSECONDS)
        ) {
            return;
        }
        $this->drawnAt = $now;
        $filled = (int) round($share * self::WIDTH);
        $bar = str_repeat('█', $filled) . str_repeat('░', self::WIDTH - $filled);
        fwrite($this->stream, sprintf("\r%s %s %3d %%", $this->label, $bar, (int) ($share * 100)));
    }

    /** Takes the bar away, so that what follows starts on a line of its own. */
    public function finish(): void
    {
        if ($this->visible) {
            fwrite($this->stream, "\r\033[K");
        }
    }
}
