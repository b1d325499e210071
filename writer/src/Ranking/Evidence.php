<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** Looks at a video and its views, in sums that forget: what is older by HALF_LIFE_HOURS counts half. */
final readonly class Evidence
{
    public const float HALF_LIFE_HOURS = 8.0;

    public function __construct(
        public float $looks,
        /** Each look times Appeal::left() at its time: looks at a video as if it were new. */
        public float $agedLooks,
        public float $views,
        /** The time that the sums are of, UTC seconds. */
        public int $countedAt,
    ) {}

    /** The share that is left of a sum after so many seconds; all of it when they are negative. */
    public static function kept(int $seconds): float
    {
        return $seconds <= 0 ? 1.0 : 2.0 ** (-$seconds / (3600 * self::HALF_LIFE_HOURS));
    }

    /** Both together, whichever is the older one: the order of additions does not matter. */
    public function plus(self $other): self
    {
        $mine = self::kept($other->countedAt - $this->countedAt);
        $others = self::kept($this->countedAt - $other->countedAt);

        return new self(
            $mine * $this->looks + $others * $other->looks,
            $mine * $this->agedLooks + $others * $other->agedLooks,
            $mine * $this->views + $others * $other->views,
            max($this->countedAt, $other->countedAt),
        );
    }
}
