import packet, { type Answer, type DecodedPacket } from 'dns-packet'

/** A name that this server has the say over. */
export interface ZoneEntry {
  /** The zone that it lies in: the name that was bought. */
  zone: string
  /** Where it leads; null: this very name has no address. */
  address: string | null
}

export interface ZoneLookup {
  /** undefined: none of ours, which is refused. The name comes in lower case. */
  find(name: string): ZoneEntry | undefined
}

const rcode = { none: 0, format: 1, name: 3, not_implemented: 4, refused: 5 } as const
/** Long enough to be of use, short enough that a change is seen by the next glance. */
const ttl_s = 60
const headerBytes = 12
/** Nothing that is asked of us is longer: a name, a type, and a resolver's options. */
const maxQuestionBytes = 1232

/**
 * The answer to one message of a stranger; undefined: none is owed. It never throws. An answer is never much longer than what
 * was asked, so that nobody can be flooded through us.
 */
export function answerDnsMessage(message: Buffer, zones: ZoneLookup): Buffer | undefined {
  if (message.length < headerBytes) return undefined
  const head = message.readUInt16BE(2)
  // An answer is not answered: two servers would talk for ever.
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
  // Bytes that are no host name are written out by nobody.
  if (!question || !/^[a-z0-9_.-]{1,253}$/i.test(question.name)) return createHeaderOnlyResponse(message, rcode.refused)
  const isSupported = (question.class ?? 'IN') === 'IN' && !/^(ANY|[AI]XFR|UNKNOWN_25[0-5])$/.test(question.type)

  try {
    const name = question.name.toLowerCase()
    const entry = isSupported ? zones.find(name) : undefined
    // Resolvers take no refusal that does not say what was asked.
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
      // How long it is remembered that a name is not there.
      minimum: ttl_s,
    },
  }
}

/** The head alone, with what went wrong. */
function createHeaderOnlyResponse(message: Buffer, code: number): Buffer {
  const answer = Buffer.alloc(headerBytes)
  message.copy(answer, 0, 0, 2)
  answer.writeUInt16BE(0x8000 | (message.readUInt16BE(2) & 0x7900) | code, 2)
  return answer
}
