import { randomBytes } from 'node:crypto'
import { createConnection } from 'node:net'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { DatabaseAddress, DatabaseSpec } from './database-server.ts'

/** A database with its address, for connections over TCP. */
export type DatabaseTarget = DatabaseSpec & DatabaseAddress

/**
 * Runs PostgreSQL's own pg_dump, compiled to WebAssembly by `@electric-sql/pglite-tools`, and returns its output. pg_dump supports every kind of
 * schema object and needs no installation. The output is held in memory: use it for schemas, not for data. pg_dump expects a synchronous response to
 * each protocol exchange, so it runs in a worker thread that sleeps until this thread has the server's response. The code is passed as text because
 * a bundle has no file for it.
 */
export async function runPgDump(target: DatabaseTarget, args: string[], signal: AbortSignal): Promise<string> {
  signal.throwIfAborted()
  const { port1: localPort, port2: workerPort } = new MessageChannel()
  const flag = new SharedArrayBuffer(4)
  const key = randomBytes(16).toString('hex')
  const library = import.meta.resolve('@electric-sql/pglite-tools/pg_dump').replace(/app\.asar(?=\/)/, 'app.asar.unpacked')
  // The thread has no socket, so host and port are placeholders. libpq takes the user from here.
  const login = `host=${target.host} port=${target.port} user=${target.db_user} password=${target.password} dbname=${target.db_name}`
  const worker = new Worker(workerSource, {
    eval: true,
    workerData: { library, args: ['-d', `${login} sslmode=disable gssencmode=disable`, `--restrict-key=${key}`, ...args], port: workerPort, flag },
    transferList: [workerPort],
    env: {},
    stdout: true,
    stderr: true,
  })
  const socket = createConnection({ host: target.host, port: target.port, noDelay: true })
  const terminate = () => void worker.terminate()
  signal.addEventListener('abort', terminate)
  try {
    return await new Promise<string>((resolve, reject) => {
      const exchange = createProtocolExchange((answer) => {
        const turn = new Int32Array(flag)
        localPort.postMessage(answer)
        Atomics.store(turn, 0, 1)
        Atomics.notify(turn, 0)
      })
      localPort.on('message', (bytes: Uint8Array) => {
        socket.write(bytes)
        exchange.sent(Buffer.from(bytes))
      })
      socket.on('data', (chunk: Buffer) => exchange.received(chunk))
      socket.on('error', reject).on('close', () => exchange.closed())
      worker.on('message', ({ sql, error }: { sql?: string; error?: string }) => {
        if (sql === undefined) reject(new Error(formatPgDumpError(error ?? '', target)))
        else resolve(sql.replace(`\\restrict ${key}\n`, '').replace(`\\unrestrict ${key}\n`, ''))
      })
      worker.on('error', reject).on('exit', () => reject(signal.aborted ? (signal.reason as Error) : new Error('pg_dump exited without output.')))
    })
  } finally {
    signal.removeEventListener('abort', terminate)
    socket.destroy()
    localPort.close()
    await worker.terminate()
  }
}

const workerSource = `
  const { workerData, parentPort, receiveMessageOnPort } = require('node:worker_threads')
  const { library, args, port, flag } = workerData
  const turn = new Int32Array(flag)
  const pg = {
    query: async () => ({ rows: [{ search_path: '' }] }),
    exec: async () => {},
    execProtocolRawStream(bytes, { onRawData }) {
      Atomics.store(turn, 0, 0)
      port.postMessage(Uint8Array.from(bytes))
      // A late call for the previous turn also wakes it.
      while (Atomics.load(turn, 0) === 0) Atomics.wait(turn, 0, 0)
      onRawData(receiveMessageOnPort(port).message)
    },
  }
  // The package drops every line that starts with \\restrict, also in texts and functions. Only the two lines that pg_dump adds are dropped here.
  const replace = String.prototype.replace
  String.prototype.replace = function (pattern, by) {
    return pattern instanceof RegExp && pattern.source.includes('restrict') ? String(this) : replace.call(this, pattern, by)
  }
  import(library)
    .then(({ pgDump }) => pgDump({ pg, args }))
    .then((file) => file.text())
    .then((sql) => parentPort.postMessage({ sql }), (error) => parentPort.postMessage({ error: error.message }))`

/**
 * Detects from the protocol frames when the server must respond and when its response is complete; then calls `answer` with the bytes received
 * since, once for each `sent`.
 */
export function createProtocolExchange(answer: (bytes: Uint8Array) => void): {
  sent(bytes: Buffer): void
  received(bytes: Buffer): void
  closed(): void
} {
  let isLoggedOn = false
  let isWaiting = false
  let isClosed = false
  let outgoing: Buffer = Buffer.alloc(0)
  let incoming: Buffer = Buffer.alloc(0)
  let buffered: Buffer[] = []
  const deliver = () => {
    isWaiting = false
    answer(Buffer.concat(buffered.splice(0)))
  }
  return {
    sent(bytes) {
      outgoing = Buffer.concat([outgoing, bytes])
      let wantsAnswer = false
      for (;;) {
        // The first message has no type byte.
        const typeLength = isLoggedOn ? 1 : 0
        if (outgoing.length < typeLength + 4) break
        const terminate = typeLength + outgoing.readUInt32BE(typeLength)
        if (outgoing.length < terminate) break
        // Log-on, password, query and sync are the messages to which the server responds.
        wantsAnswer = !isLoggedOn || 'pQS'.includes(String.fromCharCode(outgoing[0]!))
        isLoggedOn = true
        outgoing = outgoing.subarray(terminate)
      }
      if (wantsAnswer && !isClosed) isWaiting = true
      else deliver()
    },
    received(bytes) {
      buffered.push(bytes)
      incoming = Buffer.concat([incoming, bytes])
      let isDone = false
      while (incoming.length >= 5) {
        const terminate = 1 + incoming.readUInt32BE(1)
        if (incoming.length < terminate) break
        const messageType = String.fromCharCode(incoming[0]!)
        // Ready for the next query, or a log-on step that needs a message from the client (neither 0, accepted, nor 12, the last).
        if (messageType === 'Z' || (messageType === 'R' && ![0, 12].includes(incoming.readUInt32BE(5)))) isDone = true
        incoming = incoming.subarray(terminate)
      }
      if (isDone && isWaiting) deliver()
    },
    closed() {
      isClosed = true
      if (isWaiting) deliver()
    },
  }
}

/** The error message without surrounding lines and without the log-on. */
function formatPgDumpError(message: string, target: DatabaseTarget): string {
  const line = message.split('\n').find((one) => /error:/i.test(one.replace(/^Error message: /, ''))) ?? message
  return line.replaceAll(target.password, '***')
}
