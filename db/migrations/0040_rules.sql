-- Origins of schema version 27 and later can read what this makes.
-- JSON: by video id, what editors decided of its score (writer/src/Editorial/Rules.php); null where that is nothing.
ALTER TABLE explanations ADD COLUMN rules TEXT CHECK (json_valid(rules));
