-- The sum of db/migrations. Printed by `writer schema`; bin/test compares.

CREATE TABLE schema_migrations (
  version INTEGER NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL, -- SHA-256 of the file, hexadecimal
  applied_at INTEGER NOT NULL
) STRICT;

CREATE TABLE regions (
  code TEXT NOT NULL PRIMARY KEY CHECK (code GLOB '[A-Z][A-Z]'), -- ISO 3166-1 alpha-2
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  languages TEXT NOT NULL CHECK (json_valid(languages)) -- JSON array of BCP 47 tags, the main one first
) STRICT, WITHOUT ROWID;

CREATE TABLE videos (
  id TEXT NOT NULL PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 64),
  title TEXT NOT NULL CHECK (length(title) BETWEEN 1 AND 300),
  channel TEXT NOT NULL CHECK (length(channel) BETWEEN 1 AND 200),
  category TEXT CHECK (length(category) BETWEEN 1 AND 60), -- never '#language:…', which names a list of a language
  language TEXT CHECK (length(language) BETWEEN 2 AND 35), -- BCP 47
  published_at INTEGER,
  duration_seconds INTEGER CHECK (duration_seconds >= 0),
  thumb_base TEXT NOT NULL CHECK (length(thumb_base) <= 500 AND thumb_base GLOB 'http*://?*'),
  first_seen_at INTEGER NOT NULL,
  url TEXT CHECK (length(url) <= 2000 AND url GLOB 'https://?*') -- the video's own page, as a line of the catalogue says it
, described_by INTEGER, available_from INTEGER, available_until INTEGER, held_because TEXT, countries TEXT CHECK (json_valid(countries)), live TEXT CHECK (live IN ('scheduled', 'now', 'recorded')), live_until INTEGER, made_for_kids INTEGER CHECK (made_for_kids = 1), thumbs TEXT CHECK (json_valid(thumbs)), category_since INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;

