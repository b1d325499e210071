<?php

declare(strict_types=1);

use PhpParser\Modifiers;
use PhpParser\Node;
use PhpParser\Node\Stmt;
use PhpParser\NodeTraverser;
use PhpParser\NodeVisitor\NameResolver;
use PhpParser\NodeVisitorAbstract;
use PhpParser\ParserFactory;

$root = dirname(__DIR__, 3);
$parsers = ["$root/.tools/php/usr/share/php/PhpParser", '/usr/share/php/PhpParser', "$root/writer/vendor"];
require array_find($parsers, static fn(string $folder) => is_file("$folder/autoload.php")) . '/autoload.php';

/**
 * Checks which folder of the writer imports which, and that no PHP file has what prettier deletes. The parser that
 * PHPUnit brings reads the files of the project in the current folder. An import is every class that a file names: by
 * `use`, also grouped, by a qualified name, by a name of its own namespace.
 *
 * The layers go from top to bottom: a file imports its own entry and those of the layers below. Two entries of one
 * layer do not import each other. A folder covers what is in it, except what has an entry of its own. With `*` each of
 * its folders is an entry.
 */
const LAYERS = [
    ['main.php'],
    ['Application.php'],
    ['Commands'],
    ['Cli'],
    ['Backtest', 'Explain', 'Retention', 'Simulation', 'Status'],
    ['Backup'],
    ['Ingest', 'Publication', 'Pull'],
    ['Demo', 'Sources/*'], // each of its folders
    ['Ranking'],
    ['Sources', 'Store'],
    ['Editorial'],
    ['Observations'],
    ['Cli/Context.php'], // a kind of source reads its own settings
    ['Cli/Settings.php'],
    ['Database'],
    ['Time', 'WriterException.php', 'libraries.php'],
    ['ExitCode.php'],
];

/** @return Generator<string> a sentence for each violation */
function violations(): Generator
{
    [$read, $declaring] = [[], []];
    foreach (phpFiles() as $path) {
        $names = read($path);
        foreach ($names->unformattable as $line) {
            yield "$path:$line: prettier deletes property hooks and asymmetric visibility: do without";
        }
        if (str_starts_with($path, 'writer/src/')) {
            $file = substr($path, strlen('writer/src/'));
            $read[$file] = $names;
            $declaring += array_fill_keys(array_map(strtolower(...), $names->declared), $file); // names are in any case
        }
    }
    foreach (array_diff(array_merge(...layers()), array_map(entryOf(...), array_keys($read))) as $entry) {
        yield "$entry has an entry in tools/check/layers/writer.php, but there is no such file";
    }
    $graph = [];
    foreach ($read as $file => $names) {
        if (entryOf($file) === null) {
            yield "$file is in no layer: give it an entry in tools/check/layers/writer.php";
        }
        $graph[$file] = [];
        foreach (array_unique(array_map(strtolower(...), $names->named)) as $at => $name) {
            if (isset($declaring[$name])) {
                $graph[$file][] = $declaring[$name];
            } elseif (str_starts_with($name, 'trendvault\\writer\\') && !isNamespace($name, $declaring)) {
                yield "$file imports {$names->named[$at]}, which has no file";
            }
        }
        $graph[$file] = array_diff(array_unique($graph[$file]), [$file]);
        foreach ($graph[$file] as $target) {
            yield from describeImport($file, $target);
        }
    }
    foreach (array_keys($graph) as $file) {
        yield from cyclesFrom($file, $graph);
    }
}

/** @return list<string> tracked ones and new ones that git does not ignore */
function phpFiles(): array
{
    exec("git ls-files --cached --others --exclude-standard -- '*.php'", $files, $exitCode);
    return $exitCode === 0
        ? array_values(array_filter($files, is_file(...)))
        : throw new RuntimeException('git failed');
}

/** @return list<list<string>> LAYERS with the folders that `*` stands for */
function layers(): array
{
    static $layers = array_map(
        static fn(array $layer) => array_merge(...array_map(foldersOf(...), $layer)),
        LAYERS,
    );
    return $layers;
}

