<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Simulation\Cells;
use TrendVault\Writer\Simulation\OurRanker;
use TrendVault\Writer\Simulation\SimulationResult;
use TrendVault\Writer\Simulation\World;
use TrendVault\Writer\WriterException;

#[
    AsCommand(
        'simulate',
        'Shows how good a list becomes that learns from its own visitors, in a made-up world',
    ),
]
final class Simulate extends WriterCommand
{
    private const string HELP = <<<'TEXT'
    Visitors see the list, open what they like, and the list is ranked by that, from list to list, by the
    code that ranks in production. value: clicks that the list gave, in parts of those of the best order;
    recall@24: how much of the best 24 is in the first 24 ranks; plain: the value of
    a plain Bayesian rate by age; law: that of one that knows how rates are spread and fall, but no video's.
    A null in taper_hours or life_hours stands for never.
    --world has fields of the world: a JSON object such as {"loads_per_hour": 20000, "steepness": 1.2};
    --attack takes 0 to below 1 and prints four lines: without an attack; with the ceiling of messages for each list served; without
    it; and without cells of senders, too.
    An unknown name is answered with all that there are. EXPLORE_SHARE counts here too.
    TEXT;

    #[Override]
    protected function configure(): void
    {
        $value = InputOption::VALUE_REQUIRED;
        $this->addOption('world', mode: $value, description: 'A file of JSON: fields of the world')
            ->addOption('seeds', mode: $value, description: 'How many seeds', default: '5')
            ->addOption('seed', mode: $value, description: 'The first seed', default: '1')
            ->addOption('attack', mode: $value, description: 'The share of messages that push one video')
            ->setHelp(self::HELP);
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $attack =
            self::option($input, 'attack') === null ? [] : ['attack_share' => self::number($input, 'attack')];
        $world = new World()->with([...self::fields(self::option($input, 'world')), ...$attack]);
        $worlds =
            $attack === []
                ? [$world]
                : [
                    $world->with(['attack_share' => 0]),
                    $world,
                    $world->with(['ceiling_factor' => 0]),
                    $world->with(['ceiling_factor' => 0, 'has_sender_cells' => false]),
                ];
        $first = (int) self::number($input, 'seed');
        $seeds = range($first, $first + (int) self::number($input, 'seeds') - 1);
        $ours = new OurRanker($context->settings->exploreShare);
        $bar = $context->progressBar('Simulating');
        $context->write(Cells::HEAD);
        foreach ($worlds as $index => $one) {
            /** @var array<string, non-empty-list<SimulationResult>> $cell one a seed, and there is one at least */
            $cell = Cells::run(
                $one,
                ['ours' => $ours, ...$attack === [] ? Cells::references($one) : []],
                $seeds,
                static fn(float $share) => $bar?->setProgress(
                    (int) ((100 * ($index + $share)) / count($worlds)),
                ),
            );
            $bar?->clear();
            $context->write(Cells::line($one, $cell));
        }

        return ExitCode::Ok;
    }

    /** @return array<string, mixed> */
    private static function fields(?string $path): array
    {
        $fields = $path === null ? [] : json_decode((string) @file_get_contents($path), true);
        if (!is_array($fields) || ($fields !== [] && array_is_list($fields))) {
            throw WriterException::usage("Cannot simulate: $path is no JSON object of the world's fields.");
        }

        /** @var array<string, mixed> $fields of a JSON object */
        return $fields;
    }

    private static function number(InputInterface $input, string $name): float
    {
        $text = self::option($input, $name) ?? '';
        $number = filter_var($text, FILTER_VALIDATE_FLOAT, [
            'options' => [
                'min_range' => $name === 'seeds' ? 1 : 0,
                'max_range' => $name === 'attack' ? 0.999 : INF,
            ],
        ]);

        return $number === false
            ? throw WriterException::usage("Cannot read --$name $text: expected a number.")
            : $number;
    }
}
