<?php

declare(strict_types=1);

/**
 * Prints, for each PHP file named on the command line, one line of JSON: the file, the classes that it declares, the
 * classes that it names (with their namespaces; `use`, also grouped, qualified names, names of its own namespace, and
 * strings that are a class of the writer), those of them that need no guess (`explicit`), what cannot be followed
 * (`unreadable`), and the lines with property hooks or asymmetric visibility. PHP's own tokenizer reads the files;
 * comments do not count.
 */

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

foreach (array_slice($argv, 1) as $file) {
    $tokens = significantTokens((string) file_get_contents($file));
    [$names, $explicit] = namedClasses($tokens);
    $found = [
        'file' => $file,
        'declares' => declaredClasses($tokens),
        'names' => $names,
        'explicit' => $explicit,
        'unreadable' => unreadableImports($tokens),
        'unformattable' => linesPrettierBreaks($tokens),
    ];
    echo json_encode($found, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES), "\n";
}
