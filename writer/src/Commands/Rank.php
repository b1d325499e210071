<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Ranking\ChannelLimit;
use TrendVault\Writer\Ranking\ClockBackwards;
use TrendVault\Writer\Ranking\EmptyPublication;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Retention\Cutoff;
use TrendVault\Writer\Time\Rfc3339;
use TrendVault\Writer\Time\SystemClock;
use TrendVault\Writer\WriterException;

#[AsCommand('rank', 'Ranks the videos and publishes all lists as a new generation')]
final class Rank extends WriterCommand
{
    #[Override]
    protected function configure(): void
    {
        $this->addOption(
            'at',
            mode: InputOption::VALUE_REQUIRED,
            description: 'Rank as of this RFC 3339 time (or now), without comparing it with the newest generation',
        )
            ->addOption(
                'yes',
                mode: InputOption::VALUE_NONE,
                description: 'Do not ask before a generation of the future is published',
            )
            ->addOption(
                'allow-empty',
                mode: InputOption::VALUE_NONE,
                description: 'Publish although a region that has a list would have none',
            );
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $at = self::time(self::option($input, 'at'), $context);
        if (!self::isGiven($input, 'yes')) {
            self::confirm($at, $context);
        }

        $allowsEmpty = self::isGiven($input, 'allow-empty');

        return $this->write($context, static function (Database $database) use (
            $allowsEmpty,
            $context,
            $at,
        ): ExitCode {
            new RankStep($context, $database)->run($at, $allowsEmpty);

            return ExitCode::Ok;
        });
    }

    /** Or `cron` would publish nothing until that time. */
    private static function confirm(?int $at, Context $context): void
    {
        if ($at === null || $at <= $context->now() + SystemClock::TOLERANCE_SECONDS) {
            return;
        }
        $future = Rfc3339::format($at) . ' is in the future: nothing newer is published until then.';
        match ($context->confirm("$future Publish?")) {
            true => null,
            false => throw WriterException::usage('Nothing was published: the answer was not yes.'),
            null => throw WriterException::usage(
                "Nothing was published: $future Give --yes if it is meant.",
            ),
        };
    }

    private static function time(?string $text, Context $context): ?int
    {
        return match ($text) {
            null => null,
            'now' => $context->now(),
            default => Rfc3339::parse($text) ??
                throw WriterException::usage(
                    "Cannot read --at $text: expected a time like 2026-11-20T10:00:00Z, or now.",
                ),
        };
    }
}

/** Publishes a generation and logs it. */
final readonly class RankStep
{
    public function __construct(private Context $context, private Database $database) {}

    /**
     * @param ?int $at UTC seconds; null for now, if the clock can be believed
     * @param bool $allowsEmpty whether a list may become empty that is not
     * @throws ClockBackwards|EmptyPublication|WriterException
     */
    public function run(?int $at = null, bool $allowsEmpty = false): void
    {
        self::allowMemory();
        $started = hrtime(true);
        $now = $this->context->now();
        $pins = new EditorialStep($this->context, $this->database)->run()->pinsAt($now);
        $limit = $this->context->settings->regionTable()->channelLimit;
        $ranking = new RankingPublisher(
            $this->database,
            $this->context->settings->exploreShare,
            SourceKinds::of($this->context->settings->sources),
            $this->context->settings->regions(),
            $limit === null
                ? new ChannelLimit()
                : new ChannelLimit((int) $limit['videos'], (int) $limit['within_ranks']),
            $pins,
        );
        $fullSince = $allowsEmpty ? null : $this->fullSince($now);
        $generation =
            $at === null
                ? $ranking->publish($now, $fullSince)
                : $ranking->publishAt($at, max($at, $now), $fullSince);
        $seconds = (hrtime(true) - $started) / 1e9;
        $this->context->log->info(
            sprintf(
                'Published generation %d: %s videos ranked, in %.1f s.',
                $generation->id,
                number_format($generation->videoCount),
                $seconds,
            ),
            [
                'event' => 'published',
                'generation' => $generation->id,
                'videos' => $generation->videoCount,
                'ranks' => $generation->rowCount,
                'formula' => $generation->formula,
                'seconds' => round($seconds, 3),
            ],
        );
        foreach ($generation->leftOut as $region => $videos) {
            $this->context->log->warning(
                sprintf(
                    '%s videos of %s do not rank, because they do not fit into memory: those with the fewest views an hour.',
                    number_format($videos),
                    $region,
                ),
                ['event' => 'videos_left_out', 'region' => $region, 'videos' => $videos],
            );
        }
        if ($generation->futureCount > 0) {
            $this->context->log->warning(
                sprintf(
                    '%s videos do not rank: their newest observation is of the future. Run `writer repair`.',
                    number_format($generation->futureCount),
                ),
                ['event' => 'observations_in_the_future', 'videos' => $generation->futureCount],
            );
        }
    }

    /**
     * The lists of 250 regions take some 500 MB while they are made, and PHP's own limit is 128. A larger one, or none,
     * stays; what SQLite takes comes on top, and both fit the unit's MemoryMax. Not for the whole program: what others
     * send is read within the smaller one.
     */
    private static function allowMemory(): void
    {
        $limit = ini_parse_quantity((string) ini_get('memory_limit'));
        if ($limit > 0 && $limit < 640 << 20) {
            ini_set('memory_limit', '640M');
        }
    }

    /** A region that was not observed for OBSERVATION_RETENTION_HOURS loses its list by age: it must not keep the others from being published. */
    private function fullSince(int $now): int
    {
        return new Cutoff($this->database)->isClockSteady($now)
            ? Cutoff::byClock($now, $this->context->settings->observationRetentionHours)
            : 0;
    }
}
