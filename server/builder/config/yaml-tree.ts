import { isAlias, isCollection, isMap, isScalar, isSeq, LineCounter, parseDocument, type Node } from 'yaml'
import { ConfigFailure, type ConfigLog, type Position } from './config-failure.ts'

/** A parsed YAML or JSON file in which every value knows its position. Aliases share their tree; `size` counts them in full. */
export type YamlNode = YamlMap | YamlList | YamlScalar
export interface YamlMap {
  kind: 'map'
  at: Position
  size: number
  entries: Map<string, YamlEntry>
}
export interface YamlEntry {
  key: string
  /** Position of the key. */
  at: Position
  value: YamlNode
}
export interface YamlList {
  kind: 'list'
  at: Position
  size: number
  items: YamlNode[]
}
export interface YamlScalar {
  kind: 'scalar'
  at: Position
  size: 1
  value: string | number | boolean | null
  /** As written, without quotes: `010` for the number 10. */
  text: string
}

/** Configuration files of real projects have a few kilobytes; the largest known have 40. */
const maxFile_characters = 200_000
const maxNodes = 20_000
const maxDepth = 60
const sizeHint = 'Split the file, or remove what Homeport does not read.'

/** Parses with limits, so that no file can exhaust memory or time. Throws ConfigFailure with the position of each syntax error. */
export function parseYaml(text: string, log: ConfigLog): YamlNode {
  checkSize(text, log)
  const lines = new LineCounter()
  const fail = (message: string, hint: string, at: Position | null = null) => new ConfigFailure(log.file, [{ ...toLineAndColumn(at), message, hint }])
  let contents: Node | null
  try {
    // Keys are compared below: the parser's own comparison takes quadratic time.
    const document = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      uniqueKeys: false,
      merge: true,
      stringKeys: true,
      logLevel: 'error',
    })
    if (document.errors.length > 0) {
      const problems = document.errors.slice(0, 20).map((error) => {
        const { line, col } = lines.linePos(error.pos[0])
        return { line, column: col, message: `Column ${col}: ${toSentence(error.message)}`, hint: 'Fix the syntax of the file.' }
      })
      throw new ConfigFailure(log.file, problems)
    }
    contents = document.contents
  } catch (error) {
    if (error instanceof ConfigFailure) throw error
    // The parser is recursive: extreme nesting exhausts its stack.
    throw new ConfigFailure(log.file, [{ line: null, column: null, message: 'The file is nested too deeply to be read.', hint: sizeHint }], error)
  }
  const root = new TreeBuilder(lines, fail).build(contents, 0)
  return root
}

export function checkSize(text: string, log: ConfigLog): void {
  if (text.length <= maxFile_characters) return
  const message = `The file has ${text.length.toLocaleString('en')} characters; at most ${maxFile_characters.toLocaleString('en')} are read.`
  throw new ConfigFailure(log.file, [{ line: null, column: null, message, hint: sizeHint }])
}

type Fail = (message: string, hint: string, at?: Position | null) => ConfigFailure

class TreeBuilder {
  readonly #lines: LineCounter
  readonly #fail: Fail
  readonly #anchors = new Map<string, YamlNode>()

  constructor(lines: LineCounter, fail: Fail) {
    this.#lines = lines
    this.#fail = fail
  }

  build(node: unknown, depth: number): YamlNode {
    const at = this.#position(node)
    if (depth > maxDepth) throw this.#fail('The file is nested too deeply to be read.', sizeHint, at)
    if (isAlias(node)) {
      const target = this.#anchors.get(node.source)
      if (!target) throw this.#fail(`The alias *${node.source} has no anchor before it.`, `Define &${node.source} before it is used.`, at)
      return target
    }
    const built = this.#buildContent(node, at, depth)
    if (built.size > maxNodes)
      throw this.#fail(`The file has more than ${maxNodes.toLocaleString('en')} values, aliases included.`, sizeHint, built.at)
    if ((isScalar(node) || isCollection(node)) && node.anchor) this.#anchors.set(node.anchor, built)
    return built
  }

