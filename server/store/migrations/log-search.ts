/** Chunks get a key that never changes, and an index of the words of their lines. */
export const logSearchSql = `
CREATE TABLE new_chunks (
  id INTEGER PRIMARY KEY,
  stream TEXT NOT NULL,
  first INTEGER NOT NULL,
  records INTEGER NOT NULL,
  lines INTEGER NOT NULL,
  last_line INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
INSERT INTO new_chunks (stream, first, records, lines, last_line, bytes, body)
  SELECT stream, first, records, lines, last_line, bytes, body FROM chunks ORDER BY rowid;
DROP TABLE chunks;
ALTER TABLE new_chunks RENAME TO chunks;
CREATE UNIQUE INDEX chunks_place ON chunks (stream, first);
CREATE VIRTUAL TABLE chunk_words USING fts5 (text, content = '', contentless_delete = 1, detail = none, tokenize = "unicode61 remove_diacritics 2 tokenchars '_'");
CREATE TRIGGER chunks_delete AFTER DELETE ON chunks BEGIN
  DELETE FROM chunk_words WHERE rowid = old.id;
END;
`
