<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Cli\UsageError;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Simulation\Cells;
use TrendVault\Writer\Simulation\NaiveRanker;
use TrendVault\Writer\Simulation\OurRanker;
use TrendVault\Writer\Simulation\RateRanker;
use TrendVault\Writer\Simulation\SimulationPicture;
use TrendVault\Writer\Simulation\SimulationResult;
use TrendVault\Writer\Simulation\UnknownWorld;
use TrendVault\Writer\Simulation\World;

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
    code that ranks in production. value: views that the list gave, in parts of those of the best order;
    recall@24: how much of the best 24 is in the first 24 ranks; naive: the value of ranking by all views; plain: that of
    a plain Bayesian rate by age; law: that of one that knows how rates are spread and fall, but no video's.
    A null in taper_hours or life_hours stands for never.
    Nine cells, or the one of --world: a JSON object such as {"loads_per_hour": 20000, "steepness": 1.2};
    --attack prints two lines: with the ceiling of messages for each list served, and without it.
    An unknown name is answered with all that there are. EXPLORE_SHARE counts here too.
    TEXT;

    #[Override]
    protected function configure(): void
    {
        $value = InputOption::VALUE_REQUIRED;
        $this->addOption('world', mode: $value, description: 'A file of JSON: fields of the world')
            ->addOption('seeds', mode: $value, description: 'How many seeds', default: '5')
            ->addOption('seed', mode: $value, description: 'The first seed', default: '1')
            ->addOption(
                'attack',
                mode: $value,
                description: 'The share of all messages that push one video, 0 to below 1',
            )
            ->addOption('svg', mode: $value, description: 'A file for a picture of the values over time')
            ->setHelp(self::HELP);
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $world = new World()->with([
            ...self::fields(self::option($input, 'world')),
            ...self::option($input, 'attack') === null
                ? []
                : ['attack_share' => self::number($input, 'attack')],
        ]);
        $isAttacked = self::option($input, 'attack') !== null;
        $worlds = match (true) {
            $isAttacked => [$world, $world->with(['ceiling_factor' => 0])],
            self::option($input, 'world') === null => Cells::of($world),
            default => [$world],
        };
        $seeds = range(
            (int) self::number($input, 'seed'),
            (int) (self::number($input, 'seed') + self::number($input, 'seeds') - 1),
        );
        $rankers = [
            'ours' => new OurRanker($context->settings->exploreShare),
            'naive' => new NaiveRanker(),
            ...$isAttacked
                ? [
                    'without bound' => new OurRanker($context->settings->exploreShare, INF),
                    'without shrinking' => new RateRanker(),
                ]
                : [],
        ];
        $bar = $context->progressBar('Simulating');
        $context->write(Cells::HEAD);
        $picture = [];
        foreach ($worlds as $index => $one) {
            /** @var array<string, non-empty-list<SimulationResult>> $cell one a seed, and there is one at least */
            $cell = Cells::run(
                $one,
                $isAttacked ? $rankers : [...$rankers, ...Cells::references($one)],
                $seeds,
                static fn(float $share) => $bar?->setProgress(
                    (int) ((100 * ($index + $share)) / count($worlds)),
                ),
            );
            $bar?->clear();
            $context->write(Cells::line($one, $cell));
            $picture =
                $index === intdiv(count($worlds), 2)
                    ? array_map(
                        SimulationResult::meanOf(...),
                        array_intersect_key($cell, ['ours' => 0, 'naive' => 0]),
                    )
                    : $picture;
        }
        $path = self::option($input, 'svg');
        if ($path !== null) {
            self::save(
                $path,
                SimulationPicture::svg(
                    $picture,
                    'Views that a list gives, in parts of those of the best order',
                ),
            );
        }

        return ExitCode::Ok;
    }

    private static function save(string $path, string $svg): void
    {
        if (@file_put_contents($path, $svg) === false) {
            throw UsageError::because("Cannot write $path: is its folder there, and may it be written?");
        }
    }

    /** @return array<string, mixed> */
    private static function fields(?string $path): array
    {
        $fields = $path === null ? [] : json_decode((string) @file_get_contents($path), true);
        if (!is_array($fields) || ($fields !== [] && array_is_list($fields))) {
            throw UnknownWorld::file((string) $path);
        }

        /** @var array<string, mixed> $fields of a JSON object */
        return $fields;
    }

    private static function number(InputInterface $input, string $name): float
    {
        $text = self::option($input, $name) ?? '';
        $number = filter_var($text, FILTER_VALIDATE_FLOAT, [
            'options' => ['min_range' => $name === 'seeds' ? 1 : 0],
        ]);

        return $number === false
            ? throw UsageError::because("Cannot read --$name $text: expected a number.")
            : $number;
    }
}
