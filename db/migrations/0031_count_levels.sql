-- Origins of schema version 27 and later can read what this makes.
-- What is open about a video's counts while they contradict each other.
ALTER TABLE velocity ADD COLUMN levels TEXT CHECK (json_valid(levels)) /* JSON, see writer/src/Ranking/Forecast.php; null while counts agree */;
