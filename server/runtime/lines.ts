import { limits } from '../contract/limits.ts'

/** Turns bytes into lines. `write` may be called with any cut of the stream; `end` gives out a last line without its end. */
export interface LineSplitter {
  write(chunk: Buffer): void
  end(): void
}

const newline = 0x0a

/**
 * Lines keep their `\r` and ANSI codes. A line longer than `cap` bytes comes in pieces of at most that size, so that memory stays
 * flat whatever a program prints; cut between words where there are any, so that a secret in it stays whole for whoever hides it.
 */
export function createLineSplitter(onLine: (line: string) => void, cap: number = limits.log_line_bytes): LineSplitter {
  let parts: Buffer[] = []
  let held = 0

  const add = (piece: Buffer) => {
    parts.push(piece)
    held += piece.length
    while (held > cap) {
      const all = Buffer.concat(parts)
      const cut = wordEnd(all, cap) ?? characterStart(all, cap)
      onLine(all.toString('utf8', 0, cut))
      parts = [all.subarray(cut)]
      held = all.length - cut
    }
  }
  const flush = () => {
    onLine(parts.length === 1 ? parts[0]!.toString('utf8') : Buffer.concat(parts).toString('utf8'))
    parts = []
    held = 0
  }

  return {
    write(chunk) {
      let from = 0
      for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
        add(chunk.subarray(from, at))
        flush()
        from = at + 1
      }
      // A copy: what is held must not keep a large read buffer alive.
      if (from < chunk.length) add(Buffer.from(chunk.subarray(from)))
    },
    end() {
      if (held > 0) flush()
    },
  }
}

const between = new Set(Buffer.from(' \t"\',;&<>()[]{}'))
const word_bytes = 2048

/** The end of the last word up to `at`, unless that is one of a single long word. */
function wordEnd(bytes: Buffer, at: number): number | undefined {
  for (let end = at; end > Math.max(0, at - Math.min(word_bytes, at / 2)); end--) if (between.has(bytes[end - 1]!)) return end
  return undefined
}

/** The last position up to `at` where a UTF-8 character begins; `at` itself when the bytes are no UTF-8. */
function characterStart(bytes: Buffer, at: number): number {
  for (let back = 0; back < 4; back++) {
    if ((bytes[at - back]! & 0xc0) !== 0x80) return at - back
  }
  return at
}
