<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Cli\PublishSettings;
use TrendVault\Writer\Cli\WriterCommand;

#[AsCommand('publication-keys', 'Prints the public keys (JWKS) by which readers of the store verify it')]
final class PublicationKeys extends WriterCommand
{
    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $context->write(PublishSettings::keys($context->settings)->publicKeys->jwks() . "\n");

        return ExitCode::Ok;
    }
}
