<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use TrendVault\Writer\Cli\BackupSettings;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\PublishSettings;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Editorial\EditorialStore;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Publication\BundlePublisher;
use TrendVault\Writer\Publication\GenerationFile;
use TrendVault\Writer\Publication\ObjectRetention;
use TrendVault\Writer\Retention\Erasure;
use TrendVault\Writer\Sources\ErasedLines;
use TrendVault\Writer\Store\StoreFailure;
use TrendVault\Writer\WriterException;

#[AsCommand('erase', 'Deletes all that is stored about a video or a channel, and keeps it from coming back')]
final class Erase extends WriterCommand
{
    private const string HELP = <<<'TEXT'
    For a request under GDPR Art. 17; it cannot be undone. Rows, lines in done/, rejected/ and what is being read, and the
    generations that name it go. A new generation is published, and a new backup is made and fetched once; then all older
    ones go from the stores of PUBLISH_URL and BACKUP_URL, since none knows what to keep out. What stays is a keyed hash, by
    which lines that name it are left out. It prints what it cannot reach. After a failure give the same command again.
    TEXT;
    /** What is beyond reach, and for how long it stays there. */
    private const string BEYOND = <<<'TEXT'
    What this cannot reach:
    - followers: until they have the new generation (delete the file of one that does not run)
    - the edge's caches: served for 12 minutes, and while sources fail for a day and two minutes (purge the zone); KV: a day
      and two minutes after the last write (delete its keys); counters: ids for 49 hours, in Cloudflare's copies 30 days
    - browsers: 90 seconds, and up to 60 pages that they keep for use without a network
    - EDITORIAL_FILE: take out what names it, also the videos of a channel; the writer leaves that out already
    - versions and copies that a bucket keeps of deleted objects; prefixes and buckets of earlier settings
    - logs, copies of the database made by hand, files in spool folders and at sources, what others have copied

    TEXT;

    #[Override]
    protected function configure(): void
    {
        $this->setHelp(self::HELP)
            ->addOption('video', mode: InputOption::VALUE_REQUIRED, description: 'The id of the video')
            ->addOption(
                'channel',
                mode: InputOption::VALUE_REQUIRED,
                description: 'The channel\'s name, exactly: it, and all its videos',
            );
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        [$video, $channel] = [self::option($input, 'video'), self::option($input, 'channel')];
        if (($video === null) === ($channel === null)) {
            throw WriterException::usage('Nothing was erased: expected either --video ID or --channel NAME.');
        }
        $subject = RemovalSubject::read($video ?? (string) $channel, $channel !== null);

        return $this->write(
            $context,
            static fn(Database $database): ExitCode => self::erase($context, $database, $subject),
        );
    }

    /**
     * In an order in which each step leaves nothing that the next one would bring back.
     *
     * @throws WriterException|StoreFailure
     */
    private static function erase(Context $context, Database $database, RemovalSubject $subject): ExitCode
    {
        // What a setting is wrong for has to fail before rows go.
        $publication = PublishSettings::isSet($context->settings)
            ? new PublishStep($context, $database)
            : null;
        $backup = BackupSettings::isSet($context->settings) ? new BackupStep($context, $database) : null;
        $erasure = new Erasure($database, $subject->kind, $subject->name);
        $erasure->begin($context->now());
        if (GenerationFile::newest($database) !== null) {
            new RankStep($context, $database)->run();
        }
        $rows = $erasure->deleteRows();
        $files = new ErasedLines($context, $database)->takeOut();
        new EditorialStore($database)->forgetErased();
        $isEmptied = $erasure->vacuum();
        $failed = [self::publish($publication, $context, $database), $backup?->run(isOnly: true)];
        $remarks = [
            ...array_map(
                static fn(
                    string $path,
                ): string => "$path cannot be read to its end: look into it and delete it.",
                $files['unreadable'],
            ),
            ...array_map(
                static fn(string $column): string => "Other rows have this text in $column.",
                $erasure->found(),
            ),
            ...$isEmptied
                ? []
                : ['Another process keeps the WAL, which still names it: give the command again.'],
        ];
        $context->log->info(
            array_sum($rows) + $files['lines'] === 0
                ? 'Nothing was erased: nothing here has that name. It is kept out when it comes.'
                : "Erased. Videos: {$rows['videos']}; generations: {$rows['generations']}; lines in files: {$files['lines']}.",
            ['event' => 'erased', ...$rows, 'lines' => $files['lines']],
        );
        $context->write(
            implode(array_map(static fn(string $remark): string => "$remark\n", $remarks)) . self::BEYOND,
        );

        return array_find($failed, static fn(?ExitCode $code): bool => $code !== null) ??
            ($isEmptied ? ExitCode::Ok : ExitCode::DatabaseBusy);
    }

    /** @throws WriterException */
    private static function publish(?PublishStep $step, Context $context, Database $database): ?ExitCode
    {
        $generation = GenerationFile::newest($database);
        if ($generation === null || $step === null) {
            return null;
        }
        $failed = $step->run();
        if ($failed !== null) {
            return $failed;
        }
        try {
            $settings = PublishSettings::of($context->settings);
            $store = $settings->open();
            if ($settings->renderCommand === []) {
                $store->delete(BundlePublisher::KEY); // It is of the time when there was one, and names what goes now.
            }
            new ObjectRetention($store, [])->deleteBefore($generation);

            return null;
        } catch (StoreFailure $failure) {
            $context->log->error($failure->getMessage(), ['event' => 'store_failed']);

            return ExitCode::SourceFailed;
        }
    }
}
