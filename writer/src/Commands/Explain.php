<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use TrendVault\Writer\Cli\Arguments;
use TrendVault\Writer\Cli\Command;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\Description;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Cli\UsageError;
use TrendVault\Writer\Database\Regions;
use TrendVault\Writer\Explain\Explanation;

final readonly class Explain implements Command
{
    #[Override]
    public function description(): Description
    {
        return new Description(
            'explain',
            'says why a video stands where it stands in a market',
            operands: 'REGION VIDEO',
        );
    }

    #[Override]
    public function run(Arguments $arguments, Context $context): ExitCode
    {
        if (count($arguments->operands) !== 2) {
            throw UsageError::because(
                'Expected a region and a video, for example: writer explain GB dQw4w9WgXcQ (-- goes before an id that starts with --).',
            );
        }
        [$region, $videoId] = [strtoupper($arguments->operands[0]), $arguments->operands[1]];
        $database = ReadSession::open($context);
        $known = Regions::codes($database);
        if (!in_array($region, $known, true)) {
            throw UsageError::because(
                "Unknown market $region: expected one of " . implode(', ', $known) . '.',
            );
        }
        $explanation =
            Explanation::find($database, $region, $videoId) ??
            throw UsageError::because(
                "Nothing to explain: video $videoId was not observed in $region, or nothing was published yet.",
            );
        $context->streams->write($explanation->text());

        return ExitCode::Ok;
    }
}
