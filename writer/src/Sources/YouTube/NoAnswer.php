<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use Exception;

/** The request got no answer: no connection, or not in time. Says why without saying what was sent. */
final class NoAnswer extends Exception {}
