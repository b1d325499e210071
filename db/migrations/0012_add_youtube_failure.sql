-- Why YouTube is not asked before retry_at, for `writer status`; NULL when the newest run had its answers.
ALTER TABLE youtube_schedule ADD COLUMN failure TEXT;
