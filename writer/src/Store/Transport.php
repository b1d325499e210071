<?php

declare(strict_types=1);

namespace TrendVault\Writer\Store;

use CurlHandle;

/**
 * Sends requests that curl signs (AWS Signature Version 4, CURLOPT_AWS_SIGV4), over a connection that stays open. The
 * payload's hash is in x-amz-content-sha256, so that the store refuses a body that was changed on its way.
 */
final class Transport
{
    private const float CONNECT_TIMEOUT_SECONDS = 5.0;
    /** A transfer that is slower for so long is given up. */
    private const int LEAST_BYTES_PER_SECOND = 1024;
    private const int SLOW_SECONDS = 10;
    /** What is behind that is passed over. */
    private const int MOST_ERROR_BYTES = 65_536;

    private readonly CurlHandle $curl;
    /** @var array<string, string> */
    private array $fields = [];
    private string $body = '';
    private int $received = 0;
    private bool $isTooLarge = false;

    public function __construct(private readonly StoreAddress $address)
    {
        $this->curl = curl_init();
    }

    /** @throws TransportFailure */
    public function send(Request $request, float $seconds): Response
    {
        [$this->fields, $this->body, $this->received, $this->isTooLarge] = [[], '', 0, false];
        $upload = $request->payload?->open();
        curl_reset($this->curl);
        // Not spread: that would number the options anew.
        curl_setopt_array($this->curl, $this->method($request, $upload) + $this->common($request, $seconds));
        $done = curl_exec($this->curl);
        if ($upload !== null) {
            fclose($upload);
        }
        if ($done === false) {
            throw new TransportFailure(
                curl_strerror(curl_errno($this->curl)) ?? 'unknown failure',
                $this->isTooLarge,
            );
        }

        return new Response(
            (int) curl_getinfo($this->curl, CURLINFO_RESPONSE_CODE),
            $this->fields,
            $this->body,
        );
    }

    /** @return array<int, mixed> */
    private function common(Request $request, float $seconds): array
    {
        $milliseconds = (int) max(1, ceil(1000 * $seconds)); // never before the deadline, which is then the reason

        return [
            CURLOPT_URL => $request->url,
            CURLOPT_PROTOCOLS_STR => 'http,https',
            CURLOPT_AWS_SIGV4 => "aws:amz:{$this->address->region}:s3",
            CURLOPT_USERPWD => "{$this->address->accessKeyId}:{$this->address->secretAccessKey}",
            CURLOPT_HTTPHEADER => [
                'x-amz-content-sha256: ' . bin2hex($request->payload->sha256 ?? hash('sha256', '', true)),
                'Expect:', // a store that does not know it would cost a second of waiting
                ...$request->fields,
            ],
            CURLOPT_TIMEOUT_MS => $milliseconds,
            CURLOPT_CONNECTTIMEOUT_MS => (int) min($milliseconds, 1000 * self::CONNECT_TIMEOUT_SECONDS),
            CURLOPT_LOW_SPEED_LIMIT => self::LEAST_BYTES_PER_SECOND,
            CURLOPT_LOW_SPEED_TIME => self::SLOW_SECONDS,
            CURLOPT_NOSIGNAL => true,
            CURLOPT_HEADERFUNCTION => $this->readField(...),
            CURLOPT_WRITEFUNCTION => fn(CurlHandle $curl, string $bytes): int => $this->readBody(
                $request,
                $bytes,
            ),
        ];
    }

    /**
     * @param ?resource $upload
     * @return array<int, mixed>
     */
    private function method(Request $request, mixed $upload): array
    {
        return match ($request->method) {
            'HEAD' => [CURLOPT_NOBODY => true],
            'PUT' => [
                CURLOPT_UPLOAD => true,
                CURLOPT_INFILE => $upload,
                CURLOPT_INFILESIZE => $request->payload?->bytes,
            ],
            default => [CURLOPT_CUSTOMREQUEST => $request->method],
        };
    }

    private function readField(CurlHandle $curl, string $line): int
    {
        $parts = explode(':', $line, 2);
        if (count($parts) === 2) {
            $this->fields[strtolower(trim($parts[0]))] = trim($parts[1]);
        }

        return strlen($line);
    }

    /** @return int fewer bytes than came stop the transfer */
    private function readBody(Request $request, string $bytes): int
    {
        $isContent = curl_getinfo($this->curl, CURLINFO_RESPONSE_CODE) === 200;
        $this->received += strlen($bytes);
        if ($isContent && $this->received > $request->mostBytes) {
            $this->isTooLarge = true;

            return -1;
        }
        if ($isContent && $request->sink !== null) {
            return (int) @fwrite($request->sink, $bytes);
        }
        if ($isContent || $this->received <= self::MOST_ERROR_BYTES) {
            $this->body .= $bytes;
        }

        return strlen($bytes);
    }
}
