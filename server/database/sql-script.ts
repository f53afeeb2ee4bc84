/** A file that cannot be restored; `message` is shown to the user. */
export class SqlScriptError extends Error {
  constructor(line: number, message: string) {
    super(`Line ${line}: ${message}`)
    this.name = 'SqlScriptError'
  }
}

/** The content of a SQL file, in order. A `copy` is followed by its `data`, in whole lines, and one `copied`. */
export type SqlScriptStep =
  | { kind: 'statement'; sql: string; line: number }
  | { kind: 'copy'; sql: string; line: number }
  | { kind: 'data'; bytes: Buffer }
  | { kind: 'copied' }

const maxStatement_bytes = 256 * 2 ** 20

const newline = 0x0a
const isSpace = (byte: number) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)
/** PostgreSQL treats bytes above 127 as letters, and in UTF-8 such bytes only occur inside letters. */
const isWord = (byte: number) =>
  (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a) || byte === 0x5f || byte >= 0x80 || (byte >= 0x30 && byte <= 0x39) || byte === 0x24

type LexerMode = 'plain' | 'string' | 'escaped' | 'name' | 'dollar' | 'line_comment' | 'comment'

/**
 * Splits a SQL file, as written by pg_dump and read by psql, into statements, by PostgreSQL's rules for strings, names, dollar quotes, comments,
 * parentheses and function bodies. Commands of psql (`\connect`, `\!`) are rejected.
 */
export async function* parseSqlScript(source: AsyncIterable<Uint8Array>): AsyncGenerator<SqlScriptStep> {
  const lexer = createStatementLexer()
  let rest: Buffer = Buffer.alloc(0)
  let isCopying = false
  for await (const chunk of source) {
    rest = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk])
    for (;;) {
      if (isCopying) {
        const { data, left, isDone } = takeCopyRows(rest, lexer.countLines)
        if (data.length > 0) yield { kind: 'data', bytes: data }
        rest = left
        if (!isDone) break
        yield { kind: 'copied' }
        isCopying = false
      }
      const { step, used } = lexer.next(rest)
      rest = rest.subarray(used)
      if (!step) break
      yield step
      isCopying = step.kind === 'copy'
    }
  }
  if (isCopying) throw new SqlScriptError(lexer.line(), 'The file is truncated: it ends inside the rows of a table.')
  const last = lexer.next(Buffer.concat([rest, Buffer.from('\n')]))
  if (last.step) yield last.step
  const end = lexer.end()
  if (end) yield end
}

/** Rows up to the line `\.`. An incomplete line is left for the next call. */
function takeCopyRows(bytes: Buffer, count: (bytes: Buffer) => void): { data: Buffer; left: Buffer; isDone: boolean } {
  for (let from = 0; ;) {
    const end = bytes.indexOf(newline, from)
    if (end < 0) {
      const data = bytes.subarray(0, from)
      count(data)
      return { data, left: bytes.subarray(from), isDone: false }
    }
    const length = end - from - (bytes[end - 1] === 0x0d ? 1 : 0)
    if (length === 2 && bytes[from] === 0x5c && bytes[from + 1] === 0x2e) {
      const data = bytes.subarray(0, from)
      count(bytes.subarray(0, end + 1))
      return { data, left: bytes.subarray(end + 1), isDone: true }
    }
    from = end + 1
  }
}

