import type { QueryRecord } from '../contract/database-browser.ts'
import { readLines } from './log-tail.ts'
import { objectSchema, type Tool } from './tool.ts'

const rows = { default: 100, max: 1000 } as const

export const queryTool: Tool = {
  name: 'query_database',
  operation: 'queryDatabase',
  is_read_only: true,
  description:
    'Run one SQL statement in a read-only transaction of the PostgreSQL database of a project, as the role of the project. Call describe_database for its tables. Large values are cut.',
  input: objectSchema(
    {
      slug: { type: 'string', description: 'The slug of the project.' },
      sql: { type: 'string' },
      max_rows: { type: 'integer', minimum: 1, maximum: rows.max, default: rows.default },
      branch: { type: 'string', description: 'The database of this preview instead of the project’s own.' },
    },
    ['slug', 'sql'],
  ),
  async run(client, { slug, sql, max_rows = rows.default, branch }, signal) {
    const limit = Math.min(rows.max, Math.max(1, Math.trunc(Number(max_rows)) || rows.default))
    const input = {
      params: { slug: String(slug) },
      query: branch === undefined ? {} : { branch: String(branch) },
      body: { sql: String(sql), read_only: true, max_rows: limit },
      signal,
    }
    const result: { columns: string[]; rows: unknown[]; end: QueryRecord | null } = { columns: [], rows: [], end: null }
    for await (const line of readLines(await client.download('queryDatabase', input, signal))) {
      const record = JSON.parse(line) as QueryRecord
      if (record.type === 'columns') result.columns = record.columns.map(({ name, type }) => `${name} ${type}`)
      else if (record.type === 'rows') result.rows.push(...record.rows)
      else result.end = record
    }
    return result
  },
}
