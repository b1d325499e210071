-- What is known of each address of the source http:URL, so that what did not change is not read again.
CREATE TABLE http_sources (
  url_hash TEXT NOT NULL PRIMARY KEY CHECK (length(url_hash) = 64), -- SHA-256 of the address, hexadecimal
  etag TEXT, -- of what was read to its end; '' when it had none
  asked_at INTEGER NOT NULL,
  retry_at INTEGER NOT NULL -- nothing is asked before
) STRICT, WITHOUT ROWID;
