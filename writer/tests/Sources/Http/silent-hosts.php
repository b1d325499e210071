<?php

declare(strict_types=1);

// Hosts on ports of their own, one for each argument: what it does. Prints the ports, then a line for each connection that
// begins ("begins HOST") or that the client ends ("ends HOST"). Good ones answer with the file LINES.

$listeners = array_map(static fn() => stream_socket_server('tcp://127.0.0.1:0'), array_slice($argv, 1));
$port = static fn(mixed $socket): int => (int) substr(
    (string) strrchr(stream_socket_get_name($socket, false), ':'),
    1,
);
echo json_encode(array_map($port, $listeners)), "\n";
[$open, $hosts, $dripping] = [[], [], []];
while (true) {
    [$readable, $none] = [[...$listeners, ...$open], null];
    stream_select($readable, $none, $none, 0, 50_000);
    foreach ($readable as $socket) {
        $host = array_search($socket, $listeners, true);
        if ($host !== false) {
            $connection = stream_socket_accept($socket, 0);
            [$open[(int) $connection], $hosts[(int) $connection]] = [$connection, $host];
            echo "begins $host\n";
            continue;
        }
        [$id, $asked] = [(int) $socket, fread($socket, 8192)];
        $does = $argv[1 + $hosts[$id]];
        if ($asked === '' || $asked === false) {
            echo "ends {$hosts[$id]}\n";
            unset($open[$id], $hosts[$id], $dripping[$id]);
        } elseif ($does === 'closes') {
            unset($open[$id], $hosts[$id]);
            stream_socket_shutdown($socket, STREAM_SHUT_RDWR);
        } elseif ($does === 'drips') {
            fwrite($socket, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
            $dripping[$id] = [$socket, "\n"];
        } elseif (str_starts_with($does, 'goes on')) {
            $dripping[$id] = [
                $socket,
                str_repeat("HTTP/1.1 100 Continue\r\n\r\n", $does === 'goes on' ? 1 : 200),
            ];
        } elseif ($does === 'answers') {
            $lines = str_replace('HOST', (string) $hosts[$id], (string) getenv('LINES'));
            fwrite($socket, 'HTTP/1.1 200 OK' . "\r\nContent-Length: " . strlen($lines) . "\r\n\r\n$lines");
        }
    }
    foreach ($dripping as [$socket, $bytes]) {
        @fwrite($socket, $bytes);
    }
}
