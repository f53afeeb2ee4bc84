import { limits } from '../contract/limits.ts'
import type { DomainEvent } from '../contract/domain-events.ts'
import type { EventBus } from '../lib/event-bus.ts'
import { type Clock, isoTime, type Timer } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { isSqliteBusy, isDiskFull } from '../store/sqlite.ts'
import type { LogStore } from '../store/log-store.ts'
import { type SecretMask, noMask, stripWhitespace } from './secret-mask.ts'

const batch_bytes = 64 * 1024
const batch_ms = 5
const maxOrigins = 64

/**
 * Numbers, masks and batches the records of one log. A record is one line of JSON. A log line has `seq`, which counts only lines; the record's own
 * number counts all records, and streams resume from it.
 */
export interface LogWriter {
  /** `fields` is JSON without braces, such as `"step":"build","stream":"stdout"`. */
  writeLine(fields: string, writeLine: string, mask?: SecretMask): void
  writeRecord(value: object): void
  /** Masks these secrets from now on. */
  setMask(mask: SecretMask): void
  /** Stores buffered lines; false when the file is locked and the lines will be stored soon. */
  flush(): boolean
  /** Whether lines were lost because the disk was full. */
  hasLostLines(): boolean
}

export interface LogWriterOptions {
  logs: LogStore
  events: EventBus<DomainEvent>
  clock: Clock
  log: Log
  stream: string
  /** Sizes of the beginning and the end of the log that are always kept. */
  keep_head_bytes: number
  keep_tail_bytes: number
}

export function createLogWriter(options: LogWriterOptions): LogWriter {
  const { logs, events, clock, stream } = options
  const end = logs.readEnd(stream)
  let record = end.record
  let lineNumber = end.line
  let mask: SecretMask = noMask
  let batch: (string | PendingLine)[] = []
  /** The unmasked end of the stored text, by `fields`: a secret may continue in the next batch. */
  const storedTails = new Map<string, string>()
  let lines = 0
  let bytes = 0
  let bytesSinceTrim = 0
  /** Reported once, until lines can be stored again. */
  let isLosingLines = false
  let hasLostLines = false
  let timer: Timer | undefined
  let timestamp = { at: 0, text: '' }

  const now = () => {
    const at = clock.now()
    if (at !== timestamp.at) timestamp = { at, text: isoTime(at) }
    return timestamp.text
  }

  const addEntry = (entry: string | PendingLine, length: number) => {
    batch.push(entry)
    bytes += length + 1
    if (bytes >= batch_bytes) flush()
    else timer ??= clock.setTimeout(flush, batch_ms)
  }

  const flush = (): boolean => {
    timer?.cancel()
    timer = undefined
    if (batch.length === 0) return true
    const body = renderRecords().join('\n')
    const chunk = { stream, first: record + 1, records: batch.length, lines, last_line: lineNumber, bytes: body.length + 1, body }
    try {
      logs.append(chunk)
      record += chunk.records
      isLosingLines = false
    } catch (error) {
      // A checkpoint locks the file for a moment; the batch waits unless it is too large for memory.
      if (isSqliteBusy(error) && bytes < limits.stream_backlog_bytes) {
        timer = clock.setTimeout(flush, batch_ms)
        return false
      }
      // The disk is full or the file is locked: these lines are lost, the app or build continues, and later lines are numbered after them.
      hasLostLines ||= isDiskFull(error)
      if (!isLosingLines) options.log.warn('log_lines_dropped', { stream, lines, error })
      isLosingLines = true
    }
    rememberTails()
    batch = []
    lines = 0
    bytesSinceTrim += bytes
    bytes = 0
    if (bytesSinceTrim > options.keep_tail_bytes / 4) {
      bytesSinceTrim = 0
      trimLog()
    }
    events.publish({ type: 'log_appended', id: stream })
    return true
  }

  const groupByOrigin = () =>
    Map.groupBy(
      batch.filter((entry) => typeof entry !== 'string'),
      (entry) => entry.fields,
    )

  /** The batch as records. Lines of one source are masked together, because a secret may be wrapped over several lines. */
  const renderRecords = (): string[] => {
    const texts = new Map<PendingLine, string>()
    for (const [fields, entries] of groupByOrigin()) {
      const masked = entries[0]!.mask.lines(
        entries.map(({ line }) => line),
        storedTails.get(fields),
      )
      for (const [index, entry] of entries.entries()) texts.set(entry, masked[index]!)
    }
    return batch.map((entry) => (typeof entry === 'string' ? entry : `${entry.head}${JSON.stringify(truncateLine(texts.get(entry)!))}}`))
  }

  const rememberTails = () => {
    if (storedTails.size > maxOrigins) storedTails.clear()
    for (const [fields, entries] of groupByOrigin()) {
      const { reach } = entries[0]!.mask
      const text = (storedTails.get(fields) ?? '') + stripWhitespace(entries.map(({ line }) => line).join(''))
      storedTails.set(fields, reach === 0 ? '' : text.slice(-reach))
    }
  }

  const trimLog = () => {
    try {
      logs.trim(stream, options.keep_head_bytes, options.keep_tail_bytes)
    } catch (error) {
      // The log is trimmed again after the next quarter.
      options.log.warn('log_trim_failed', { stream, error })
    }
  }

  return {
    writeLine(fields, line, lineMask) {
      lineNumber++
      lines++
      const head = `{"seq":${lineNumber},"ts":"${now()}",${fields},"line":`
      addEntry({ head, fields, line, mask: lineMask ?? mask }, head.length + line.length)
    },
    writeRecord(value) {
      const text = JSON.stringify(value)
      addEntry(text, text.length)
    },
    setMask(next) {
      mask = next
      for (const entry of batch) if (typeof entry !== 'string') entry.mask = next
    },
    flush,
    hasLostLines: () => hasLostLines,
  }
}

interface PendingLine {
  /** The record up to the text of the line. */
  head: string
  fields: string
  line: string
  mask: SecretMask
}

function truncateLine(line: string): string {
  const excess = line.length - limits.log_line_bytes
  return excess > 0 ? `${line.slice(0, limits.log_line_bytes)} … ${excess} more characters` : line
}
