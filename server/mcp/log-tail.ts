import { stripVTControlCharacters } from 'node:util'

/** Limits of what a tool returns of a log. */
export const logLimits = { lines: { default: 100, max: 500 }, line_characters: 1000, characters: 40_000 } as const

/** The lines of a file, without reading it into memory. */
export async function* readLines(file: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of file) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}

export interface LogTail {
  lines: string[]
  /** Earlier lines that are left out. */
  omitted: number
}

/** The last lines, each cut, and no more characters than a context has room for. */
export async function readTail(lines: AsyncIterable<string>, count: number): Promise<LogTail> {
  const kept: string[] = []
  let [total, characters] = [0, 0]
  for await (const line of lines) {
    const text = cutLine(line)
    total++
    characters += text.length
    kept.push(text)
    while (kept.length > count || characters > logLimits.characters) characters -= kept.shift()?.length ?? 0
  }
  return { lines: kept, omitted: total - kept.length }
}

export function cutLine(line: string): string {
  const text = stripVTControlCharacters(line)
  const { line_characters } = logLimits
  return text.length > line_characters ? `${text.slice(0, line_characters)}… (${text.length - line_characters} more characters)` : text
}
