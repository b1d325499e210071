<?php

declare(strict_types=1);

namespace TrendVault\Writer\Store;

use Exception;

/** No whole answer came. The request may have been carried out all the same. */
final class TransportFailure extends Exception
{
    public function __construct(string $message, public readonly bool $isTooLarge = false)
    {
        parent::__construct($message);
    }
}
