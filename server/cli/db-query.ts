import type { DatabaseCell, QueryError, QueryRecord } from '../contract/database-browser.ts'
import { limits } from '../contract/limits.ts'
import { type CommandContext, exitCodes, requirePositionals, stringFlag, UsageError } from './command.ts'
import { formatBytes, formatTable } from './terminal.ts'

/** Runs one SQL statement and prints its rows. Read-only without `--write`. */
export async function queryDatabase(context: CommandContext): Promise<number> {
  const [, slug = '', sql = ''] = requirePositionals(context, 'query', 'SLUG', 'SQL')
  const { terminal } = context
  const records = await run(context, slug, sql)
  const columns: string[] = []
  const rows: DatabaseCell[][] = []
  let end: Extract<QueryRecord, { type: 'done' | 'error' }> | undefined
  for await (const record of records) {
    if (record.type === 'columns') columns.push(...record.columns.map(({ name }) => name))
    else if (record.type === 'rows') rows.push(...record.rows)
    else if (record.type === 'snapshot') terminal.err(`Created the dump ${record.dump.id} (${formatBytes(record.dump.bytes)}).`)
    else end = record
  }
  if (!end) throw new Error('The connection was lost before the statement ended.')
  for (const notice of end.notices) terminal.err(`Notice: ${notice}`)
  if (end.type === 'error') {
    if (context.is_json) terminal.out(JSON.stringify({ error: end.error }))
    else terminal.err(formatQueryError(end.error))
    return exitCodes.failure
  }
  if (context.is_json)
    terminal.out(JSON.stringify({ columns, rows, row_count: end.row_count, truncated: end.truncated, duration_ms: end.duration_ms }))
  else if (context.flags.csv === true) for (const row of columns.length > 0 ? [columns, ...rows] : []) terminal.out(row.map(formatCsv).join(','))
  else {
    if (columns.length > 0)
      for (const line of formatTable(
        terminal,
        columns,
        rows.map((row) => row.map(formatCell)),
      ))
        terminal.out(line)
    const what =
      columns.length > 0
        ? `${rows.length} ${rows.length === 1 ? 'row' : 'rows'}`
        : `${end.command}${end.row_count === null ? '' : ` ${end.row_count}`}`
    terminal.err(`${what}, ${end.duration_ms} ms`)
  }
  if (end.truncated !== null) terminal.err(end.truncated === 'rows' ? 'There are more rows: use --rows.' : 'The result is too large and was cut.')
  return exitCodes.success
}

async function run(context: CommandContext, slug: string, sql: string): Promise<AsyncIterable<QueryRecord>> {
  const { max, default: standard } = limits.database_query.rows
  const max_rows = Number(stringFlag(context.flags, 'rows') ?? standard)
  if (!Number.isInteger(max_rows) || max_rows < 1 || max_rows > max) throw new UsageError(`--rows takes a number from 1 to ${max}.`)
  const input = {
    params: { slug },
    query: { branch: stringFlag(context.flags, 'branch') },
    body: { sql, read_only: context.flags.write !== true, max_rows, timeout_ms: limits.database_query.timeout_ms.max },
  }
  return parseRecords(await context.connect().download('queryDatabase', input, context.signal))
}

async function* parseRecords(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<QueryRecord> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line) as QueryRecord
  }
}

function formatQueryError({ code, message, detail, hint, line, column }: QueryError): string {
  const where = line === null ? '' : ` (line ${line}, column ${column})`
  return [`${message}${where} [${code}]`, detail, hint && `Hint: ${hint}`].filter(Boolean).join('\n')
}

const maxCell_characters = 60

function formatCell(cell: DatabaseCell): string {
  const text = cell === null ? 'NULL' : typeof cell === 'object' ? cell.text : String(cell)
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > maxCell_characters ? `${line.slice(0, maxCell_characters)}…` : line
}

function formatCsv(cell: DatabaseCell): string {
  const text = cell === null ? '' : typeof cell === 'object' ? cell.text : String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
