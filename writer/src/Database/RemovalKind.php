<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

/** What was taken down: one video by its id, or all videos of a channel by its name. */
enum RemovalKind: string
{
    case Video = 'video';
    case Channel = 'channel';
}
