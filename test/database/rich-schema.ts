/** A schema with one object of every kind that our roles may create, in an order that makes a dump difficult. */
export const richSchema = (rows: number) => `
CREATE EXTENSION pgcrypto;
CREATE EXTENSION citext;
CREATE SCHEMA "Quoted ""Schema""; --";
CREATE TYPE mood AS ENUM ('sad', 'it''s; ok', 'froh');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TYPE span AS RANGE (subtype = float8);
CREATE SEQUENCE odd START 11 INCREMENT 5 CACHE 3;
SELECT nextval('odd'), nextval('odd');
CREATE COLLATION german (provider = icu, locale = 'de');

CREATE TABLE people (
  id bigint GENERATED ALWAYS AS IDENTITY (START 100) PRIMARY KEY,
  name text NOT NULL DEFAULT 'Ünbekannt; ''x''',
  mail citext UNIQUE,
  feels mood[] DEFAULT '{sad,froh}',
  twice numeric GENERATED ALWAYS AS (weight * 2) STORED,
  weight numeric(10,3) CHECK (weight >= 0),
  raw bytea,
  doc jsonb,
  xs int[][],
  born timestamptz,
  took interval,
  far double precision,
  near span,
  p pair,
  n positive,
  title text COLLATE german
);
ALTER TABLE people ADD COLUMN gone int;
ALTER TABLE people DROP COLUMN gone;
INSERT INTO people (name, mail, feels, weight, raw, doc, xs, born, took, far, near, p, n, title) VALUES
  (E'tab\\there\\nnewline \\\\. backslash', 'A@b.c', '{froh}', 1.5, '\\x00ff0a5c2e', '{"a": [1, null, "ü\\"\\\\"]}', '{{1,2},{3,4}}', '1999-12-31 23:59:59.123456+05:30', '1 mon 2 days 03:04:05.6', 0.1 + 0.2::float8, '[1.5,2)', '(1,"a,b")', 3, 'ä'),
  ('🦄 日本語 \\N', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'NaN', 'empty', NULL, NULL, NULL),
  ('\\.', 'x@y.z', '{}', 0, '', 'null', '{}', 'infinity', '-1 day', '-Infinity', NULL, '(,)', 1, ''),
  ('', NULL, '{NULL}', 99999.999, NULL, '[]', NULL, NULL, NULL, 1e-300, NULL, NULL, 2147483647, E'\\r\\n');
CREATE TABLE "Quoted ""Schema""; --"."Tab'le; $x$" ("Col ""umn"";" int PRIMARY KEY, "select" text, person bigint REFERENCES people ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED);
INSERT INTO "Quoted ""Schema""; --"."Tab'le; $x$" SELECT 1, 'one', min(id) FROM people;
CREATE TABLE chicken (id int PRIMARY KEY, egg int);
CREATE TABLE egg (id int PRIMARY KEY, chicken int REFERENCES chicken);
INSERT INTO chicken VALUES (1, 1); INSERT INTO egg VALUES (1, 1);
ALTER TABLE chicken ADD FOREIGN KEY (egg) REFERENCES egg;
CREATE TABLE empty ();
CREATE TABLE nothing_in_it (a int);
CREATE TABLE by_year (y int, t text) PARTITION BY RANGE (y);
CREATE TABLE by_year_1 PARTITION OF by_year FOR VALUES FROM (1) TO (10);
CREATE TABLE by_year_rest PARTITION OF by_year DEFAULT;
INSERT INTO by_year VALUES (1, 'one'), (99, 'rest');
CREATE TABLE parent (a int); CREATE TABLE child (b int) INHERITS (parent);
INSERT INTO parent VALUES (1); INSERT INTO child VALUES (2, 3);
CREATE UNLOGGED TABLE quick (a int); INSERT INTO quick VALUES (1);
CREATE TABLE serials (id serial PRIMARY KEY, v int DEFAULT nextval('odd')); INSERT INTO serials DEFAULT VALUES;
CREATE TABLE many AS SELECT g AS id, md5(g::text) AS hash, CASE WHEN g % 7 = 0 THEN NULL ELSE g * 1.5 END AS f FROM generate_series(1, ${rows}) g;
ALTER TABLE many ADD PRIMARY KEY (id);
CREATE INDEX ON many (hash text_pattern_ops) WHERE f IS NOT NULL;
CREATE UNIQUE INDEX ON people (lower(name)) INCLUDE (weight);
CREATE INDEX ON people USING gin (doc jsonb_path_ops);
CREATE STATISTICS stats ON hash, f FROM many;

CREATE VIEW heavy AS SELECT name, weight FROM people WHERE weight > 1 WITH CASCADED CHECK OPTION;
CREATE MATERIALIZED VIEW counted AS SELECT count(*) AS n, max(id) FROM many;
CREATE UNIQUE INDEX ON counted (n);
CREATE FUNCTION body(a int, b text DEFAULT ';') RETURNS text LANGUAGE plpgsql IMMUTABLE AS $body$
BEGIN
  -- it's; a $$ comment
  IF a > 0 THEN RETURN $q$x;y$q$ || b; END IF;
  RETURN E'\\'; \\\\';
END $body$;
CREATE FUNCTION standard(a int) RETURNS int LANGUAGE sql IMMUTABLE BEGIN ATOMIC SELECT 1; SELECT CASE WHEN a > 0 THEN a ELSE 0 END; END;
CREATE FUNCTION people_of(m mood) RETURNS SETOF people LANGUAGE sql STABLE AS 'SELECT * FROM people WHERE m = ANY (feels)';
CREATE PROCEDURE tidy() LANGUAGE sql AS $$ DELETE FROM nothing_in_it; $$;
CREATE AGGREGATE glue(text) (sfunc = textcat, stype = text, initcond = '');
CREATE OPERATOR === (leftarg = int, rightarg = int, function = int4eq);
CREATE CAST (pair AS text) WITH INOUT;
CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.name := NEW.name || '!'; RETURN NEW; END $$;
CREATE TRIGGER stamped BEFORE INSERT ON people FOR EACH ROW EXECUTE FUNCTION stamp();
CREATE RULE no_delete AS ON DELETE TO nothing_in_it DO INSTEAD (SELECT 1; SELECT 2);
ALTER TABLE people ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON people USING (name <> 'hidden');
COMMENT ON TABLE people IS E'It''s; a\\n\\\\restrict comment -- /* with */ all';
COMMENT ON COLUMN people.name IS 'ü';
COMMENT ON FUNCTION body(int, text) IS '$body$';
CREATE TEXT SEARCH CONFIGURATION mine (COPY = english);
SELECT lo_from_bytea(0, decode(repeat('deadbeef', 200000), 'hex'));
SELECT lo_create(0);
`

