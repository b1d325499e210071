<?php

declare(strict_types=1);

namespace TrendVault\Writer\Store;

use TrendVault\Writer\Time\Rfc3339;

/**
 * A page of a list of objects, as ListObjectsV2 answers. Read with patterns: it has four members that are of use here,
 * and PHP on a server need not have an extension for XML.
 */
final readonly class ObjectList
{
    /**
     * @param list<ListedObject> $objects
     * @param ?string $next where the next page begins; null on the last one
     */
    private function __construct(public array $objects, public ?string $next) {}

    /**
     * @param string $prefix is taken off the keys
     * @param string $subject for messages
     * @throws StoreFailure
     */
    public static function read(string $xml, string $prefix, string $subject): self
    {
        if (!str_contains($xml, '</ListBucketResult>')) {
            throw StoreFailure::garbage($subject, 'a whole ListBucketResult');
        }
        preg_match_all('~<Contents>(.*?)</Contents>~s', $xml, $contents);
        $objects = [];
        foreach ($contents[1] as $content) {
            $key = self::member($content, 'Key');
            $modifiedAt = Rfc3339::parse((string) self::member($content, 'LastModified'));
            $bytes = self::member($content, 'Size');
            if ($key === null || $modifiedAt === null || !ctype_digit((string) $bytes)) {
                throw StoreFailure::garbage($subject, 'Key, Size and LastModified of each object');
            }
            if (str_starts_with($key, $prefix)) {
                $objects[] = new ListedObject(substr($key, strlen($prefix)), (int) $bytes, $modifiedAt);
            }
        }
        $isCut = self::member($xml, 'IsTruncated') === 'true';

        return new self($objects, $isCut ? self::member($xml, 'NextContinuationToken') : null);
    }

    private static function member(string $xml, string $name): ?string
    {
        return preg_match("~<$name>([^<]*)</$name>~", $xml, $match) === 1
            ? html_entity_decode($match[1], ENT_QUOTES | ENT_XML1)
            : null;
    }
}
