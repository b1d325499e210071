-- The markets. Rows come from db/regions.json, which `writer migrate` applies after the migrations.
CREATE TABLE regions (
  code TEXT NOT NULL PRIMARY KEY CHECK (code GLOB '[A-Z][A-Z]'), -- ISO 3166-1 alpha-2
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  languages TEXT NOT NULL CHECK (json_valid(languages)) -- JSON array of BCP 47 tags, the main one first
) STRICT, WITHOUT ROWID;
