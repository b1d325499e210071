<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

/** A source that wants to know when its lines are committed. */
interface Settles
{
    /**
     * @param bool $clean whether the source was read to its end and every line stored
     * @throws SourceFailure
     */
    public function settle(bool $clean): void;
}
