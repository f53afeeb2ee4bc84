/** The icon containers: both hold complete PNG files behind a table. */

export interface IconImage {
  size: number
  png: Buffer
}

/** The type of each size on macOS; the second of a size is for 2x screens. */
export const icnsTypes = {
  icp4: 16,
  icp5: 32,
  ic11: 32,
  ic12: 64,
  ic07: 128,
  ic08: 256,
  ic13: 256,
  ic09: 512,
  ic14: 512,
  ic10: 1024,
} as const

export function writeIcns(pictures: IconImage[]): Buffer {
  const parts = Object.entries(icnsTypes).map(([type, size]) => {
    const picture = pictures.find((one) => one.size === size)
    if (!picture) throw new Error(`An .icns needs a picture of ${size} pixels.`)
    return encodeIcnsPart(type, picture.png)
  })
  return encodeIcnsPart('icns', Buffer.concat(parts))
}

export function readIcns(file: Buffer): { type: string; png: Buffer }[] {
  if (file.toString('latin1', 0, 4) !== 'icns' || file.readUInt32BE(4) !== file.length) throw new Error('This is no .icns.')
  const found: { type: string; png: Buffer }[] = []
  for (let at = 8; at < file.length; at += file.readUInt32BE(at + 4))
    found.push({ type: file.toString('latin1', at, at + 4), png: file.subarray(at + 8, at + file.readUInt32BE(at + 4)) })
  return found
}

/** A type code, the total length, and the content. */
function encodeIcnsPart(type: string, bytes: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.write(type, 'latin1')
  head.writeUInt32BE(bytes.length + 8, 4)
  return Buffer.concat([head, bytes])
}

const icoHead = 6
const icoEntry = 16

export function writeIco(pictures: IconImage[]): Buffer {
  const table = Buffer.alloc(icoHead + icoEntry * pictures.length)
  table.writeUInt16LE(1, 2)
  table.writeUInt16LE(pictures.length, 4)
  let at = table.length
  for (const [index, { size, png }] of pictures.entries()) {
    const entry = icoHead + icoEntry * index
    // A byte cannot hold 256, which is stored as 0.
    table.writeUInt8(size % 256, entry)
    table.writeUInt8(size % 256, entry + 1)
    table.writeUInt16LE(1, entry + 4)
    table.writeUInt16LE(32, entry + 6)
    table.writeUInt32LE(png.length, entry + 8)
    table.writeUInt32LE(at, entry + 12)
    at += png.length
  }
  return Buffer.concat([table, ...pictures.map(({ png }) => png)])
}

export function readIco(file: Buffer): IconImage[] {
  if (file.readUInt32LE(0) !== 0x00010000) throw new Error('This is no .ico.')
  return Array.from({ length: file.readUInt16LE(4) }, (_, index) => {
    const entry = icoHead + icoEntry * index
    const at = file.readUInt32LE(entry + 12)
    return { size: file.readUInt8(entry) || 256, png: file.subarray(at, at + file.readUInt32LE(entry + 8)) }
  })
}

/** Width and height of a PNG, and whether it can be transparent. */
export function readPng(png: Buffer): { width: number; height: number; has_alpha: boolean } {
  if (png.toString('latin1', 1, 4) !== 'PNG') throw new Error('This is no PNG.')
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20), has_alpha: png.readUInt8(25) === 6 }
}