function createStatementLexer() {
  let mode: LexerMode = 'plain'
  let parts: Buffer[] = []
  let size = 0
  let line = 1
  let statementLine = 1
  let depth = 0
  let commentDepth = 0
  let tag = ''
  let word = ''
  /** The first words show whether a SQL body with its own semicolons may follow. */
  let leadingWords: string[] = []
  let bodyDepth = 0
  let isInStatement = false
  let copy: SqlScriptStep | undefined

  const reset = () => {
    parts = []
    size = depth = bodyDepth = 0
    leadingWords = []
    isInStatement = false
  }
  const endWord = () => {
    if (word === '') return
    const upper = word.toUpperCase()
    word = ''
    if (leadingWords.length < 4) leadingWords.push(upper)
    if (!/^CREATE( OR REPLACE)? (FUNCTION|PROCEDURE)/.test(leadingWords.join(' ')) || depth > 0) return
    if (upper === 'BEGIN' || (upper === 'CASE' && bodyDepth > 0)) bodyDepth++
    else if (upper === 'END' && bodyDepth > 0) bodyDepth--
  }
  const endStatement = (): SqlScriptStep | undefined => {
    const sql = Buffer.concat(parts).toString('utf8').trim()
    const at = statementLine
    reset()
    if (sql === '') return undefined
    return { kind: /^COPY\s[\s\S]*\sFROM\s+STDIN\b/i.test(sql) ? 'copy' : 'statement', sql, line: at }
  }
  const append = (bytes: Buffer) => {
    if (!isInStatement || bytes.length === 0) return
    parts.push(Buffer.from(bytes))
    size += bytes.length
    if (size > maxStatement_bytes) throw new SqlScriptError(statementLine, 'This statement is longer than 256 MiB.')
  }

  return {
    line: () => line,
    countLines(bytes: Buffer) {
      for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) line++
    },

    /** The next complete statement and the number of consumed bytes; the caller must pass the other bytes again, with more data. */
    next(bytes: Buffer): { step: SqlScriptStep | undefined; used: number } {
      let start = 0
      let i = 0
      const needsMore = (needed: number) => i + needed >= bytes.length
      for (; i < bytes.length; i++) {
        const byte = bytes[i]!
        if (byte === newline) line++
        if (mode === 'string' || mode === 'name') {
          if (byte === (mode === 'name' ? 0x22 : 0x27)) mode = 'plain'
          continue
        }
        if (mode === 'escaped') {
          if (byte === 0x5c) {
            if (needsMore(1)) break
            if (bytes[++i] === newline) line++
          } else if (byte === 0x27) mode = 'plain'
          continue
        }
        if (mode === 'line_comment') {
          if (byte === newline) {
            mode = 'plain'
            if (!isInStatement) start = i + 1
          }
          continue
        }
        if (mode === 'comment') {
          if (byte !== 0x2a && byte !== 0x2f) continue
          if (needsMore(1)) break
          if (byte === 0x2a && bytes[i + 1] === 0x2f) {
            i++
            if (--commentDepth === 0) {
              mode = 'plain'
              if (!isInStatement) start = i + 1
            }
          } else if (byte === 0x2f && bytes[i + 1] === 0x2a) {
            i++
            commentDepth++
          }
          continue
        }
        if (mode === 'dollar') {
          if (byte !== 0x24) continue
          if (needsMore(tag.length - 1)) break
          if (bytes.toString('latin1', i, i + tag.length) !== tag) continue
          i += tag.length - 1
          mode = 'plain'
          continue
        }

        if (copy) {
          // The rows begin on the next line.
          if (byte !== newline) continue
          const step = copy
          copy = undefined
          return { step, used: i + 1 }
        }
        if (byte === 0x2d || byte === 0x2f) {
          if (needsMore(1)) break
          const second = bytes[i + 1]
          if (byte === 0x2d && second === 0x2d) mode = 'line_comment'
          else if (byte === 0x2f && second === 0x2a) {
            mode = 'comment'
            commentDepth = 1
          }
          if (mode !== 'plain') {
            endWord()
            i++
            continue
          }
        }
        if (!isInStatement) {
          if (isSpace(byte) || byte === 0x3b) {
            start = i + 1
            continue
          }
          if (byte === 0x5c) {
            const end = bytes.indexOf(newline, i)
            if (end < 0) break
            rejectPsqlCommand(bytes.toString('utf8', i, end).trim(), line)
            line++
            i = end
            start = i + 1
            continue
          }
          isInStatement = true
          statementLine = line
          start = i
        }
        if (byte === 0x24 && word === '') {
          const end = findTagEnd(bytes, i)
          if (end === undefined) break
          if (end > 0) {
            tag = bytes.toString('latin1', i, end)
            mode = 'dollar'
            i = end - 1
            continue
          }
        }
        if (isWord(byte)) {
          word += String.fromCharCode(byte)
          continue
        }
        if (byte === 0x27) mode = /^e$/i.test(word) ? 'escaped' : 'string'
        else if (byte === 0x22) mode = 'name'
        endWord()
        if (byte === 0x28) depth++
        else if (byte === 0x29) depth = Math.max(0, depth - 1)
        else if (byte === 0x3b && depth === 0 && bodyDepth === 0) {
          append(bytes.subarray(start, i))
          const step = endStatement()
          if (step?.kind !== 'copy') return { step, used: i + 1 }
          copy = step
        }
      }
      // Processed bytes are kept; undecided bytes must be passed again.
      const used = Math.min(i, bytes.length)
      append(bytes.subarray(Math.min(start, used), used))
      return { step: undefined, used }
    },

    /** The statement after the last semicolon. */
    end(): SqlScriptStep | undefined {
      if (mode !== 'plain' && mode !== 'line_comment')
        throw new SqlScriptError(
          statementLine,
          'This statement is incomplete: a quote or comment is not closed. Check that the file is not truncated.',
        )
      return endStatement()
    },
  }
}

/** The end of a dollar quote's tag; 0: not a dollar quote; undefined: the tag continues after these bytes. */
function findTagEnd(bytes: Buffer, from: number): number | undefined {
  for (let i = from + 1; i < bytes.length; i++) {
    const byte = bytes[i]!
    if (byte === 0x24) return i + 1
    const isDigit = byte >= 0x30 && byte <= 0x39
    if (!isWord(byte) || (i === from + 1 && isDigit)) return 0
  }
  return undefined
}

function rejectPsqlCommand(command: string, line: number): void {
  // Newer versions of pg_dump write these commands around their output.
  if (/^\\(un)?restrict\b/.test(command)) return
  const name = command.split(/\s/)[0] ?? ''
  const hint = /^\\c(onnect)?$/.test(name) ? ' Create the dump without --create, because it is restored into this project’s database.' : ''
  throw new SqlScriptError(line, `${name} is a psql command, not SQL.${hint}`)
}
