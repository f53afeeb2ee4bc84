/** An entry to write. `chunks` must contain exactly `size` bytes. */
export type TarEntry =
  | { name: string; kind: 'folder' }
  | { name: string; kind: 'link'; target: string }
  | { name: string; kind: 'file'; is_executable: boolean; size: number; chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array> }

const block_bytes = 512
const octalLimit = 8 ** 11

/** Generates the bytes of an archive on demand; only the current chunk is in memory. */
export async function* writeTar(entries: AsyncIterable<TarEntry>, mtime_ms: number): AsyncGenerator<Uint8Array> {
  for await (const entry of entries) {
    yield encodeHeader(entry, mtime_ms)
    if (entry.kind !== 'file') continue
    let left = entry.size
    for await (const chunk of entry.chunks) {
      left -= chunk.byteLength
      if (left < 0) throw new Error(`${entry.name} is larger than its declared size.`)
      yield chunk
    }
    if (left > 0) throw new Error(`${entry.name} is smaller than its declared size.`)
    if (entry.size % block_bytes > 0) yield Buffer.alloc(block_bytes - (entry.size % block_bytes))
  }
  yield Buffer.alloc(2 * block_bytes)
}

function encodeHeader(entry: TarEntry, mtime_ms: number): Buffer {
  const size = entry.kind === 'file' ? entry.size : 0
  const target = entry.kind === 'link' ? entry.target : ''
  const extended: Record<string, string> = {}
  if (!fitsPlainHeader(entry.name)) extended.path = entry.name
  if (!fitsPlainHeader(target)) extended.linkpath = target
  if (size >= octalLimit) extended.size = String(size)
  const type = { file: '0', link: '2', folder: '5' }[entry.kind]
  const mode = entry.kind === 'folder' || (entry.kind === 'file' && entry.is_executable) ? 0o755 : 0o644
  const plain = encodeFields({ name: entry.name, mode, size: size >= octalLimit ? 0 : size, mtime_ms, type, target })
  if (Object.keys(extended).length === 0) return plain
  const records = Buffer.from(
    Object.entries(extended)
      .map(([key, value]) => encodePaxRecord(key, value))
      .join(''),
  )
  const padding = Buffer.alloc((block_bytes - (records.length % block_bytes)) % block_bytes)
  return Buffer.concat([encodeFields({ name: 'PaxHeader', mode, size: records.length, mtime_ms, type: 'x', target: '' }), records, padding, plain])
}

// oxlint-disable-next-line no-control-regex -- all that a plain header can hold
const fitsPlainHeader = (text: string): boolean => text.length <= 100 && /^[\x01-\x7f]*$/.test(text)

/** `LENGTH KEY=VALUE\n`; the length includes itself. */
function encodePaxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`
  const bytes = Buffer.byteLength(rest)
  let length = bytes + String(bytes).length
  if (String(length).length > String(bytes).length) length = bytes + String(length).length
  return `${length}${rest}`
}

function encodeFields(values: { name: string; mode: number; size: number; mtime_ms: number; type: string; target: string }): Buffer {
  const header = Buffer.alloc(block_bytes)
  const octal = (value: number, at: number, width: number) => header.write(`${value.toString(8).padStart(width - 1, '0')}\0`, at, 'latin1')
  // A name that does not fit is in the PAX record before; this field is for tools that ignore PAX.
  header.write(values.name, 0, 100, 'utf8')
  octal(values.mode, 100, 8)
  octal(0, 108, 8)
  octal(0, 116, 8)
  octal(values.size, 124, 12)
  octal(Math.floor(values.mtime_ms / 1000), 136, 12)
  header.fill(' ', 148, 156)
  header.write(values.type, 156, 'latin1')
  header.write(values.target, 157, 100, 'utf8')
  header.write('ustar\x0000', 257, 'latin1')
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  )
  return header
}
