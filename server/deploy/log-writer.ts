import { limits } from '../contract/limits.ts'
import type { Bus } from '../lib/bus.ts'
import { type Clock, isoTime, type Timer } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { isBusy, isFull } from '../store/database.ts'
import type { LogStore } from '../store/logs.ts'
import type { Mask } from './mask.ts'

const batchBytes = 64 * 1024
const batchMs = 5

/**
 * Numbers, masks and batches the records of one log. A record is one line of JSON; a log line's begins with `seq`, which
 * counts lines alone, while the record's own number counts everything and is what a stream resumes from.
 */
export interface LogWriter {
  /** `fields` is JSON without braces, such as `"step":"build","stream":"stdout"`. */
  line(fields: string, line: string): void
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
  let mask: Mask = (text) => text
  let batch: string[] = []
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

  const add = (text: string) => {
    batch.push(text)
    bytes += text.length + 1
    if (bytes >= batchBytes) flush()
    else timer ??= clock.setTimeout(flush, batchMs)
  }

  const flush = (): boolean => {
    timer?.cancel()
    timer = undefined
    if (batch.length === 0) return true
    const chunk = { stream, first: record + 1, records: batch.length, lines, last_line: lineNumber, bytes, body: batch.join('\n') }
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

  const trim = () => {
    try {
      logs.trim(stream, options.keep_head_bytes, options.keep_tail_bytes)
    } catch (error) {
      // It is tried again after the next quarter.
      options.log.warn('log_not_trimmed', { stream, error })
    }
  }

  return {
    line(fields, line) {
      lineNumber++
      lines++
      add(`{"seq":${lineNumber},"ts":"${now()}",${fields},"line":${JSON.stringify(cut(mask(line)))}}`)
    },
    record: (value) => add(JSON.stringify(value)),
    maskWith(next) {
      mask = next
    },
    flush,
    metFullDisk: () => met_full_disk,
  }
}

function cut(line: string): string {
  const over = line.length - limits.log_line_bytes
  return over > 0 ? `${line.slice(0, limits.log_line_bytes)} … ${over} more characters` : line
}
