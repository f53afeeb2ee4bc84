import { parseProcfile } from '../procfile.ts'
import { ConfigLog } from './config-failure.ts'
import { parseYaml, type YamlNode } from './yaml-tree.ts'

const maxDepth = 4

/**
 * The lines of a file in YAML or JSON, or of a Procfile, by path: of each key, of each item of a list under its text (`managed.redis`), and of each
 * process. The file was read without problems before.
 */
export function findLines(file: string, text: string): Record<string, number> {
  if (/(^|\/)Procfile$/.test(file)) return Object.fromEntries(parseProcfile(text).processes.map(({ name, line }) => [`services.${name}`, line]))
  if (!/\.(ya?ml|json)$/.test(file)) return {}
  const lines: [string, number][] = []
  const walk = (node: YamlNode, path: string, depth: number): void => {
    if (node.kind === 'list') for (const item of node.items) if (item.kind === 'scalar') lines.push([`${path}.${item.text}`, item.at.line])
    if (node.kind !== 'map' || depth > maxDepth) return
    for (const { key, at, value } of node.entries.values()) {
      const inner = path === '' ? key : `${path}.${key}`
      lines.push([inner, at.line])
      walk(value, inner, depth + 1)
    }
  }
  walk(parseYaml(text, new ConfigLog(file)), '', 1)
  return Object.fromEntries(lines)
}

/** Such as `compose.yaml line 12`: the line of the first of these keys that is in the file, else the file. */
export function formatOrigin(file: string, lines: Record<string, number>, ...paths: string[]): string {
  const line = paths.map((path) => lines[path]).find((found) => found !== undefined)
  return line === undefined ? file : `${file} line ${line}`
}
