<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\PeerTube;

use Generator;
use Override;
use Symfony\Component\HttpClient\HttpClient;
use Symfony\Contracts\HttpClient\HttpClientInterface;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Sources\RunTime;
use TrendVault\Writer\Sources\Schedule;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Sources\SourceKind;
use TrendVault\Writer\WriterException;

/** The PeerTube instances of a run: which may be asked, in which order, and how long each. */
final readonly class PeerTubeInstances implements SourceKind
{
    public const bool REMOTE = true;
    public const array FORGET = [
        'DELETE FROM peertube_pages' . self::IS_UNASKED,
        'DELETE FROM peertube_instances' . self::IS_UNASKED,
    ];
    private const string IS_UNASKED = " WHERE NOT EXISTS (SELECT 1 FROM source_schedules WHERE source = 'peertube:' || host AND asked_at >= ?)";

    /** An instance adds up its views for half an hour (views.videos.local_buffer_update_interval) before it shows them. */
    private const int INTERVAL_SECONDS = 1800;
    private const int MOST_VIDEOS = 5000;

    private int $intervalSeconds;
    private HttpClientInterface $client;

    /** @throws WriterException */
    public function __construct(
        private Context $context,
        private Database $database,
        ?HttpClientInterface $client = null,
    ) {
        $settings = $context->settings;
        $this->intervalSeconds = $settings->sourceIntervalSeconds(self::INTERVAL_SECONDS);
        $this->client = $client ?? HttpClient::create();
    }

    /**
     * The one that waited longest comes first. Those for which no time is left wait for the next run.
     *
     * @return Generator<string, PeerTubeSource|SourceFailure>
     */
    #[Override]
    public function open(array $names, RunTime $time): Generator
    {
        $languages = $this->context->settings->regionTable()->languages();
        $named = $due = $askedAt = [];
        foreach ($names as $name) {
            try {
                $instance = self::read($name, $named);
                $rule = RegionRule::of($instance, $languages);
            } catch (SourceFailure $failure) {
                yield $name => $failure;
                continue;
            }
            $named[$instance->host] = true;
            if ($this->isDue($instance)) {
                $due[$name] = [$instance, $rule];
                $askedAt[$name] = $this->schedule($instance)->askedAt();
            }
        }
        uksort($due, static fn(string $a, string $b): int => $askedAt[$a] <=> $askedAt[$b]);
        yield from $this->inTurn($due, $time);
    }

    /**
     * @param array<string, array{InstanceUrl, RegionRule}> $due by name
     * @return Generator<string, PeerTubeSource>
     */
    private function inTurn(array $due, RunTime $time): Generator
    {
        $waiting = count($due);
        foreach ($due as $name => [$instance, $rule]) {
            if ($time->secondsLeft() <= 0) {
                $time->logPostponed($this->context->log, 'peertube', $waiting);

                return;
            }
            $time->beginShare($waiting--);
            yield $name => $this->source($instance, $rule, $time);
        }
    }

    /**
     * @param array<string, true> $named hosts of the entries before
     * @throws SourceFailure
     */
    private static function read(string $name, array $named): InstanceUrl
    {
        $instance = InstanceUrl::read($name);

        return isset($named[$instance->host])
            ? throw SourceFailure::because(
                "Cannot read $name: $instance->host is named twice. Name all its regions in one entry.",
            )
            : $instance;
    }

    private function isDue(InstanceUrl $instance): bool
    {
        $now = $this->context->now();
        $schedule = $this->schedule($instance);
        $pause = $schedule->pause($now);
        if ($pause !== null) {
            $pause->log($this->context->log);

            return false;
        }
        $goesOn = new KnownPages($this->database, $instance->host)->next() > 0;

        return $now >= ($goesOn ? $schedule->retryAt($now) : $schedule->dueAt($now));
    }

    private function source(InstanceUrl $instance, RegionRule $rule, RunTime $time): PeerTubeSource
    {
        return new PeerTubeSource(
            $instance,
            new Api($this->client, $instance),
            new KnownPages($this->database, $instance->host),
            $this->schedule($instance),
            $rule,
            $time,
            $this->context->clock,
            (int) ceil(self::MOST_VIDEOS / Api::VIDEOS_PER_PAGE),
        );
    }

    private function schedule(InstanceUrl $instance): Schedule
    {
        return new Schedule($this->database, InstanceUrl::PREFIX . $instance->host, $this->intervalSeconds);
    }
}
