import { STATUS_CODES } from 'node:http'
import type { Clock } from '../lib/clock.ts'

/** A request as status pages and static files see it, independent of how it was read. */
export interface RequestContext {
  id: string
  method: string
  /** Path and query, as sent. */
  target: string
  host: string
  /** The first header of this name (lower case). */
  header(name: string): string | undefined
  /** Whether the client is on this machine. */
  isLoopbackClient: boolean
}

/** A part of an open file. The sender closes it. */
export interface FileSlice {
  /** Resolves with the number of bytes read; rejects on a disk error. */
  read(buffer: Buffer, position: number, length: number): Promise<number>
  close(): void
  start: number
  end: number
}

/** A response that the edge itself creates. */
export interface EdgeResponse {
  status: number
  /** `Name: value\r\n` each, without length, date, connection and request id. */
  lines: string
  body: Buffer | FileSlice | null
  /** Body size in bytes; -1 if the status has no body. */
  length: number
  /** Whether `lines` contains a Date. */
  hasDate?: boolean
}

/** A response head as sent, without `Connection` and the empty line. `date` is a complete header line. */
export function formatResponseHead(response: EdgeResponse, id: string, date: string): string {
  const length = response.length < 0 ? '' : `Content-Length: ${response.length}\r\n`
  return `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? 'Unknown'}\r\n${response.lines}${length}${response.hasDate === true ? '' : date}X-Request-Id: ${id}\r\n`
}

/** The `Date: ...\r\n` line, formatted once a second. */
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

/** Converts `Name: value\r\n...` to the flat list that `writeHead` takes. */
export function parseHeaderLines(lines: string): string[] {
  const list: string[] = []
  for (const line of lines.split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) list.push(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  return list
}

/** Groups header values by name, in lower case. */
export function groupHeaderLines(lines: string): Record<string, string[]> {
  const groups: Record<string, string[]> = {}
  const list = parseHeaderLines(lines)
  for (let i = 0; i < list.length; i += 2) (groups[list[i]?.toLowerCase() ?? ''] ??= []).push(list[i + 1] ?? '')
  return groups
}
