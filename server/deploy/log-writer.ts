import { limits } from '../contract/limits.ts'
import type { Bus } from '../lib/bus.ts'
import { type Clock, isoTime, type Timer } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { isBusy, isFull } from '../store/database.ts'
import type { LogStore } from '../store/logs.ts'
import { type Mask, noMask, withoutSpace } from './mask.ts'

const batchBytes = 64 * 1024
const batchMs = 5
const mostOrigins = 64

/**
 * Numbers, masks and batches the records of one log. A record is one line of JSON; a log line's begins with `seq`, which
 * counts lines alone, while the record's own number counts everything and is what a stream resumes from.
 */
export interface LogWriter {
  /** `fields` is JSON without braces, such as `"step":"build","stream":"stdout"`. */
  line(fields: string, line: string, mask?: Mask): void
  record(value: object): void
  /** Hides these from now on. */
  maskWith(mask: Mask): void
  /** Stores what is buffered; false when the file is held for the moment and it will be stored soon. */
  flush(): boolean
  /** Whether lines were lost because there was no room. */
  metFullDisk(): boolean
}

export interface LogWriterOptions {
  logs: LogStore
  bus: Bus
  clock: Clock
  log: Log
  stream: string
  /** Keep this much of the beginning for ever, and this much of the end. */
  keep_head_bytes: number
  keep_tail_bytes: number
}

export function createLogWriter(options: LogWriterOptions): LogWriter {
  const { logs, bus, clock, stream } = options
  const end = logs.end(stream)
  let record = end.record
  let lineNumber = end.line
  let mask: Mask = noMask
  let batch: (string | PendingLine)[] = []
  /** The raw end of what was stored, by `fields`: a secret may go on in the next batch. */
  const stored = new Map<string, string>()
  let lines = 0
  let bytes = 0
  let sinceTrim = 0
  /** Said once, until one is taken again. */
  let losing = false
  let met_full_disk = false
  let timer: Timer | undefined
  let stamp = { at: 0, text: '' }

  const now = () => {
    const at = clock.now()
    if (at !== stamp.at) stamp = { at, text: isoTime(at) }
    return stamp.text
  }

  const add = (entry: string | PendingLine, length: number) => {
    batch.push(entry)
    bytes += length + 1
    if (bytes >= batchBytes) flush()
    else timer ??= clock.setTimeout(flush, batchMs)
  }

  const flush = (): boolean => {
    timer?.cancel()
    timer = undefined
    if (batch.length === 0) return true
    const body = render().join('\n')
    const chunk = { stream, first: record + 1, records: batch.length, lines, last_line: lineNumber, bytes: body.length + 1, body }
    try {
      logs.append(chunk)
      record += chunk.records
      losing = false
    } catch (error) {
      // A checkpoint holds the file for a moment: the batch waits, as long as it is not too much for memory.
      if (isBusy(error) && bytes < limits.stream_backlog_bytes) {
        timer = clock.setTimeout(flush, batchMs)
        return false
      }
      // A full disk or a held file: these lines are lost, the app or build goes on, and the next ones are numbered after them.
      met_full_disk ||= isFull(error)
      if (!losing) options.log.warn('log_lines_lost', { stream, lines, error })
      losing = true
    }
    remember()
    batch = []
    lines = 0
    sinceTrim += bytes
    bytes = 0
    if (sinceTrim > options.keep_tail_bytes / 4) {
      sinceTrim = 0
      trim()
    }
    bus.emit(`log:${stream}`)
    return true
  }

  const grouped = () =>
    Map.groupBy(
      batch.filter((entry) => typeof entry !== 'string'),
      (entry) => entry.fields,
    )

  /** The batch as records. Lines of one origin are masked together, because a secret may be wrapped over several. */
  const render = (): string[] => {
    const texts = new Map<PendingLine, string>()
    for (const [fields, entries] of grouped()) {
      const masked = entries[0]!.mask.lines(
        entries.map(({ line }) => line),
        stored.get(fields),
      )
      for (const [index, entry] of entries.entries()) texts.set(entry, masked[index]!)
    }
    return batch.map((entry) => (typeof entry === 'string' ? entry : `${entry.head}${JSON.stringify(cut(texts.get(entry)!))}}`))
  }

  const remember = () => {
    if (stored.size > mostOrigins) stored.clear()
    for (const [fields, entries] of grouped()) {
      const { reach } = entries[0]!.mask
      const text = (stored.get(fields) ?? '') + withoutSpace(entries.map(({ line }) => line).join(''))
      stored.set(fields, reach === 0 ? '' : text.slice(-reach))
    }
  }

  const trim = () => {
    try {
      logs.trim(stream, options.keep_head_bytes, options.keep_tail_bytes)
    } catch (error) {
      // It is tried again after the next quarter.
      options.log.warn('log_not_trimmed', { stream, error })
    }
  }

  return {
    line(fields, line, own) {
      lineNumber++
      lines++
      const head = `{"seq":${lineNumber},"ts":"${now()}",${fields},"line":`
      add({ head, fields, line, mask: own ?? mask }, head.length + line.length)
    },
    record(value) {
      const text = JSON.stringify(value)
      add(text, text.length)
    },
    maskWith(next) {
      mask = next
      for (const entry of batch) if (typeof entry !== 'string') entry.mask = next
    },
    flush,
    metFullDisk: () => met_full_disk,
  }
}

interface PendingLine {
  /** The record up to the text of the line. */
  head: string
  fields: string
  line: string
  mask: Mask
}

function cut(line: string): string {
  const over = line.length - limits.log_line_bytes
  return over > 0 ? `${line.slice(0, limits.log_line_bytes)} … ${over} more characters` : line
}
