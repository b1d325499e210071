<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Publication;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\Attributes\TestWith;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Publication\Renderer;
use TrendVault\Writer\Store\Deadline;
use TrendVault\Writer\Publication\BundlePointer;
use TrendVault\Writer\Tests\Store\FakeStore;

final class BundleTest extends PublicationTestCase
{
    #[Test]
    public function a_bundle_is_rendered_and_published_after_its_generation(): void
    {
        $store = new FakeStore();
        $installation = self::rendering($store);
        $result = $installation->run(['cron']);

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        $pointer = BundlePointer::read((string) $store->content('bundle.json'), self::reader());
        self::assertInstanceOf(BundlePointer::class, $pointer);
        self::assertSame($pointer->text, $store->content('bundles/1.json'));
        self::assertSame('bundle of 1', $store->content("bundles/1-$pointer->bundleHash.bundle"));
        $writes = array_values(preg_grep('/^PUT/', $store->requests()));
        self::assertSame(
            [
                'PUT current.json',
                "PUT bundles/1-$pointer->bundleHash.bundle",
                'PUT bundles/1.json',
                'PUT bundle.json',
            ],
            array_slice($writes, 2),
        );
    }

    #[Test]
    #[DataProvider('faults')]
    public function when_rendering_fails_the_generation_is_published_and_the_next_run_renders(
        string $fault,
        string $expected,
    ): void {
        $store = new FakeStore();
        $installation = self::rendering($store);
        $installation->environment['RENDER_FAULT'] = $fault;
        $result = $installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode, $result->errors);
        self::assertStringContainsString($expected, $result->message('store_failed'));
        self::assertSame(1, self::current($store)->generation);
        self::assertNull($store->content('bundle.json'));

        $installation->environment['RENDER_FAULT'] = '';
        self::assertSame(ExitCode::Ok, $installation->run(['publish'])->exitCode);
        self::assertNotNull($store->content('bundles/1.json'));
    }

    /** @return array<string, array{string, string}> */
    public static function faults(): array
    {
        return [
            'a crash' => ['crash', 'it ended with exit code 7: no such font'],
            'no description' => ['silent', 'does not describe a bundle'],
            'another file' => ['another file', 'wrote another file than it said'],
        ];
    }

    #[Test]
    public function a_renderer_that_takes_too_long_is_stopped(): void
    {
        $this->expectExceptionMessage('it took longer than STORE_TIMEOUT_SECONDS=0');
        new Renderer(['sh', '-c', 'exec sleep 600'])->render('a', 'b', new Deadline(0));
    }

    #[Test]
    public function a_renderer_that_outlives_its_run_does_not_write_into_the_bundle_of_the_next(): void
    {
        $store = new FakeStore();
        $installation = self::rendering($store);
        $installation->environment['RENDER_FAULT'] = 'says its output';
        $outputs = array_map(
            static fn(string $command): string => $installation->run([$command])->message('store_failed'),
            ['cron', 'publish'],
        );

        self::assertStringContainsString('it ended with exit code 7: /', $outputs[0]);
        self::assertStringContainsString('it ended with exit code 7: /', $outputs[1]);
        self::assertNotSame($outputs[0], $outputs[1]);
    }

    #[Test]
    public function a_bundle_is_never_replaced_by_an_older_one(): void
    {
        $store = new FakeStore();
        $installation = self::rendering($store);
        $installation->run(['cron']);
        $older = (string) $store->content('bundle.json');
        $installation->run(['cron']);
        $newer = (string) $store->content('bundle.json');
        $installation->execute('UPDATE publications SET bundle_generation = 1');
        $installation->execute('DELETE FROM generations WHERE id = 2');
        $installation->execute('DELETE FROM pointers WHERE generation = 2');
        $result = $installation->run(['publish']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertSame($newer, $store->content('bundle.json'));
        self::assertNotSame($older, $newer);
    }

    #[Test]
    public function words_of_the_command_may_have_spaces_and_be_unquoted(): void
    {
        $store = new FakeStore();
        $installation = self::rendering($store);
        $folder = "{$installation->folder->path}/my tools";
        mkdir($folder);
        symlink(PHP_BINARY, "$folder/php");
        symlink(__DIR__ . '/render.php', "$folder/render it.php");
        $installation->environment[
            'RENDER_COMMAND'
        ] = "  \"$folder/php\" -d memory_limit=64M \"$folder/render it.php\" ";
        $result = $installation->run(['cron']);

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        self::assertNotNull($store->content('bundle.json'));
    }

    #[Test]
    #[TestWith(['"/opt/my tools/bun --flag'])]
    #[TestWith(['bun "--flag'])]
    #[TestWith(['/opt/my"tools/bun'])]
    #[TestWith(['"/opt/my tools/bun"--flag'])]
    public function a_command_with_a_quote_too_many_is_refused(string $command): void
    {
        $store = new FakeStore();
        $installation = self::rendering($store);
        $installation->environment['RENDER_COMMAND'] = $command;
        $result = $installation->run(['cron']);

        self::assertSame(ExitCode::Usage, $result->exitCode);
        self::assertStringContainsString('those with a space in double quotes', $result->message());
    }
}
