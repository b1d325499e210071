-- Several writers share the regions, each with REGIONS: their generations can lie in one file side by side, and which one
-- is the newest, or the oldest, is a question about a region.
CREATE INDEX generation_regions_by_region ON generation_regions (region, generation);

ALTER TABLE runs ADD COLUMN other_regions INTEGER NOT NULL DEFAULT 0 CHECK (other_regions >= 0); -- lines about regions of other writers
