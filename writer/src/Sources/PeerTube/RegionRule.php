<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\PeerTube;

use TrendVault\Writer\Sources\SourceFailure;

/** In which regions a video counts: PeerTube knows how often it was viewed, not where. */
final readonly class RegionRule
{
    /**
     * @param array<string, list<string>> $languages the BCP 47 languages of each region, by code
     * @param bool $byLanguage whether a video counts where its language is spoken
     * @param list<string> $named of all videos, or with $byLanguage of those whose language no region speaks
     */
    private function __construct(private array $languages, private bool $byLanguage, private array $named) {}

    /**
     * @param array<string, list<string>> $languages of each region, by code
     * @throws SourceFailure when it names a region that does not exist
     */
    public static function of(InstanceUrl $instance, array $languages): self
    {
        $unknown = array_diff($instance->regions, array_keys($languages));

        return $unknown === []
            ? new self($languages, $instance->byLanguage, $instance->regions)
            : throw SourceFailure::because(
                "Cannot read $instance->url: " .
                    reset($unknown) .
                    ' is no region. Expected one or more of ' .
                    implode(', ', array_keys($languages)) .
                    ' behind #, with + between.',
            );
    }

    /**
     * @param ?string $language BCP 47; null when it is not known
     * @return list<string> codes; none when the video is to be left out
     */
    public function regions(?string $language): array
    {
        $speaking =
            $this->byLanguage && $language !== null
                ? array_keys(
                    array_filter(
                        $this->languages,
                        static fn(array $ofRegion): bool => in_array(
                            self::primary($language),
                            array_map(self::primary(...), $ofRegion),
                            true,
                        ),
                    ),
                )
                : [];

        return $speaking === [] ? $this->named : array_map(strval(...), $speaking);
    }

    private static function primary(string $language): string
    {
        return strtolower(explode('-', $language, 2)[0]);
    }
}
