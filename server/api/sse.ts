import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { limits } from '../contract/limits.ts'
import type { EventStream, StreamEvent } from '../contract/operation.ts'
import type { Clock, Timer } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'

/** Written at once at most, and hence what waits in memory for one reader besides the socket's own buffer. */
const chunkLength = 64 * 1024

/** How often the access of a reader is checked again (contract: whoever loses it loses open streams within 5 s). */
const accessCheck_ms = 3000

/** The access of a reader to what a stream tells. */
export interface StreamAccess {
  /** Streams with the same key are checked once. */
  key: string
  isGranted(): Promise<boolean>
}

interface OpenStream {
  access: StreamAccess
  /** Ends the stream after a last frame; a file is left to finish. */
  end(lastFrame: string): void
  /** Ends the stream at once, without what waits for its reader. */
  cut(): void
}

/**
 * All open streams of the gate: events, and files as they are read. One timer checks the access of their readers; `endAll` tells
 * readers of events to come back in a second.
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
        // Nothing is known: it is asked again next time.
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
    /** The events as a body: pulled at the pace of the reader, which stops the source when it goes. */
    eventStream(events: EventStream, owner: StreamOwner): StreamBody {
      return eventBody(events, { ...owner, open, clock, log })
    },
    /** A file as it is read. One that cannot be read to its end is cut off, so that nobody takes it for whole. */
    fileStream(chunks: AsyncIterable<Uint8Array>, access: StreamAccess): StreamBody {
      return (res) => {
        const stream: OpenStream = { access, end() {}, cut: () => void res.destroy() }
        open.add(stream)
        const isOver = () => void open.delete(stream)
        // Its failure destroys the connection: the client sees that, and there is nobody else to tell.
        pipeline(Readable.from(chunks, { objectMode: false }), res).then(isOver, () => {
          isOver()
          res.destroy()
        })
      }
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
  // Tells nginx and its kin not to hold frames back.
  'x-accel-buffering': 'no',
}

/** One frame. A line end inside a text starts another `data:` line, so nothing that an app prints can begin a frame of its own. */
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
  /** Called once when the stream is over, for whatever reason: the source stops waiting. */
  onEnd(): void
}

/**
 * Writes to the response itself, once its head is out: a web stream between would cost each of a thousand idle readers more
 * memory than all the rest of theirs.
 */
export type StreamBody = (res: ServerResponse) => void

const eventBody =
  (events: EventStream, owner: StreamOwner & { open: Set<OpenStream>; clock: Clock; log: Log }): StreamBody =>
  (res) => {
    const iterator = events[Symbol.asyncIterator]()
    // A first comment, so that headers go out before there is an event.
    let pending = ':\n\n'
    let flushing = false
    let isOver = false
    let wakePump: (() => void) | undefined

    /** Hands over what has gathered, unless the reader still has the last piece before it. */
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
        // Nothing more is asked of the source until this reader has taken what is there.
        if (pending.length >= chunkLength) await new Promise<void>((resolve) => (wakePump = resolve))
        if (isOver) return
        if (!flushing) {
          // What comes in the same turn of the event loop goes out in one write.
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
        // A reader that takes nothing would keep the connection, and have the rest when it likes.
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
    // A write may meet a socket that went this very moment.
    res.on('error', finish)
    if (res.destroyed) return finish()
    flush()
    pump().catch((error: unknown) => {
      if (!isOver) owner.log.error('stream_failed', { request_id: owner.request_id, error })
      stream.end('')
    })
  }
