import { connect } from 'node:net'

export interface RawAnswer {
  status: number
  headers: Map<string, string>
  body: string
  json: Record<string, unknown> | undefined
  /** Everything received, further responses included. */
  all: string
}

/**
 * Writes bytes to a socket and reads until the other side closes, or until the first response is complete and the connection stays
 * open.
 */
export function sendRaw(port: number, bytes: string | Buffer | (string | Buffer)[], options: { half_close?: boolean } = {}): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const chunks: Buffer[] = []
    const finish = () => {
      socket.destroy()
      resolve(parseAnswer(Buffer.concat(chunks).toString('utf8')))
    }
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      if (isWhole(Buffer.concat(chunks).toString('latin1'))) finish()
    })
    socket.on('error', () => (chunks.length > 0 ? finish() : undefined))
    socket.on('close', finish)
    socket.on('connect', () => {
      for (const part of [bytes].flat()) socket.write(part)
      if (options.half_close) socket.end()
    })
  })
}

/** There may be one interim response before the final one. */
const final = (text: string): string => text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '')

/** A response that keeps the connection is complete once its declared length has arrived. */
function isWhole(all: string): boolean {
  const text = final(all)
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return false
  const head = text.slice(0, end)
  if (/\r\nconnection: close/i.test(head)) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  return length !== undefined && text.length >= end + 4 + Number(length)
}

export function parseAnswer(all: string): RawAnswer {
  const text = final(all)
  const end = text.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n')
  const headers = new Map(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const body = text.slice(end + 4)
  let json: RawAnswer['json']
  try {
    json = JSON.parse(body) as Record<string, unknown>
  } catch {
    json = undefined
  }
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(statusLine)?.[1] ?? 0), headers, body, json, all }
}