CREATE TABLE observations (
  observed_at INTEGER NOT NULL,
  region TEXT NOT NULL REFERENCES regions (code),
  video_id TEXT NOT NULL,
  views INTEGER NOT NULL CHECK (views >= 0), -- cumulative
  likes INTEGER CHECK (likes >= 0),
  comments INTEGER CHECK (comments >= 0),
  previous_observed_at INTEGER CHECK (previous_observed_at < observed_at),
  PRIMARY KEY (observed_at, region, video_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE velocity (
  video_id TEXT NOT NULL REFERENCES videos (id),
  region TEXT NOT NULL REFERENCES regions (code),
  first_observed_at INTEGER NOT NULL,
  last_observed_at INTEGER NOT NULL CHECK (last_observed_at >= first_observed_at),
  observation_count INTEGER NOT NULL CHECK (observation_count >= 1),
  views INTEGER NOT NULL CHECK (views >= 0), -- at last_observed_at
  views_per_hour REAL NOT NULL CHECK (views_per_hour >= 0), -- the average since publication at first, then of what was gained lately
  rated_at REAL NOT NULL CHECK (rated_at BETWEEN 0 AND last_observed_at), -- the moment that views_per_hour is about
  previous_views_per_hour REAL CHECK (previous_views_per_hour >= 0), -- a slower average of earlier rates; null until there were two observations
  description_hash INTEGER NOT NULL, levels TEXT CHECK (json_valid(levels)) /* JSON, see writer/src/Ranking/Forecast.php; null while counts agree */, first_counted_at INTEGER NOT NULL DEFAULT 0, -- of what the last line said about the video: the same again needs no look at videos
  PRIMARY KEY (video_id, region)
) STRICT, WITHOUT ROWID;

CREATE TABLE hourly_views (
  region TEXT NOT NULL REFERENCES regions (code),
  video_id TEXT NOT NULL,
  hour INTEGER NOT NULL, -- the last one that is known: hours since 1970
  views TEXT NOT NULL CHECK (json_valid(views)), -- JSON: cumulative counts up to that hour, oldest first, null where nobody counted
  PRIMARY KEY (region, video_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX hourly_views_by_hour ON hourly_views (hour, region, video_id);

CREATE TABLE generations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice: cursors name it
  published_at INTEGER NOT NULL,
  formula TEXT NOT NULL CHECK (length(formula) BETWEEN 1 AND 40),
  video_count INTEGER NOT NULL CHECK (video_count >= 0),
  max_per_channel INTEGER NOT NULL CHECK (max_per_channel >= 1), -- within the first max_per_channel_ranks of a list
  max_per_channel_ranks INTEGER NOT NULL CHECK (max_per_channel_ranks >= 0),
  previous_at INTEGER CHECK (previous_at < published_at), -- of the list that the ranks are compared with; null when there is none
  taper_hours REAL CHECK (taper_hours >= 0), -- of the forecast
  sources TEXT CHECK (json_valid(sources)), -- JSON: kinds and hosts, without keys and paths
  explore_share REAL CHECK (explore_share BETWEEN 0 AND 1),
  removed_videos INTEGER CHECK (removed_videos >= 0),
  looks_counted INTEGER CHECK (looks_counted IN (0, 1))
) STRICT;

CREATE TABLE generation_regions (
  generation INTEGER NOT NULL REFERENCES generations (id) ON DELETE CASCADE,
  region TEXT NOT NULL REFERENCES regions (code),
  video_count INTEGER NOT NULL CHECK (video_count >= 0),
  newest_observed_at INTEGER, -- null while nothing was ever observed there
  look_weight REAL CHECK (look_weight BETWEEN 0 AND 1), -- how much looks weigh against the forecast; null where none are counted
  PRIMARY KEY (generation, region)
) STRICT, WITHOUT ROWID;

CREATE INDEX generation_regions_by_region ON generation_regions (region, generation);

CREATE TABLE trending (
  generation INTEGER NOT NULL REFERENCES generations (id) ON DELETE CASCADE,
  region TEXT NOT NULL REFERENCES regions (code),
  window TEXT NOT NULL CHECK (window = 'now' OR window = 'day' OR window = 'week'),
  category TEXT NOT NULL,
  rank INTEGER NOT NULL CHECK (rank >= 1),
  video_id TEXT NOT NULL,
  score REAL NOT NULL CHECK (score >= 0),
  views INTEGER NOT NULL CHECK (views >= 0),
  views_per_hour REAL NOT NULL CHECK (views_per_hour >= 0),
  previous_views_per_hour REAL CHECK (previous_views_per_hour >= 0),
  previous_rank INTEGER CHECK (previous_rank >= 1), expected_views REAL CHECK (expected_views >= 0), placed TEXT CHECK (json_valid(placed)), placed_until INTEGER, title_in_region TEXT, -- about an hour before; null when it was not in the list, or nothing is known
  PRIMARY KEY (generation, region, window, category, rank)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX trending_by_video ON trending (generation, video_id, region, window, category);

CREATE TABLE explored_ranks (
  generation INTEGER NOT NULL REFERENCES generations (id) ON DELETE CASCADE,
  region TEXT NOT NULL,
  window TEXT NOT NULL,
  category TEXT NOT NULL,
  rank INTEGER NOT NULL,
  PRIMARY KEY (generation, region, window, category, rank)
) STRICT, WITHOUT ROWID;

CREATE TABLE explanations (
  generation INTEGER NOT NULL REFERENCES generations (id) ON DELETE CASCADE,
  region TEXT NOT NULL REFERENCES regions (code),
  parts TEXT NOT NULL CHECK (json_valid(parts)), -- JSON: by video id, see writer/src/Ranking/ExplainedVideo.php
  limited TEXT NOT NULL CHECK (json_valid(limited)), rules TEXT CHECK (json_valid(rules)), -- JSON: by window and rank, where the limit by channel changed it: the rank without it, null beyond the list's end
  PRIMARY KEY (generation, region)
) STRICT, WITHOUT ROWID;

CREATE TABLE rank_snapshots (
  published_at INTEGER NOT NULL, -- of the generation
  region TEXT NOT NULL REFERENCES regions (code),
  window TEXT NOT NULL,
  category TEXT NOT NULL,
  video_ids TEXT NOT NULL, -- by rank, with a space between
  PRIMARY KEY (published_at, region, window, category)
) STRICT, WITHOUT ROWID;

CREATE TABLE removals (
  kind TEXT NOT NULL CHECK (kind IN ('video', 'channel')),
  name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 200), -- videos.id or videos.channel
  reason TEXT NOT NULL CHECK (length(reason) BETWEEN 1 AND 300),
  removed_at INTEGER NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE removals_version (version INTEGER NOT NULL) STRICT;

CREATE TRIGGER removal_added AFTER INSERT ON removals BEGIN UPDATE removals_version SET version = version + 1; END;

CREATE TRIGGER removal_undone AFTER DELETE ON removals BEGIN UPDATE removals_version SET version = version + 1; END;

CREATE TABLE pull_shards (
  shard TEXT NOT NULL PRIMARY KEY CHECK (length(shard) BETWEEN 4 AND 5), -- such as GB-0
  region TEXT NOT NULL REFERENCES regions (code),
  listed_at INTEGER NOT NULL, -- when the edge named it last
  after INTEGER, -- the cursor: every minute up to this one is stored; null before the first pull
  asked_at INTEGER NOT NULL DEFAULT 0, -- when a run asked it last
  lost_minutes INTEGER NOT NULL DEFAULT 0, -- minutes that the edge had deleted before they were pulled
  lost_at INTEGER -- when that was seen last
) STRICT, WITHOUT ROWID;

CREATE TABLE pulled_counts (
  region TEXT NOT NULL REFERENCES regions (code),
  minute INTEGER NOT NULL,
  window TEXT NOT NULL,
  category TEXT NOT NULL, -- as the token names it, '' for all
  rank INTEGER NOT NULL CHECK (rank >= 1),
  video_id TEXT NOT NULL,
  impressions INTEGER NOT NULL CHECK (impressions >= 0),
  clicks INTEGER NOT NULL CHECK (clicks >= 0),
  PRIMARY KEY (region, minute, window, category, rank, video_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE pulled_lists (
  region TEXT NOT NULL REFERENCES regions (code),
  minute INTEGER NOT NULL,
  window TEXT NOT NULL,
  category TEXT NOT NULL,
  first_rank INTEGER NOT NULL CHECK (first_rank >= 1),
  last_rank INTEGER NOT NULL CHECK (last_rank >= first_rank),
  lists INTEGER NOT NULL CHECK (lists >= 0),
  PRIMARY KEY (region, window, category, minute, first_rank, last_rank)
) STRICT, WITHOUT ROWID;

CREATE TABLE counted_ranks (
  region TEXT NOT NULL REFERENCES regions (code),
  minute INTEGER NOT NULL,
  window TEXT NOT NULL,
  category TEXT NOT NULL,
  rank INTEGER NOT NULL,
  counted INTEGER NOT NULL CHECK (counted >= 0), -- looks or views, whichever are more
  PRIMARY KEY (region, window, category, minute, rank)
) STRICT, WITHOUT ROWID;

CREATE TABLE pull_regions (
  region TEXT NOT NULL PRIMARY KEY REFERENCES regions (code),
  settled_until INTEGER NOT NULL DEFAULT 0, -- the looks of the minutes up to this one are counted
  lists INTEGER NOT NULL DEFAULT 0, -- all that was ever pulled
  impressions INTEGER NOT NULL DEFAULT 0,
  clicks INTEGER NOT NULL DEFAULT 0,
  late_impressions INTEGER NOT NULL DEFAULT 0, -- the part of it that came when its minute was settled
  late_clicks INTEGER NOT NULL DEFAULT 0,
  settled_impressions INTEGER NOT NULL DEFAULT 0, -- the part of it whose minutes are settled, before the ceiling
  settled_clicks INTEGER NOT NULL DEFAULT 0,
  counted_impressions REAL NOT NULL DEFAULT 0, -- what the ceiling left of that
  counted_clicks REAL NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE source_schedules (
  source TEXT NOT NULL PRIMARY KEY CHECK (length(source) BETWEEN 1 AND 200), -- youtube, or peertube:HOST
  asked_at INTEGER NOT NULL, -- when the newest run began to ask
  failed_runs INTEGER NOT NULL CHECK (failed_runs >= 0), -- how many in a row had no answer
  retry_at INTEGER NOT NULL, -- nothing is asked before
  failure TEXT -- why; NULL when the newest run had its answers
) STRICT, WITHOUT ROWID;

CREATE TABLE youtube_pages (
  region TEXT NOT NULL REFERENCES regions (code),
  page INTEGER NOT NULL CHECK (page >= 1),
  etag TEXT NOT NULL,
  next_page_token TEXT, -- null on the last page
  fetched_at INTEGER NOT NULL,
  PRIMARY KEY (region, page)
) STRICT, WITHOUT ROWID;

CREATE TABLE youtube_regions (
  region TEXT NOT NULL PRIMARY KEY REFERENCES regions (code),
  asked_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE youtube_videos (
  region TEXT NOT NULL REFERENCES regions (code),
  video_id TEXT NOT NULL,
  page INTEGER NOT NULL CHECK (page >= 1), -- of the chart: one that has not changed is not sent again
  charted_at INTEGER NOT NULL,
  PRIMARY KEY (region, video_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE youtube_quota (
  day_began_at INTEGER NOT NULL,
  quota TEXT NOT NULL CHECK (quota IN ('charts', 'views')), -- YouTube counts the two apart
  units INTEGER NOT NULL CHECK (units >= 0),
  PRIMARY KEY (day_began_at, quota)
) STRICT, WITHOUT ROWID;

CREATE TABLE peertube_instances (
  host TEXT NOT NULL PRIMARY KEY CHECK (length(host) BETWEEN 1 AND 120), -- with its port, where that is not the usual one
  next_page INTEGER NOT NULL CHECK (next_page >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE peertube_pages (
  host TEXT NOT NULL,
  page INTEGER NOT NULL CHECK (page >= 0),
  etag TEXT NOT NULL,
  item_count INTEGER NOT NULL CHECK (item_count >= 0), -- how many videos the instance listed
  videos TEXT NOT NULL, -- those that count here: JSON, deflated (RFC 1950), in base64
  PRIMARY KEY (host, page)
) STRICT;

CREATE TABLE http_sources (
  url_hash TEXT NOT NULL PRIMARY KEY CHECK (length(url_hash) = 64), -- SHA-256 of the address, hexadecimal
  etag TEXT, -- of what was read to its end; '' when it had none
  asked_at INTEGER NOT NULL,
  retry_at INTEGER NOT NULL -- nothing is asked before
, host TEXT CHECK (length(host) BETWEEN 1 AND 195) /* with its port; null before a pause */, read_at INTEGER NOT NULL DEFAULT 0, silent_runs INTEGER NOT NULL DEFAULT 0 /* how many in a row waited in vain */, failure TEXT /* why nothing is asked before retry_at */) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  command TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  finished_at INTEGER, -- null while running, and for ever when the run was killed
  exit_code INTEGER,
  error TEXT,
  accepted INTEGER NOT NULL DEFAULT 0 CHECK (accepted >= 0),
  unchanged INTEGER NOT NULL DEFAULT 0 CHECK (unchanged >= 0),
  late INTEGER NOT NULL DEFAULT 0 CHECK (late >= 0),
  conflicting INTEGER NOT NULL DEFAULT 0 CHECK (conflicting >= 0), -- other views than the first ones of that time; the first stay
  removed INTEGER NOT NULL DEFAULT 0 CHECK (removed >= 0),
  announced INTEGER NOT NULL DEFAULT 0 CHECK (announced >= 0),
  other_regions INTEGER NOT NULL DEFAULT 0 CHECK (other_regions >= 0) -- lines about regions of other writers
, allowed INTEGER NOT NULL DEFAULT 0 CHECK (allowed >= 0)) STRICT;

CREATE TABLE rejections (
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  reason TEXT NOT NULL,
  line_count INTEGER NOT NULL CHECK (line_count >= 1),
  PRIMARY KEY (run_id, reason)
) STRICT, WITHOUT ROWID;

CREATE TABLE source_failures (
  run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  source TEXT NOT NULL CHECK (length(source) BETWEEN 1 AND 120), -- its kind, such as spool, or kind and host: peertube:tube.example
  PRIMARY KEY (run_id, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE checks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  checked_at INTEGER NOT NULL,
  seconds REAL NOT NULL CHECK (seconds >= 0),
  result TEXT NOT NULL CHECK (result IN ('whole', 'damaged', 'unfinished')),
  detail TEXT -- what SQLite said about a damaged file; why the check did not end
) STRICT;

CREATE TABLE notices (
  name TEXT NOT NULL PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 60),
  said_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE publications (
  store TEXT NOT NULL PRIMARY KEY, -- s3://bucket/prefix
  pending TEXT, -- the pointer that a run was about to write; null when that is done
  generation INTEGER, -- of the newest pointer; null before the first
  published_at INTEGER,
  seconds REAL CHECK (seconds >= 0), -- from making the generation file to the pointer
  file_bytes INTEGER, -- of the generation file as stored
  bundle_generation INTEGER, -- of the newest bundle; null before the first
  bundle_published_at INTEGER,
  bundle_seconds REAL CHECK (bundle_seconds >= 0),
  bundle_bytes INTEGER,
  failed_at INTEGER, -- when the last run failed; null when it did not
  failure TEXT,
  tidied_at INTEGER -- when old objects were looked for
) STRICT, WITHOUT ROWID;

CREATE TABLE pointers (
  store TEXT NOT NULL REFERENCES publications (store) ON DELETE CASCADE,
  generation INTEGER NOT NULL,
  published_at INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (store, generation)
) STRICT, WITHOUT ROWID;

CREATE TABLE backups (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  store TEXT NOT NULL, -- s3://bucket/prefix
  began_at INTEGER NOT NULL,
  seconds REAL CHECK (seconds >= 0), -- null while it runs, and when it failed
  bytes INTEGER, -- as stored
  failure TEXT
) STRICT;

CREATE TABLE impressions (
  region TEXT NOT NULL REFERENCES regions (code),
  video_id TEXT NOT NULL REFERENCES videos (id) ON DELETE CASCADE,
  rank_group INTEGER NOT NULL CHECK (rank_group >= 1), -- the first rank of the group of ranks
  age_group INTEGER NOT NULL CHECK (age_group >= 0), -- 0 up to half an hour, then one for each doubling
  impressions REAL NOT NULL CHECK (impressions >= 0),
  clicks REAL NOT NULL CHECK (clicks >= 0),
  age_hours REAL NOT NULL CHECK (age_hours >= 0), -- the mean age at the impressions
  counted_at INTEGER NOT NULL, recent_impressions REAL NOT NULL DEFAULT 0 CHECK (recent_impressions >= 0), recent_clicks REAL NOT NULL DEFAULT 0 CHECK (recent_clicks >= 0), -- the end of the newest minute in the sums
  PRIMARY KEY (region, video_id, rank_group, age_group)
) STRICT, WITHOUT ROWID;

CREATE INDEX impressions_by_video ON impressions (video_id);

CREATE TABLE rank_traffic (
  region TEXT NOT NULL REFERENCES regions (code),
  rank_group INTEGER NOT NULL CHECK (rank_group >= 1),
  impressions REAL NOT NULL CHECK (impressions >= 0),
  counted_since INTEGER NOT NULL,
  counted_at INTEGER NOT NULL,
  PRIMARY KEY (region, rank_group)
) STRICT, WITHOUT ROWID;

CREATE TABLE served_hours (
  region TEXT NOT NULL REFERENCES regions (code),
  hour INTEGER NOT NULL CHECK (hour BETWEEN 0 AND 23),
  lists REAL NOT NULL CHECK (lists >= 0),
  minutes REAL NOT NULL CHECK (minutes >= 0),
  counted_at INTEGER NOT NULL,
  PRIMARY KEY (region, hour)
) STRICT, WITHOUT ROWID;

CREATE TABLE list_impressions (
  region TEXT NOT NULL REFERENCES regions (code),
  window TEXT NOT NULL,
  category TEXT NOT NULL, -- the list's name
  rank_group INTEGER NOT NULL CHECK (rank_group >= 1),
  impressions REAL NOT NULL CHECK (impressions >= 0),
  counted_at INTEGER NOT NULL,
  PRIMARY KEY (region, window, category, rank_group)
) STRICT, WITHOUT ROWID;

CREATE TABLE sources (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE CHECK (length(name) >= 1), -- its entry in SOURCES; of an address the host and a hash
  heard_at INTEGER NOT NULL, -- when the newest run began that had a line of it
  reading INTEGER NOT NULL CHECK (reading >= 1) -- how many files or answers of it were read
) STRICT;

CREATE TABLE catalogue (
  region TEXT NOT NULL REFERENCES regions (code),
  video_id TEXT NOT NULL REFERENCES videos (id) ON DELETE CASCADE,
  source INTEGER NOT NULL DEFAULT 0,
  announced_at INTEGER NOT NULL, -- when a line of the source named it last
  reading INTEGER NOT NULL DEFAULT 0, first_announced_at INTEGER NOT NULL DEFAULT 0, -- and in which of its files or answers
  PRIMARY KEY (region, video_id, source)
) STRICT, WITHOUT ROWID;

CREATE INDEX catalogue_by_video ON catalogue (video_id);

CREATE TABLE removal_claims (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  source INTEGER NOT NULL,
  PRIMARY KEY (kind, name, source),
  FOREIGN KEY (kind, name) REFERENCES removals (kind, name) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE restrictions (
  video_id TEXT NOT NULL REFERENCES videos (id) ON DELETE CASCADE,
  source INTEGER NOT NULL,
  -- The time of the newest line that said something of it: an older one changes nothing.
  said_at INTEGER NOT NULL,
  fields TEXT NOT NULL CHECK (json_valid(fields)),
  PRIMARY KEY (video_id, source)
) STRICT, WITHOUT ROWID;

CREATE INDEX videos_by_end ON videos (available_until) WHERE available_until IS NOT NULL;

CREATE INDEX videos_by_reason ON videos (held_because) WHERE held_because IS NOT NULL;

CREATE VIEW source_pauses (source, retry_at, reason) AS
SELECT source, retry_at, failure FROM source_schedules WHERE failure IS NOT NULL
UNION ALL
SELECT 'http:' || host, max(retry_at), coalesce(failure, 'The server asks for a pause.') FROM http_sources
WHERE host IS NOT NULL AND retry_at > asked_at GROUP BY host;

CREATE TABLE erased (
  name_hash BLOB NOT NULL PRIMARY KEY CHECK (length(name_hash) = 32),
  erased_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE erasure_key (key BLOB NOT NULL CHECK (length(key) = 32)) STRICT;

CREATE TABLE editorial (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  text TEXT, -- JSON; null before the first
  read_at INTEGER,
  failed_at INTEGER,
  failure TEXT
) STRICT;

CREATE INDEX trending_by_end ON trending (placed_until) WHERE placed_until IS NOT NULL;

CREATE TABLE placed_ranks (
  region TEXT NOT NULL REFERENCES regions (code),
  window TEXT NOT NULL,
  category TEXT NOT NULL, -- the list's name
  rank INTEGER NOT NULL,
  video_id TEXT NOT NULL,
  first_at INTEGER NOT NULL, -- of the first and the last generation with it
  last_at INTEGER NOT NULL,
  model_rate REAL, -- clicks per impression of the video that would be there; null where that is not known
  impressions REAL NOT NULL DEFAULT 0,
  clicks REAL NOT NULL DEFAULT 0,
  model_clicks REAL NOT NULL DEFAULT 0, -- at the same impressions
  PRIMARY KEY (region, window, category, rank, video_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX videos_by_live_end ON videos (live_until) WHERE live_until IS NOT NULL;

CREATE INDEX videos_for_kids ON videos (id) WHERE made_for_kids = 1;

CREATE TABLE details (
  video_id TEXT NOT NULL PRIMARY KEY REFERENCES videos (id) ON DELETE CASCADE,
  tags TEXT CHECK (json_valid(tags)), -- JSON: a list
  licence TEXT CHECK (length(licence) BETWEEN 1 AND 100), -- an SPDX id or a name
  titles TEXT CHECK (json_valid(titles)) -- JSON: by BCP 47 language
, pictures TEXT CHECK (json_valid(pictures))) STRICT, WITHOUT ROWID;

CREATE INDEX details_with_titles ON details (video_id) WHERE titles IS NOT NULL;

CREATE TABLE lifted (
  video_id TEXT NOT NULL,
  field TEXT NOT NULL,
  until INTEGER, -- the video is not shown from then on; null for ever
  PRIMARY KEY (video_id, field)
) STRICT, WITHOUT ROWID;
