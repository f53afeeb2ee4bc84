import { parse, TomlError } from 'smol-toml'
import { ConfigFailure, type ConfigLog, type Position } from './config-failure.ts'
import { checkSize, type YamlMap, type YamlNode } from './yaml-tree.ts'

/** Parses TOML into the same tree as YAML. The TOML parser reports no positions, so keys are searched in the text, in their order. */
export function parseToml(text: string, log: ConfigLog): YamlMap {
  checkSize(text, log)
  let table: unknown
  try {
    table = parse(text, { maxDepth: 60 })
  } catch (error) {
    const at = error instanceof TomlError ? { line: error.line, column: error.column } : { line: null, column: null }
    const reason =
      error instanceof TomlError ? (error.message.split('\n')[0] ?? '').replace(/^Invalid TOML document: /, '') : 'it is nested too deeply'
    throw new ConfigFailure(log.file, [{ ...at, message: `The syntax is not valid: ${reason}.`, hint: 'Fix the syntax of the file.' }], error)
  }
  const tree = toTree(table, new KeyFinder(text), { line: 1, column: 1 }, 0)
  return tree.kind === 'map' ? tree : { kind: 'map', at: tree.at, size: 1, entries: new Map() }
}

/** Searches keys from the position of the last one, and from the beginning if there is none after it. */
class KeyFinder {
  /** Lines by each word in them that may be a key. */
  readonly #lines = new Map<string, number[]>()
  #last = 0

  constructor(text: string) {
    for (const [index, line] of text.split('\n').entries()) {
      const head = /^\s*\[/.test(line) ? line : (line.split('=')[0] ?? '')
      const inline = line.includes('{') ? line : ''
      for (const word of new Set(`${head} ${inline}`.split(/[\s."'[\]{},=]+/))) {
        const known = this.#lines.get(word)
        if (known) known.push(index + 1)
        else this.#lines.set(word, [index + 1])
      }
    }
  }

  find(key: string): Position {
    const lines = this.#lines.get(key) ?? []
    this.#last = lines.find((line) => line >= this.#last) ?? lines[0] ?? this.#last
    return { line: Math.max(1, this.#last), column: 1 }
  }
}

const maxDepth = 60

function toTree(value: unknown, finder: KeyFinder, at: Position, depth: number): YamlNode {
  if (Array.isArray(value) && depth < maxDepth) {
    const items = value.map((item) => toTree(item, finder, at, depth + 1))
    return { kind: 'list', at, size: 1, items }
  }
  if (typeof value === 'object' && value !== null && !(value instanceof Date) && depth < maxDepth) {
    const map: YamlMap = { kind: 'map', at, size: 1, entries: new Map() }
    for (const [key, item] of Object.entries(value)) {
      const position = finder.find(key)
      map.entries.set(key, { key, at: position, value: toTree(item, finder, position, depth + 1) })
    }
    return map
  }
  const scalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : String(value)
  return { kind: 'scalar', at, size: 1, value: scalar, text: String(scalar) }
}
