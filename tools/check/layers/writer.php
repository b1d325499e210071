<?php

declare(strict_types=1);

/**
 * Checks which folder of the writer imports which, and that no PHP file has what prettier deletes. PHP's own tokenizer
 * reads the files of the project in the current folder. An import is every class that a file names: by `use`, also
 * grouped, by a qualified name, by a name of its own namespace, in a string that is a class of the writer.
 *
 * The layers go from top to bottom: a file imports its own entry and those of the layers below. Two entries of one
 * layer do not import each other. A folder covers what is in it, except what has an entry of its own.
 */
const LAYERS = [
    ['main.php'],
    ['Application.php'],
    ['Commands'],
    ['Cli'],
    ['Backtest', 'Explain', 'Retention', 'Simulation', 'Status'],
    ['Backup'],
    ['Ingest', 'Publication', 'Pull'],
    ['Demo', 'Sources/Edge', 'Sources/PeerTube', 'Sources/YouTube'],
    ['Ranking'],
    ['Sources', 'Store'],
    ['Observations'],
    ['Cli/Context.php'], // a kind of source reads its own settings
    ['Cli/RegionSettings.php'],
    ['Cli/Settings.php'],
    ['Database'],
    ['Time', 'WriterException.php', 'libraries.php'],
];
/** They load others by a path that is known only when they run: the autoloaders. */
const MAY_LOAD = ['main.php', 'libraries.php'];

/** @return Generator<string> a sentence for each violation */
function violations(): Generator
{
    [$imports, $declaring] = [[], []];
    foreach (phpFiles() as $file) {
        $tokens = significantTokens((string) file_get_contents($file));
        foreach (linesPrettierBreaks($tokens) as $line) {
            yield "$file:$line: prettier deletes property hooks and asymmetric visibility: do without";
        }
        if (!str_starts_with($file, 'writer/src/')) {
            continue;
        }
        $file = substr($file, strlen('writer/src/'));
        if (entryOf($file) === null) {
            yield "$file is in no layer: give it an entry in tools/check/layers/writer.php";
        }
        foreach (declaredClasses($tokens) as $class) {
            $declaring[strtolower($class)] = $file; // PHP's names are in any case
        }
        [$names, $explicit] = namedClasses($tokens);
        $imports[$file] = in_array($file, MAY_LOAD, true)
            ? [$names, [], []]
            : [$names, $explicit, unreadableImports($tokens)];
    }
    foreach (array_diff(array_merge(...LAYERS), array_map(entryOf(...), array_keys($imports))) as $entry) {
        yield "$entry has an entry in tools/check/layers/writer.php, but there is no such file";
    }
    $graph = [];
    foreach ($imports as $file => [$names, $explicit, $unreadable]) {
        foreach ($unreadable as $what) {
            yield "$file imports $what";
        }
        foreach ($explicit as $name) {
            if (isWriters($name) && !isDeclared($name, $declaring)) {
                yield "$file imports $name, which has no file";
            }
        }
        $targets = array_map(static fn(string $name) => $declaring[strtolower($name)] ?? $file, $names);
        $graph[$file] = array_diff(array_unique($targets), [$file]);
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
        array_merge(...LAYERS),
        static fn(string $name) => $file === $name || str_starts_with($file, "$name/"),
    );
    usort($covering, static fn(string $left, string $right) => strlen($right) <=> strlen($left));
    return $covering[0] ?? null;
}

function layerOf(string $entry): int
{
    return array_find_key(LAYERS, static fn(array $layer) => in_array($entry, $layer, true));
}

function isWriters(string $name): bool
{
    return str_starts_with(strtolower($name), 'trendvault\\writer\\');
}