/** @return list<string> */
function foldersOf(string $entry): array
{
    if (!str_ends_with($entry, '/*')) {
        return [$entry];
    }
    $pattern = '~^writer/src/(' . preg_quote(substr($entry, 0, -2)) . '/[^/]+)/~';
    return array_values(
        array_unique(
            array_map(
                static fn(string $path) => implode('/', array_slice(explode('/', $path), 2, 2)),
                preg_grep($pattern, phpFiles()),
            ),
        ),
    );
}

/** @return iterable<string> */
function describeImport(string $file, string $target): iterable
{
    [$from, $to] = [entryOf($file), entryOf($target)];
    if ($from === null || $to === null || $from === $to || layerOf($from) < layerOf($to)) {
        return;
    }
    yield "$file imports $target: " .
        (layerOf($from) === layerOf($to)
            ? "$from and $to are side by side and do not import each other"
            : "$from is below $to");
}

/** The entry that covers a file: the longest, so that a folder's own entry wins over that of the folder around it. */
function entryOf(string $file): ?string
{
    $covering = array_filter(
        array_merge(...layers()),
        static fn(string $name) => $file === $name || str_starts_with($file, "$name/"),
    );
    usort($covering, static fn(string $left, string $right) => strlen($right) <=> strlen($left));
    return $covering[0] ?? null;
}

function layerOf(string $entry): int
{
    return array_find_key(layers(), static fn(array $layer) => in_array($entry, $layer, true));
}

/** @param array<string, string> $declaring files by class */
function isNamespace(string $name, array $declaring): bool
{
    return array_any(array_keys($declaring), static fn(string $class) => str_starts_with($class, "$name\\"));
}

/**
 * @param array<string, array<string>> $graph
 * @return iterable<string> the shortest cycle of which a file is the first, if there is one
 */
function cyclesFrom(string $file, array $graph): iterable
{
    $paths = [[$file]];
    $seen = [];
    while (($path = array_shift($paths)) !== null) {
        foreach ($graph[$path[array_key_last($path)]] ?? [] as $next) {
            if ($next === $file) {
                yield from min($path) === $file
                    ? ['an import cycle: ' . implode(' imports ', [...$path, $file])]
                    : [];
                return;
            }
            if (!isset($seen[$next])) {
                $paths[] = [...$path, $next];
            }
            $seen[$next] = true;
        }
    }
}

/** What a file declares and names, with namespaces. */
final class Names extends NodeVisitorAbstract
{
    /** @var list<string> classes */
    public array $declared = [];
    /** @var list<string> */
    public array $named = [];
    /** @var list<int> lines with syntax that prettier's plugin deletes */
    public array $unformattable = [];

    #[Override]
    public function enterNode(Node $node): null
    {
        match (true) {
            $node instanceof Stmt\ClassLike && $node->namespacedName !== null
                => ($this->declared[] = $node->namespacedName->toString()),
            $node instanceof Stmt\Use_, $node instanceof Stmt\GroupUse => $this->enterUse($node),
            $node instanceof Node\Name\FullyQualified => ($this->named[] = $node->toString()),
            ($node instanceof Stmt\Property || $node instanceof Node\Param) &&
                ($node->hooks !== [] || ($node->flags & Modifiers::VISIBILITY_SET_MASK) !== 0)
                => ($this->unformattable[] = $node->getStartLine()),
            default => null,
        };
        return null;
    }

    private function enterUse(Stmt\Use_|Stmt\GroupUse $use): void
    {
        $prefix = $use instanceof Stmt\GroupUse ? $use->prefix->toString() . '\\' : '';
        foreach ($use->uses as $item) {
            $this->named[] = $prefix . $item->name->toString();
        }
    }
}

function read(string $file): Names
{
    static $parser = new ParserFactory()->createForHostVersion();
    $names = new Names();
    // In two steps: a name is resolved when its parent is left.
    $resolved = new NodeTraverser(new NameResolver())->traverse(
        $parser->parse((string) file_get_contents($file)) ?? [],
    );
    new NodeTraverser($names)->traverse($resolved);
    return $names;
}

$violations = iterator_to_array(violations(), false);
echo implode("\n", [...$violations, 'writer/src: ' . count($violations) . ' violations']), "\n";
exit($violations === [] ? 0 : 1);