  #buildContent(node: unknown, at: Position, depth: number): YamlNode {
    if (node === null || node === undefined) return { kind: 'scalar', at, size: 1, value: null, text: '' }
    if ((isScalar(node) || isCollection(node)) && node.tag && !knownTags.has(node.tag))
      throw this.#fail(`The tag ${node.tag} is not supported.`, 'Write the value without a tag.', at)
    if (isSeq(node)) {
      const list: YamlList = { kind: 'list', at, size: 1, items: [] }
      for (const item of node.items) {
        const built = this.build(item, depth + 1)
        list.items.push(built)
        this.#grow(list, built)
      }
      return list
    }
    if (isMap(node)) return this.#buildMap(node, at, depth)
    if (!isScalar(node)) throw this.#fail('This value cannot be read.', 'Write it as text, a list or a map.', at)
    const { value } = node
    const isPlain = value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    if (!isPlain) throw this.#fail('This value cannot be read.', 'Write it as text in quotes.', at)
    const text = typeof value === 'string' ? value : (node.source ?? String(value ?? ''))
    return { kind: 'scalar', at, size: 1, value, text }
  }

  #buildMap(node: { items: { key: unknown; value: unknown }[] }, at: Position, depth: number): YamlMap {
    const map: YamlMap = { kind: 'map', at, size: 1, entries: new Map() }
    const merged: YamlMap[] = []
    for (const pair of node.items) {
      const keyAt = this.#position(pair.key, at)
      const value = this.build(pair.value, depth + 1)
      if (value.kind === 'scalar' && value.value === null && pair.value === null) value.at = keyAt
      this.#grow(map, value)
      const key = isScalar(pair.key) ? (typeof pair.key.value === 'string' ? pair.key.value : (pair.key.source ?? '')) : null
      if (key === null) throw this.#fail('A key must be text.', 'Write the key as a word.', keyAt)
      if (isScalar(pair.key) && key === '<<' && pair.key.type === 'PLAIN') {
        const sources = value.kind === 'list' ? value.items : [value]
        for (const source of sources) {
          if (source.kind !== 'map') throw this.#fail('<< merges a map, or a list of maps.', 'Give it an alias of a map.', keyAt)
          merged.push(source)
        }
        continue
      }
      const earlier = map.entries.get(key)
      if (earlier) throw this.#fail(`${quote(key)} is set twice; first in line ${earlier.at.line}.`, 'Remove one of them.', keyAt)
      map.entries.set(key, { key, at: keyAt, value })
    }
    for (const source of merged) {
      for (const entry of source.entries.values()) {
        if (map.entries.has(entry.key)) continue
        map.entries.set(entry.key, entry)
        this.#grow(map, entry.value)
      }
    }
    return map
  }

  /** Checked while it grows, because a list of aliases can be larger than memory. */
  #grow(parent: YamlMap | YamlList, child: YamlNode): void {
    parent.size += child.size
    if (parent.size > maxNodes)
      throw this.#fail(`The file has more than ${maxNodes.toLocaleString('en')} values, aliases included.`, sizeHint, parent.at)
  }

  #position(node: unknown, fallback: Position = { line: 1, column: 1 }): Position {
    const offset = isScalar(node) || isCollection(node) || isAlias(node) ? node.range?.[0] : undefined
    if (offset === undefined) return fallback
    const { line, col } = this.#lines.linePos(offset)
    return { line, column: col }
  }
}

const knownTags = new Set(['str', 'int', 'float', 'bool', 'null', 'map', 'seq', 'merge'].map((name) => `tag:yaml.org,2002:${name}`))

const toLineAndColumn = (at: Position | null) => ({ line: at?.line ?? null, column: at?.column ?? null })

const toSentence = (message: string): string => `${message.replace(/\s+/g, ' ').replace(/[.:]*\s*$/, '')}.`

/** A name from the file for a message, shortened and without control characters. */
export function quote(text: string): string {
  const clean = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ')
  return `“${clean.length > 80 ? `${clean.slice(0, 80)}…` : clean}”`
}

/** The tree as plain values. Shared parts stay shared. */
export function toPlainValue(node: YamlNode, known = new Map<YamlNode, unknown>()): unknown {
  if (node.kind === 'scalar') return node.value
  const earlier = known.get(node)
  if (earlier !== undefined) return earlier
  const value =
    node.kind === 'list'
      ? node.items.map((item) => toPlainValue(item, known))
      : // A key named __proto__ becomes an ordinary one.
        Object.fromEntries([...node.entries.values()].map((entry) => [entry.key, toPlainValue(entry.value, known)]))
  known.set(node, value)
  return value
}

/** The position of a path in the tree, or of its last existing part. */
export function findPosition(root: YamlNode, path: readonly PropertyKey[]): Position {
  let node = root
  let at = root.at
  for (const part of path) {
    if (node.kind === 'map') {
      const entry = node.entries.get(String(part))
      if (!entry) return at
      node = entry.value
      at = entry.at
    } else if (node.kind === 'list') {
      const item = node.items[Number(part)]
      if (!item) return at
      node = item
      at = item.at
    } else return at
  }
  return at
}

export function findEntry(node: YamlNode | undefined, key: string): YamlEntry | undefined {
  return node?.kind === 'map' ? node.entries.get(key) : undefined
}
