import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import packet from 'dns-packet'

/** Records of a name: addresses, or the name that it is an alias of. A name without an entry does not exist. */
export interface DnsZone {
  [name: string]: { A?: string[]; AAAA?: string[]; CNAME?: string; TXT?: string[][]; ttl?: number } | 'silent' | 'SERVFAIL' | 'REFUSED'
}

export interface FakeDns {
  /** In the format of the setting `dns_resolvers`. */
  address: string
  zone: DnsZone
  /** Queries so far, as `A blog.example.com`. */
  queries: string[]
  close(): Promise<void>
}

/** A UDP resolver with the records of a test. It follows aliases as resolvers do. */
export async function startFakeDns(zone: DnsZone = {}): Promise<FakeDns> {
  const socket = createSocket('udp4')
  const queries: string[] = []
  const fakeDns: FakeDns = {
    address: '',
    zone,
    queries,
    close: async () => {
      socket.close()
      await once(socket, 'close')
    },
  }
  socket.on('message', (bytes, from) => {
    const { id = 0, questions = [] } = packet.decode(bytes)
    const [question] = questions
    if (!question) return
    const { type } = question
    const name = question.name.toLowerCase()
    queries.push(`${type} ${name}`)
    const { answers, code } = resolveQuery(fakeDns.zone, name, type)
    if (code === undefined) return
    socket.send(
      packet.encode({ type: 'response', id, flags: packet.RECURSION_DESIRED | packet.RECURSION_AVAILABLE | code, questions: [question], answers }),
      from.port,
      from.address,
    )
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  fakeDns.address = `127.0.0.1:${socket.address().port}`
  return fakeDns
}

const responseCodes = { SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 }

function resolveQuery(zone: DnsZone, name: string, type: string): { answers: packet.Answer[]; code: number | undefined } {
  const entry = zone[name]
  if (entry === undefined) return { answers: [], code: responseCodes.NXDOMAIN }
  if (entry === 'silent') return { answers: [], code: undefined }
  if (typeof entry === 'string') return { answers: [], code: responseCodes[entry] }
  const ttl = entry.ttl ?? 300
  if (entry.CNAME !== undefined) {
    const alias: packet.Answer = { type: 'CNAME', name, data: entry.CNAME, ttl }
    if (type === 'CNAME') return { answers: [alias], code: 0 }
    const { answers, code } = resolveQuery(zone, entry.CNAME, type)
    return { answers: [alias, ...answers], code }
  }
  // Each record is a list of character strings.
  if (type === 'TXT') return { answers: (entry.TXT ?? []).map((data) => ({ type, name, data, ttl })), code: 0 }
  if (type !== 'A' && type !== 'AAAA') return { answers: [], code: 0 }
  return { answers: (entry[type] ?? []).map((data) => ({ type, name, data, ttl })), code: 0 }
}
