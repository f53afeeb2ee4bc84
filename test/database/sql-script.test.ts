import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseSqlScript, type SqlScriptStep } from '../../server/database/sql-script.ts'
import { forEachSeed } from '../support/seeds.ts'
import { richSchema } from './rich-schema.ts'

async function* inPieces(text: string, sizes: number[]): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1
    yield bytes.subarray(at, at + size)
    at += size
  }
}

/** Statements as texts; the rows of a COPY are joined to one. */
async function read(text: string, sizes = [1 << 20]): Promise<string[]> {
  const steps: SqlScriptStep[] = []
  for await (const step of parseSqlScript(inPieces(text, sizes))) steps.push(step)
  const out: string[] = []
  let rows = ''
  for (const step of steps) {
    if (step.kind === 'data') rows += step.bytes.toString()
    else if (step.kind === 'copied') {
      out.push(`rows ${JSON.stringify(rows)}`)
      rows = ''
    } else out.push(step.sql)
  }
  return out
}

describe('splits SQL as PostgreSQL does', () => {
  test.each<[string, string, string[]]>([
    ['semicolons', 'SELECT 1; SELECT 2;', ['SELECT 1', 'SELECT 2']],
    ['only semicolons', ' ;;\n; ', []],
    ['no semicolon at the end', 'SELECT 1', ['SELECT 1']],
    [
      'texts',
      "SELECT ';', 'it''s;', E'\\';', e'\\\\'; SELECT 'a\\'; SELECT 3",
      ["SELECT ';', 'it''s;', E'\\';', e'\\\\'", "SELECT 'a\\'", 'SELECT 3'],
    ],
    ['a name that ends in e does not start an escape string', "SELECT nice'\\'; SELECT 2", ["SELECT nice'\\'", 'SELECT 2']],
    ['names', 'SELECT ";""--" FROM "a;b"; SELECT 2', ['SELECT ";""--" FROM "a;b"', 'SELECT 2']],
    ['dollar quotes', 'SELECT $$;$$, $a$ $b$;$$ $a$; SELECT $1; SELECT a$b$;', ['SELECT $$;$$, $a$ $b$;$$ $a$', 'SELECT $1', 'SELECT a$b$']],
    ['dollar tags with non-ASCII letters', 'SELECT $ü$;$ü$; SELECT 2', ['SELECT $ü$;$ü$', 'SELECT 2']],
    ['comments', '-- a; b\nSELECT 1 -- c;\n, 2; /* d; /* e; */ f; */ SELECT 3 /* ; */;', ['SELECT 1 -- c;\n, 2', 'SELECT 3 /* ; */']],
    ['operators that resemble comments', 'SELECT 5-3, 6/2, 2*3; SELECT 4', ['SELECT 5-3, 6/2, 2*3', 'SELECT 4']],
    [
      'rules',
      'CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2); SELECT 3',
      ['CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2)', 'SELECT 3'],
    ],
    [
      'standard SQL function bodies',
      'CREATE OR REPLACE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE WHEN true THEN 2 END; END; BEGIN; SELECT 3; END;',
      ['CREATE OR REPLACE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE WHEN true THEN 2 END; END', 'BEGIN', 'SELECT 3', 'END'],
    ],
    ['rows', 'COPY t (a) FROM stdin;\n1;\'"$$\n\\\\.\n\\.\nSELECT 1;', ['COPY t (a) FROM stdin', 'rows "1;\'\\"$$\\n\\\\\\\\.\\n"', 'SELECT 1']],
    [
      'no rows, and Windows line endings',
      'COPY t FROM STDIN;\r\n\\.\r\nCOPY u FROM stdin;\r\na\r\n\\.\r\n',
      ['COPY t FROM STDIN', 'rows ""', 'COPY u FROM stdin', 'rows "a\\r\\n"'],
    ],
    ['COPY TO has no rows', 'COPY t TO stdout; SELECT 1', ['COPY t TO stdout', 'SELECT 1']],
    ['the \\restrict lines of newer pg_dump versions', '\\restrict abc\nSELECT 1;\n\\unrestrict abc\n', ['SELECT 1']],
  ])('%s', async (_what, text, expected) => {
    expect(await read(text)).toEqual(expected)
    expect(await read(text, [1])).toEqual(expected)
  })

  test('however the input is split', async () => {
    const text = `${richSchema(1)}\nCOPY t FROM stdin;\na\tb\n\\\\.\n\\N\n\\.\nSELECT 1;\n`
    const whole = await read(text)
    expect(whole.length).toBeGreaterThan(50)
    const property = fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 }), async (sizes) => {
      expect(await read(text, sizes)).toEqual(whole)
    })
    await forEachSeed(new URL('corpus/script.json', import.meta.url), (seed) => fc.assert(property, { seed, numRuns: 30 }))
  })

  test('statements have line numbers', async () => {
    const lines: number[] = []
    for await (const step of parseSqlScript(inPieces('\n-- x\nSELECT\n1;\nCOPY t FROM stdin;\na\nb\n\\.\n\nSELECT 2;', [3])))
      if ('line' in step) lines.push(step.line)
    expect(lines).toEqual([3, 5, 10])
  })

  test.each([
    ["SELECT 'a", /Line 1: .*not closed/],
    ['SELECT 1;\n/* a', /not closed/],
    ['COPY t FROM stdin;\n1\n', /inside the rows/],
    ['SELECT 1;\n\\copy t from x\n', /Line 2: \\copy is a psql command, not SQL\.$/],
    ['\\c other\n', /--create/],
  ])('refuses %j', async (text, message) => {
    await expect(read(text)).rejects.toThrow(message)
    await expect(read(text, [1])).rejects.toThrow(message)
  })
})