/** @param array<string, string> $declaring files by class */
function isDeclared(string $name, array $declaring): bool
{
    return array_any(
        array_keys($declaring),
        static fn(string $class) => str_starts_with("$class\\", strtolower($name) . '\\'),
    );
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

/** @return list<PhpToken> */
function significantTokens(string $code): array
{
    return array_values(
        array_filter(PhpToken::tokenize($code), static fn(PhpToken $token) => !$token->isIgnorable()),
    );
}

/**
 * @param list<PhpToken> $tokens
 * @return array{list<string>, list<string>} all names, and those that are explicit
 */
function namedClasses(array $tokens): array
{
    $namespace = '';
    $aliases = [];
    $names = [];
    $explicit = [];
    $depth = 0;
    for ($i = 0; isset($tokens[$i]); $i++) {
        $token = $tokens[$i];
        $depth += match (true) {
            $token->is(['{', T_CURLY_OPEN, T_DOLLAR_OPEN_CURLY_BRACES]) => 1,
            $token->is('}') => -1,
            default => 0,
        };
        if ($token->is(T_NAMESPACE)) {
            $namespace = $tokens[++$i]->text;
        } elseif ($token->is(T_USE) && $depth === 0 && !$tokens[$i + 1]->is('(')) {
            [$imported, $i] = importedNames($tokens, $i + 1);
            $aliases += array_change_key_case($imported);
            array_push($names, ...array_values($imported));
            array_push($explicit, ...array_values($imported));
        } elseif (classInString($token) !== null) {
            $explicit[] = rtrim(classInString($token), '\\');
        } elseif ($token->is([T_STRING, T_NAME_QUALIFIED, T_NAME_FULLY_QUALIFIED, T_NAME_RELATIVE])) {
            if (!isMember($tokens[$i - 1] ?? null, $tokens[$i + 1] ?? null)) {
                $name = resolve($token, $namespace, $aliases);
                $names[] = $name;
                $isCall = ($tokens[$i + 1] ?? null)?->is('(') && !$tokens[$i - 1]->is(T_NEW);
                array_push($explicit, ...$token->is(T_STRING) || $isCall ? [] : [$name]);
            }
        }
    }
    return [array_values(array_unique([...$names, ...$explicit])), array_values(array_unique($explicit))];
}

/**
 * @param list<PhpToken> $tokens
 * @return list<string> with their namespaces
 */
function declaredClasses(array $tokens): array
{
    $namespace = '';
    $declared = [];
    foreach ($tokens as $i => $token) {
        $next = $tokens[$i + 1] ?? null;
        if ($token->is(T_NAMESPACE)) {
            $namespace = "$next?->text\\";
        } elseif ($token->is([T_CLASS, T_INTERFACE, T_TRAIT, T_ENUM]) && $next?->is(T_STRING)) {
            $declared[] = $namespace . $next->text;
        }
    }

    return $declared;
}

/** The class of the writer that a string is or begins, as in class_exists('TrendVault\Writer\X'), else null. */
function classInString(PhpToken $token): ?string
{
    if (!$token->is([T_CONSTANT_ENCAPSED_STRING, T_ENCAPSED_AND_WHITESPACE])) {
        return null;
    }
    $name = ltrim(str_replace('\\\\', '\\', trim($token->text, "'\" \n")), '\\');
    return preg_match('/^TrendVault\\\\Writer(\\\\\w+)*\\\\?$/i', $name) === 1 ? $name : null;
}

/**
 * @param list<PhpToken> $tokens
 * @return list<string>
 */
function unreadableImports(array $tokens): array
{
    $found = [];
    foreach ($tokens as $i => $token) {
        if ($token->is([T_REQUIRE, T_REQUIRE_ONCE, T_INCLUDE, T_INCLUDE_ONCE, T_EVAL])) {
            $found[] = "by $token->text: name a class instead";
        } elseif (str_ends_with(classInString($token) ?? '', '\\')) {
            $found[] = "by a part of a class's name: name the class";
        } elseif ($token->is(T_NS_C)) {
            $found[] = 'by __NAMESPACE__: name a class instead';
        } elseif ($token->is(T_NAMESPACE) && !($tokens[$i + 2] ?? null)?->is(';')) {
            $found[] = 'in a namespace with braces: write `namespace X;`';
        }
    }
    return $found;
}

/**
 * Reads a `use` statement from the token after `use` to its semicolon.
 *
 * @param list<PhpToken> $tokens
 * @return array{array<string, string>, int} the names by alias, and where the semicolon is
 */
function importedNames(array $tokens, int $i): array
{
    $group = '';
    $name = '';
    $names = [];
    for (; !$tokens[$i]->is(';'); $i++) {
        $token = $tokens[$i];
        if ($token->is('{')) {
            $group = $name . '\\';
        } elseif ($token->is(T_AS)) {
            unset($names[lastPart($name)]);
            $names[$tokens[++$i]->text] = $name;
        } elseif ($token->is([T_STRING, T_NAME_QUALIFIED, T_NAME_FULLY_QUALIFIED])) {
            $name = $group . ltrim($token->text, '\\');
            $names[lastPart($name)] = $name;
        } elseif ($token->is(T_NS_SEPARATOR)) {
            unset($names[lastPart($name)]); // it is the group's beginning, not a class
        }
    }
    return [$names, $i];
}

/** @param array<string, string> $aliases */
function resolve(PhpToken $token, string $namespace, array $aliases): string
{
    if ($token->is(T_NAME_FULLY_QUALIFIED)) {
        return ltrim($token->text, '\\');
    }
    if ($token->is(T_NAME_RELATIVE)) {
        return $namespace . substr($token->text, strlen('namespace'));
    }
    [$first, $rest] = [...explode('\\', $token->text, 2), ''];
    $full = $aliases[strtolower($first)] ?? $namespace . '\\' . $first;
    return $rest === '' ? $full : $full . '\\' . $rest;
}

/** Whether a name between these two tokens is that of a member or of something declared here, not of a class. */
function isMember(?PhpToken $before, ?PhpToken $after): bool
{
    $isCase = $before?->is(T_CASE) === true && $after?->is(';') === true;
    $declares = [T_FUNCTION, T_CLASS, T_INTERFACE, T_TRAIT, T_ENUM];
    return $isCase ||
        $after?->is('=') === true ||
        $before?->is([T_OBJECT_OPERATOR, T_NULLSAFE_OBJECT_OPERATOR, T_DOUBLE_COLON, ...$declares]) === true;
}

function lastPart(string $name): string
{
    return substr('\\' . $name, strrpos('\\' . $name, '\\') + 1);
}

/**
 * A hook begins with `get` or `set` after a brace or another hook, and `=>`, a body or set's parameter after it.
 *
 * @param list<PhpToken> $tokens
 * @return list<int>
 */
function linesPrettierBreaks(array $tokens): array
{
    $lines = [];
    foreach ($tokens as $i => $token) {
        $asymmetric = preg_match('/^(public|protected|private)\(set\)$/i', $token->text) === 1;
        if ($asymmetric || isHook($tokens, $i)) {
            $lines[] = $token->line;
        }
    }
    return $lines;
}

/** @param list<PhpToken> $tokens */
function isHook(array $tokens, int $i): bool
{
    $start = $i - 1;
    while (
        ($tokens[$start] ?? null)?->is(['&', T_FINAL, T_AMPERSAND_NOT_FOLLOWED_BY_VAR_OR_VARARG]) === true
    ) {
        $start--;
    }
    return $tokens[$i]->is(T_STRING) &&
        in_array(strtolower($tokens[$i]->text), ['get', 'set'], true) &&
        ($tokens[$start] ?? null)?->is(['{', '}', ';', ']']) === true &&
        ($tokens[$i + 1] ?? null)?->is(['{', '(', ';', T_DOUBLE_ARROW]) === true;
}

$violations = iterator_to_array(violations(), false);
echo implode("\n", [...$violations, 'writer/src: ' . count($violations) . ' violations']), "\n";
exit($violations === [] ? 0 : 1);
