-- Origins of schema version 22 and later can read what this makes.
-- Where the next run goes on with an instance that one run did not read to its end.
CREATE TABLE peertube_instances (
  host TEXT NOT NULL PRIMARY KEY CHECK (length(host) BETWEEN 1 AND 120), -- with its port, where that is not the usual one
  next_page INTEGER NOT NULL CHECK (next_page >= 0)
) STRICT, WITHOUT ROWID;

-- What a page of an instance's list held when it was sent last: a page that has not changed is not sent again, and its counts hold.
CREATE TABLE peertube_pages (
  host TEXT NOT NULL,
  page INTEGER NOT NULL CHECK (page >= 0),
  etag TEXT NOT NULL,
  item_count INTEGER NOT NULL CHECK (item_count >= 0), -- how many videos the instance listed
  videos TEXT NOT NULL, -- those that count here: JSON, deflated (RFC 1950), in base64
  PRIMARY KEY (host, page)
) STRICT;
