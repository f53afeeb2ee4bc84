import type { ConfigContext } from './service-draft.ts'
import { quote, type YamlEntry, type YamlMap, type YamlNode } from './yaml-tree.ts'

const maxDepth = 20

/** A service with those that it extends merged in, as compose does: maps by key, lists one after the other, anything else replaced. */
export function resolveExtends(service: YamlMap, name: string, services: YamlMap, file: string, { log }: ConfigContext): YamlMap {
  const walk = (current: YamlMap, path: readonly string[]): YamlMap => {
    const entry = current.entries.get('extends')
    if (!entry) return current
    const label = `services.${path.at(-1)}.extends`
    const target = readTarget(entry.value)
    if (target === undefined) {
      log.reject(entry.at, `${label} is not a service.`, 'Write extends: { service: NAME }.')
      return current
    }
    if (target.file !== null && target.file.replace(/^\.\//, '') !== file) {
      log.reject(entry.at, `${label}: ${quote(target.file)} is another file. Only one file is read.`, `Move the service into ${file}.`)
      return current
    }
    const base = services.entries.get(target.service)?.value
    if (base?.kind !== 'map' || path.includes(target.service) || path.length > maxDepth) {
      const reason = path.includes(target.service) ? 'extends itself' : 'is not a service of this file'
      log.reject(entry.at, `${label}: ${quote(target.service)} ${reason}.`, 'Name another service of the file.')
      return current
    }
    return mergeMaps(walk(base, [...path, target.service]), current, 0)
  }
  return walk(service, [name])
}

function readTarget(node: YamlNode): { service: string; file: string | null } | undefined {
  if (node.kind === 'scalar') return typeof node.value === 'string' ? { service: node.value, file: null } : undefined
  if (node.kind !== 'map') return undefined
  const service = node.entries.get('service')?.value
  const file = node.entries.get('file')?.value
  if (service?.kind !== 'scalar' || service.value === null || (file && file.kind !== 'scalar')) return undefined
  return { service: service.text, file: file?.kind === 'scalar' ? file.text : null }
}

/** These are replaced as a whole. */
const replacedKeys = new Set(['command', 'entrypoint', 'test', 'extends'])
/** These may be a map or a list of `NAME=value`. */
const namedKeys = new Set(['environment', 'args', 'labels'])

function mergeMaps(base: YamlMap, over: YamlMap, depth: number): YamlMap {
  const entries = new Map<string, YamlEntry>(base.entries)
  entries.delete('extends')
  for (const entry of over.entries.values()) {
    if (entry.key === 'extends') continue
    const earlier = entries.get(entry.key)
    const value = earlier === undefined || replacedKeys.has(entry.key) ? entry.value : mergeNodes(entry.key, earlier.value, entry.value, depth)
    entries.set(entry.key, { ...entry, value })
  }
  return { ...over, entries }
}

function mergeNodes(key: string, base: YamlNode, over: YamlNode, depth: number): YamlNode {
  if (namedKeys.has(key)) {
    const first = toNamedMap(base)
    const second = toNamedMap(over)
    if (first && second) return mergeMaps(first, second, depth + 1)
  }
  if (base.kind === 'map' && over.kind === 'map' && depth < maxDepth) return mergeMaps(base, over, depth + 1)
  if (base.kind === 'list' && over.kind === 'list') return { ...over, items: [...base.items, ...over.items] }
  return over
}

function toNamedMap(node: YamlNode): YamlMap | undefined {
  if (node.kind === 'map') return node
  if (node.kind !== 'list') return undefined
  const entries = new Map<string, YamlEntry>()
  for (const item of node.items) {
    if (item.kind !== 'scalar') return undefined
    const [, key = '', value] = /^([^=]*)(?:=([\s\S]*))?$/.exec(item.text) ?? []
    const scalar: YamlNode = { kind: 'scalar', at: item.at, size: 1, value: value ?? null, text: value ?? '' }
    entries.set(key, { key, at: item.at, value: scalar })
  }
  return { kind: 'map', at: node.at, size: node.size, entries }
}
