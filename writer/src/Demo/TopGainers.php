<?php

declare(strict_types=1);

namespace TrendVault\Writer\Demo;

use SplPriorityQueue;

/** The videos that gained most, out of any number. */
final class TopGainers
{
    /** @var SplPriorityQueue<float, DemoVideo> the one that gained least first */
    private SplPriorityQueue $queue;

    public function __construct(private readonly int $size)
    {
        $this->queue = new SplPriorityQueue();
    }

    /** @param float $gain views */
    public function offer(float $gain, DemoVideo $video): void
    {
        $this->queue->insert($video, -$gain);
        if (count($this->queue) > $this->size) {
            $this->queue->extract();
        }
    }

    /** @return list<DemoVideo> in no order that matters */
    public function videos(): array
    {
        return iterator_to_array(clone $this->queue, false);
    }
}
