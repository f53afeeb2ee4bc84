/** The fields of a BuildKit status message (`moby.buildkit.v1.StatusResponse`) that a log needs. */
export interface BuildKitStatus {
  steps: { digest: string; name: string; cached: boolean; started: boolean; completed: boolean; error: string }[]
  logs: { step: string; stream: 'stdout' | 'stderr'; data: Buffer }[]
}

/**
 * Decodes the messages, which Docker sends as protobuf in base64 and dockerode does not decode. Fields: StatusResponse 1 vertexes, 3 logs; Vertex 1
 * digest, 3 name, 4 cached, 5 started, 6 completed, 7 error; VertexLog 1 vertex, 3 stream, 4 msg.
 */
export function decodeBuildKitStatus(base64: string): BuildKitStatus {
  const status: BuildKitStatus = { steps: [], logs: [] }
  for (const field of decodeFields(Buffer.from(base64, 'base64'))) {
    if (field.number === 1) {
      const step = { digest: '', name: '', cached: false, started: false, completed: false, error: '' }
      for (const part of decodeFields(field.bytes)) {
        if (part.number === 1) step.digest = part.bytes.toString()
        else if (part.number === 3) step.name = part.bytes.toString()
        else if (part.number === 4) step.cached = part.value !== 0
        else if (part.number === 5) step.started = true
        else if (part.number === 6) step.completed = true
        else if (part.number === 7) step.error = part.bytes.toString()
      }
      status.steps.push(step)
    } else if (field.number === 3) {
      const entry = { step: '', stream: 'stdout' as 'stdout' | 'stderr', data: Buffer.alloc(0) as Buffer }
      for (const part of decodeFields(field.bytes)) {
        if (part.number === 1) entry.step = part.bytes.toString()
        else if (part.number === 3) entry.stream = part.value === 2 ? 'stderr' : 'stdout'
        else if (part.number === 4) entry.data = part.bytes
      }
      status.logs.push(entry)
    }
  }
  return status
}

interface ProtobufField {
  number: number
  /** Value of a number field. */
  value: number
  /** Content of a length-delimited field. */
  bytes: Buffer
}

const noBytes = Buffer.alloc(0)

/** The fields of a protobuf message, nested ones not decoded. */
export function* decodeFields(data: Buffer): Generator<ProtobufField> {
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 0; at < data.length; shift += 7) {
      const byte = data[at++]!
      // Only times exceed 32 bits, and only their presence is used.
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) break
    }
    return value
  }
  while (at < data.length) {
    const key = varint()
    const number = Math.floor(key / 8)
    const type = key % 8
    if (type === 0) {
      yield { number, value: varint(), bytes: noBytes }
    } else if (type === 2) {
      const length = varint()
      yield { number, value: 0, bytes: data.subarray(at, at + length) }
      at += length
    } else if (type === 1 || type === 5) {
      at += type === 1 ? 8 : 4
    } else {
      return
    }
  }
}
