import type { TemplatePart } from '../../contract/environment-template.ts'
import type { Position } from './config-failure.ts'
import { addDefaults, asPlainText, parseTemplate } from './interpolation.ts'
import type { ConfigContext } from './service-draft.ts'
import { quote, type YamlEntry, type YamlMap, type YamlNode } from './yaml-tree.ts'

/** Values of a file whose text may contain variables of its `.env`. */
export interface ValueContext extends ConfigContext {
  /** The `.env` of the source. */
  defaults: ReadonlyMap<string, string>
}

const templateHint = 'Write ${NAME} or ${NAME:-default}, and $$ for a dollar sign.'

/** The parts of a text, with the values of `.env` as defaults; undefined and a problem when its notation is invalid. */
export function readTemplate(text: string, at: Position, label: string, { log, defaults }: ValueContext): TemplatePart[] | undefined {
  const template = parseTemplate(text)
  if (template !== null) return addDefaults(template.parts, defaults)
  log.reject(at, `${label}: ${quote(text)} has an invalid \${...}.`, templateHint)
  return undefined
}

/**
 * The text of a value whose variables all have a value in `.env` or a default. Elsewhere than in `environment` the project's variables are not
 * used, because they are secrets that must not get into an image or an argument.
 */
export function readText(node: YamlNode | undefined, label: string, context: ValueContext): string | undefined {
  if (node === undefined || (node.kind === 'scalar' && node.value === null)) return undefined
  if (node.kind !== 'scalar') {
    context.log.reject(node.at, `${label} is not text.`, 'Write a single value.')
    return undefined
  }
  const parts = readTemplate(node.text, node.at, label, context)
  if (parts === undefined) return undefined
  const text = asPlainText(withDefaults(parts))
  if (text !== null) return text
  const missing = [...new Set(namesIn(withDefaults(parts)))].join(', ')
  context.log.reject(
    node.at,
    `${label}: ${missing} ${missing.includes(',') ? 'have' : 'has'} no value.`,
    `Add ${missing} to a .env file in the source, or write a default, such as \${${missing.split(',')[0]}:-value}. Variables of the project are only used in environment.`,
  )
  return undefined
}

/** Uses the default of each variable that has one. */
export function withDefaults(parts: readonly TemplatePart[]): TemplatePart[] {
  return parts.flatMap((part): TemplatePart[] => {
    if (typeof part === 'string') return [part]
    if (part.operator === '-' || part.operator === ':-') return withDefaults(part.word)
    // Nothing sets the variable, so the text for a set variable is left out.
    return part.operator === null ? [part] : []
  })
}

const namesIn = (parts: readonly TemplatePart[]): string[] => parts.flatMap((part) => (typeof part === 'string' ? [] : [part.variable]))

/** A text in which a variable without a value is left out. */
export function readLooseText(node: YamlNode | undefined, { defaults }: ValueContext): string {
  const template = node?.kind === 'scalar' && node.value !== null ? parseTemplate(node.text) : null
  return withDefaults(addDefaults(template?.parts ?? [], defaults))
    .filter((part) => typeof part === 'string')
    .join('')
}

export function readBoolean(node: YamlNode | undefined, label: string, context: ValueContext): boolean | undefined {
  const text = readText(node, label, context)?.toLowerCase()
  if (text === undefined) return undefined
  if (['true', 'yes', 'on', 'y', '1'].includes(text)) return true
  if (['false', 'no', 'off', 'n', '0', ''].includes(text)) return false
  context.log.reject(node!.at, `${label} is neither true nor false.`, 'Write true or false.')
  return undefined
}

/** The items of a list, or the single value; empty when there is none. */
export function readItems(node: YamlNode | undefined, label: string, context: ConfigContext): YamlNode[] {
  if (node === undefined || (node.kind === 'scalar' && node.value === null)) return []
  if (node.kind === 'list') return node.items
  if (node.kind === 'scalar') return [node]
  context.log.reject(node.at, `${label} is not a list.`, 'Write a list.')
  return []
}

/** The entries of a map, without `x-` keys; empty when there is none. */
export function readEntries(node: YamlNode | undefined, label: string, context: ConfigContext): YamlEntry[] {
  if (node === undefined || (node.kind === 'scalar' && node.value === null)) return []
  if (node.kind === 'map') return [...node.entries.values()].filter(({ key }) => !key.startsWith('x-'))
  context.log.reject(node.at, `${label} is not a map.`, 'Write a map of keys.')
  return []
}

export function valueOf(map: YamlMap, key: string): YamlNode | undefined {
  return map.entries.get(key)?.value
}
