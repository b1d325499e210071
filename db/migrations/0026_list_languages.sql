-- There are lists of languages, too. What `category` holds in trending, explored_ranks, rank_snapshots and the tables of
-- what is pulled is the name of a list: '' for all videos, a category, or '#language:' with a primary subtag (BCP 47),
-- such as '#language:de'. No video's category begins like that.
UPDATE videos SET category = NULL WHERE category GLOB '#language:*';
