import { limits } from '../contract/limits.ts'

/** Splits bytes into lines. `write` accepts chunks of any size; `end` emits a last line without a line end. */
export interface LineSplitter {
  write(chunk: Buffer): void
  end(): void
}

const newline = 0x0a

/**
 * Lines keep their `\r` and ANSI codes. A line longer than `max_bytes` is emitted in pieces of at most that size, so that memory stays bounded. It
 * is cut between words where possible, so that a secret stays whole and can be masked.
 */
export function createLineSplitter(onLine: (line: string) => void, max_bytes: number = limits.log_line_bytes): LineSplitter {
  let parts: Buffer[] = []
  let held_bytes = 0

  const add = (piece: Buffer) => {
    parts.push(piece)
    held_bytes += piece.length
    while (held_bytes > max_bytes) {
      const all = Buffer.concat(parts)
      const cut = findWordEnd(all, max_bytes) ?? findCharacterStart(all, max_bytes)
      onLine(all.toString('utf8', 0, cut))
      parts = [all.subarray(cut)]
      held_bytes = all.length - cut
    }
  }
  const flush = () => {
    onLine(parts.length === 1 ? parts[0]!.toString('utf8') : Buffer.concat(parts).toString('utf8'))
    parts = []
    held_bytes = 0
  }

  return {
    write(chunk) {
      let from = 0
      for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
        add(chunk.subarray(from, at))
        flush()
        from = at + 1
      }
      // A copy, so that held bytes do not keep a large read buffer in memory.
      if (from < chunk.length) add(Buffer.from(chunk.subarray(from)))
    },
    end() {
      if (held_bytes > 0) flush()
    },
  }
}

const wordSeparators = new Set(Buffer.from(' \t"\',;&<>()[]{}'))
const maxWord_bytes = 2048

/** The end of the last word up to `at`; undefined within a single long word. */
function findWordEnd(bytes: Buffer, at: number): number | undefined {
  for (let end = at; end > Math.max(0, at - Math.min(maxWord_bytes, at / 2)); end--) if (wordSeparators.has(bytes[end - 1]!)) return end
  return undefined
}

/** The last position up to `at` where a UTF-8 character starts; `at` itself when the bytes are not UTF-8. */
function findCharacterStart(bytes: Buffer, at: number): number {
  for (let back = 0; back < 4; back++) {
    if ((bytes[at - back]! & 0xc0) !== 0x80) return at - back
  }
  return at
}