/**
 * What two databases must have in common: each row of each table, the sequences, the large objects, and the results of functions. PostgreSQL 18 lists
 * NOT NULL as a constraint, which earlier versions do not.
 */
export const fingerprint = `
SELECT kind COLLATE "C", value COLLATE "C" FROM (
SELECT 'rows ' || n.nspname || '.' || c.relname, (xpath('/row/h/text()', query_to_xml(format(
  'SELECT count(*) || '' '' || coalesce(md5(string_agg(md5(t::text), '''' ORDER BY t::text COLLATE "C")), '''') AS h FROM ONLY %I.%I t', n.nspname, c.relname), false, true, '')))[1]::text
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'm') AND n.nspname !~ '^(pg_|information_schema)'
UNION ALL SELECT 'sequence ' || sequencename, start_value || ' ' || increment_by || ' ' || coalesce(last_value::text, 'new') FROM pg_sequences
UNION ALL SELECT 'object', md5(lo_get(oid)) FROM pg_largeobject_metadata
UNION ALL SELECT 'function', body(1) || body(-1) || standard(5)
UNION ALL SELECT 'index ' || indexname, indexdef FROM pg_indexes WHERE schemaname !~ '^pg_'
UNION ALL SELECT 'constraint ' || conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype <> 'n' AND connamespace::regnamespace::text !~ '^(pg_|information_schema)'
UNION ALL SELECT 'trigger ' || tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
UNION ALL SELECT 'comment', description FROM pg_description d JOIN pg_class c ON c.oid = d.objoid WHERE c.relname = 'people'
) AS all_of_it (kind, value) ORDER BY 1, 2`
