/** Fields of protobuf messages that are sent; `decodeFields` of `buildkit-status.ts` reads them. */

/** A length-delimited field: bytes, text or a message. */
export function encodeField(field: number, value: Buffer | string): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value
  const head = [(field << 3) | 2]
  for (let rest = bytes.length; ; rest >>>= 7) {
    head.push(rest < 0x80 ? rest : (rest & 0x7f) | 0x80)
    if (rest < 0x80) return Buffer.concat([Buffer.from(head), bytes])
  }
}

/** A map of texts is a message for each entry. */
export const encodeMap = (field: number, entries: Readonly<Record<string, string>>): Buffer =>
  Buffer.concat(Object.entries(entries).map(([key, value]) => encodeField(field, Buffer.concat([encodeField(1, key), encodeField(2, value)]))))

/** A message on a stream of gRPC: a byte for compression, which is not used, four for the length, and the message. */
export function encodeFrame(message: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/** The messages of a stream, which arrive in pieces. */
export function createFrameReader(onMessage: (message: Buffer) => void): (piece: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (piece) => {
    rest = Buffer.concat([rest, piece])
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const end = 5 + rest.readUInt32BE(1)
      onMessage(rest.subarray(5, end))
      rest = rest.subarray(end)
    }
  }
}
