import { STATUS_CODES } from 'node:http'
import type { Clock } from '../lib/clock.ts'

/** What a request is to pages and static files, however it was read. */
export interface RequestContext {
  id: string
  method: string
  /** Path and query, as sent. */
  target: string
  host: string
  /** The first header of this name (lower case). */
  header(name: string): string | undefined
  /** Whether the visitor sits at this machine. */
  isLoopbackClient: boolean
}

/** A part of an open file; whoever sends it closes it. */
export interface FileSlice {
  /** How many bytes it read; rejects when the disk fails. */
  read(buffer: Buffer, position: number, length: number): Promise<number>
  close(): void
  start: number
  end: number
}

/** An answer that the edge gives by itself. */
export interface EdgeResponse {
  status: number
  /** `Name: value\r\n` each, without length, date, connection and request id. */
  lines: string
  body: Buffer | FileSlice | null
  /** Bytes of the body; -1 when the status has none. */
  length: number
  /** Whether a Date is among its lines. */
  hasDate?: boolean
}

/** The head of an answer, on the wire but for `Connection` and the empty line. `date` is a line of its own. */
export function formatResponseHead(response: EdgeResponse, id: string, date: string): string {
  const length = response.length < 0 ? '' : `Content-Length: ${response.length}\r\n`
  return `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? 'Unknown'}\r\n${response.lines}${length}${response.hasDate === true ? '' : date}X-Request-Id: ${id}\r\n`
}

/** `Date: ...\r\n`, written once a second. */
export function createDateLine(clock: Clock): () => string {
  let second = -1
  let line = ''
  return () => {
    const now = Math.floor(clock.now() / 1000)
    if (now !== second) {
      second = now
      line = `Date: ${new Date(now * 1000).toUTCString()}\r\n`
    }
    return line
  }
}

/** `Name: value\r\n...` as the flat list that `writeHead` takes. */
export function parseHeaderLines(lines: string): string[] {
  const list: string[] = []
  for (const line of lines.split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) list.push(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  return list
}

/** The same by name, in lower case. */
export function groupHeaderLines(lines: string): Record<string, string[]> {
  const groups: Record<string, string[]> = {}
  const list = parseHeaderLines(lines)
  for (let i = 0; i < list.length; i += 2) (groups[list[i]?.toLowerCase() ?? ''] ??= []).push(list[i + 1] ?? '')
  return groups
}
