import packet, { type Answer, type DecodedPacket } from 'dns-packet'

/** A name for which this server is authoritative. */
export interface ZoneEntry {
  /** The zone of the name: the bought domain. */
  zone: string
  /** The IP address; null if this name has none. */
  address: string | null
}

export interface ZoneLookup {
  /** undefined for names of other zones, which are refused. `name` is in lower case. */
  find(name: string): ZoneEntry | undefined
}

const rcode = { none: 0, format: 1, name: 3, not_implemented: 4, refused: 5 } as const
/** Short, so that changes become visible quickly. */
const ttl_s = 60
const headerBytes = 12
/** The maximum size of a query: a name, a type, and the options of a resolver. */
const maxQuestionBytes = 1232

/**
 * Answers one untrusted message; undefined: send no answer. Never throws. An answer is never much longer than the query, so that the
 * server cannot be used for amplification attacks.
 */
export function answerDnsMessage(message: Buffer, zones: ZoneLookup): Buffer | undefined {
  if (message.length < headerBytes) return undefined
  const head = message.readUInt16BE(2)
  // Responses are ignored, because two servers would otherwise answer each other forever.
  if ((head & 0x8000) !== 0) return undefined
  if ((head & 0x7800) !== 0) return createHeaderOnlyResponse(message, rcode.not_implemented)
  if (message.length > maxQuestionBytes || message.readUInt16BE(4) !== 1 || message.readUInt16BE(6) !== 0 || message.readUInt16BE(8) !== 0)
    return createHeaderOnlyResponse(message, rcode.format)
  let query: DecodedPacket
  try {
    query = packet.decode(message)
  } catch {
    return createHeaderOnlyResponse(message, rcode.format)
  }
  const question = query.questions?.[0]
  // Names that are not hostnames are refused and not echoed.
  if (!question || !/^[a-z0-9_.-]{1,253}$/i.test(question.name)) return createHeaderOnlyResponse(message, rcode.refused)
  const isSupported = (question.class ?? 'IN') === 'IN' && !/^(ANY|[AI]XFR|UNKNOWN_25[0-5])$/.test(question.type)

  try {
    const name = question.name.toLowerCase()
    const entry = isSupported ? zones.find(name) : undefined
    // Resolvers ignore a refusal without the question.
    if (!entry) return packet.encode({ id: query.id ?? 0, type: 'response', flags: (head & 0x0100) | rcode.refused, questions: [question] })
    const found = findRecords(question.name, name, question.type, entry)
    return packet.encode({
      id: query.id ?? 0,
      type: 'response',
      flags: packet.AUTHORITATIVE_ANSWER | (head & 0x0100) | (found.exists ? rcode.none : rcode.name),
      questions: [question],
      answers: found.answers,
      authorities: found.answers.length === 0 ? [createSoaRecord(entry.zone)] : [],
    })
  } catch {
    return createHeaderOnlyResponse(message, rcode.refused)
  }
}

function findRecords(originalName: string, name: string, type: string, { zone, address }: ZoneEntry): { exists: boolean; answers: Answer[] } {
  const nameServer = `ns.${zone}`
  const target = name === nameServer ? '127.0.0.1' : address
  if (target === null) return { exists: false, answers: [] }
  if (type === (target.includes(':') ? 'AAAA' : 'A')) return { exists: true, answers: [{ type, name: originalName, ttl: ttl_s, data: target }] }
  if (name !== zone) return { exists: true, answers: [] }
  if (type === 'NS') return { exists: true, answers: [{ type, name: originalName, ttl: ttl_s, data: nameServer }] }
  if (type === 'SOA') return { exists: true, answers: [{ ...createSoaRecord(zone), name: originalName }] }
  return { exists: true, answers: [] }
}

function createSoaRecord(zone: string): Answer {
  return {
    type: 'SOA',
    name: zone,
    ttl: ttl_s,
    data: {
      mname: `ns.${zone}`,
      rname: `hostmaster.${zone}`,
      serial: 1,
      refresh: 3600,
      retry: 600,
      expire: 86_400,
      // TTL of negative answers (RFC 2308).
      minimum: ttl_s,
    },
  }
}

/** Only the header, with a response code. */
function createHeaderOnlyResponse(message: Buffer, code: number): Buffer {
  const answer = Buffer.alloc(headerBytes)
  message.copy(answer, 0, 0, 2)
  answer.writeUInt16BE(0x8000 | (message.readUInt16BE(2) & 0x7900) | code, 2)
  return answer
}
