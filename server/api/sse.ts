import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { limits } from '../contract/limits.ts'
import type { EventStream, StreamEvent } from '../contract/operation.ts'
import type { Clock, Timer } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'

/** Maximum size of one write, and of the data buffered per reader in addition to the socket's buffer. */
const chunkLength = 64 * 1024

/** How often a reader's access is checked. The contract ends open streams within 5 s after access is lost. */
const accessCheck_ms = 3000

/** The access of a reader to a stream. */
export interface StreamAccess {
  /** Streams with the same key share one check. */
  key: string
  isGranted(): Promise<boolean>
}

interface OpenStream {
  access: StreamAccess
  /** Ends an event stream after a last frame. A file download continues. */
  end(lastFrame: string): void
  /** Ends the stream at once and drops buffered data. */
  cut(): void
}

/**
 * All open event streams and file downloads. One timer checks the access of all readers. `endAll` ends event streams and tells readers to
 * reconnect after a second.
 */
export function createStreams({ clock, log }: { clock: Clock; log: Log }) {
  const open = new Set<OpenStream>()
  let checking = false

  async function check() {
    if (checking) return
    checking = true
    const checked = new Map<string, boolean>()
    for (const { access } of open) {
      if (checked.has(access.key)) continue
      try {
        checked.set(access.key, await access.isGranted())
      } catch (error) {
        // On an error the stream stays open and is checked again next time.
        checked.set(access.key, true)
        log.error('stream_check_failed', { error })
      }
    }
    for (const stream of open) if (checked.get(stream.access.key) === false) stream.cut()
    checking = false
  }

  const timer = clock.setInterval(() => void check(), accessCheck_ms).unref()

  return {
    get size() {
      return open.size
    },
    /** A response body with events, pulled at the pace of the reader. The source stops when the reader disconnects. */
    eventStream(events: EventStream, owner: StreamOwner): StreamBody {
      return eventBody(events, { ...owner, open, clock, log })
    },
    /** A response body with a file. If reading fails, the connection is destroyed, so that the client sees that it is incomplete. */
    fileStream(chunks: AsyncIterable<Uint8Array>, access: StreamAccess): StreamBody {
      return (res) => {
        const stream: OpenStream = { access, end() {}, cut: () => void res.destroy() }
        open.add(stream)
        const isOver = () => void open.delete(stream)
        // A stream of a file closes it even if the client leaves before the first read, which an iterator over it would not.
        // The headers were sent, so an error can only be shown by destroying the connection.
        pipeline(chunks instanceof Readable ? chunks : Readable.from(chunks, { objectMode: false }), res).then(isOver, () => {
          isOver()
          res.destroy()
        })
      }
    },
    /** Checks the access of another open connection in the same way. Returns how to forget it. */
    track(access: StreamAccess, { end, cut }: { end(): void; cut(): void }): () => void {
      const stream: OpenStream = { access, end: () => end(), cut }
      open.add(stream)
      return () => void open.delete(stream)
    },
    endAll(): void {
      for (const stream of open) stream.end('retry: 1000\n\n')
    },
    close(): void {
      timer.cancel()
    },
  }
}

export type Streams = ReturnType<typeof createStreams>

export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Tells reverse proxies such as nginx not to buffer.
  'x-accel-buffering': 'no',
}

/** Formats one frame. A line break in a text starts another `data:` line, so app output cannot forge frames. */
export function formatEvent(event: StreamEvent): string {
  let fields = ''
  if (event.id !== undefined) fields += `id: ${oneLine(event.id)}\n`
  if (event.event !== undefined) fields += `event: ${oneLine(event.event)}\n`
  if (typeof event.data !== 'string') return `${fields}data: ${JSON.stringify(event.data)}\n\n`
  if (!/[\r\n]/.test(event.data)) return `${fields}data: ${event.data}\n\n`
  return `${fields}${event.data
    .split(/\r\n|\r|\n/)
    .map((line) => `data: ${line}\n`)
    .join('')}\n`
}

const oneLine = (text: string) => (/[\r\n\0]/.test(text) ? text.replace(/[\r\n\0]+/g, ' ') : text)

interface StreamOwner {
  access: StreamAccess
  request_id: string
  /** Called once when the stream ends for any reason. */
  onEnd(): void
}

/**
 * Writes directly to the response after the headers. A web stream in between would more than double the memory of each idle reader.
 */
export type StreamBody = (res: ServerResponse) => void

const eventBody =
  (events: EventStream, owner: StreamOwner & { open: Set<OpenStream>; clock: Clock; log: Log }): StreamBody =>
  (res) => {
    const iterator = events[Symbol.asyncIterator]()
    // An initial comment flushes the headers before the first event.
    let pending = ':\n\n'
    let flushing = false
    let isOver = false
    let wakePump: (() => void) | undefined

    /** Writes buffered data unless the socket still has unsent data. */
    function flush() {
      flushing = false
      if (isOver || pending === '' || res.writableNeedDrain) return
      const chunk = pending
      pending = ''
      res.write(chunk)
      wakePump?.()
    }

    async function pump() {
      for (;;) {
        const { done, value } = await iterator.next()
        if (isOver) return
        if (done) return stream.end('')
        pending += formatEvent(value)
        if (pending.length >= chunkLength) flush()
        // The source is not read further until the reader has taken the buffered data.
        if (pending.length >= chunkLength) await new Promise<void>((resolve) => (wakePump = resolve))
        if (isOver) return
        if (!flushing) {
          // Events of the same turn of the event loop are sent in one write.
          flushing = true
          setImmediate(flush)
        }
      }
    }

    function finish() {
      if (isOver) return
      isOver = true
      heartbeat.cancel()
      owner.open.delete(stream)
      wakePump?.()
      owner.onEnd()
      Promise.resolve(iterator.return?.()).catch((error: unknown) => owner.log.warn('stream_source_failed', { request_id: owner.request_id, error }))
    }

    const stream: OpenStream = {
      access: owner.access,
      end(lastFrame) {
        if (isOver) return
        const chunk = pending + lastFrame
        pending = ''
        finish()
        res.end(chunk)
      },
      cut() {
        if (isOver) return
        finish()
        // A stalled reader would keep the connection and could still read the rest.
        if (res.writableNeedDrain) res.destroy()
        else res.end()
      },
    }

    const heartbeat: Timer = owner.clock.setInterval(() => {
      if (pending === '') pending = ':\n\n'
      flush()
    }, limits.stream_comment_ms)
    owner.open.add(stream)

    res.on('drain', flush)
    res.on('close', finish)
    // A write can fail if the socket closes at the same moment.
    res.on('error', finish)
    if (res.destroyed) return finish()
    flush()
    pump().catch((error: unknown) => {
      if (!isOver) owner.log.error('stream_failed', { request_id: owner.request_id, error })
      stream.end('')
    })
  }
