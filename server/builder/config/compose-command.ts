import type { TemplatePart } from '../../contract/environment-template.ts'
import type { ServiceConfig } from '../../contract/project-config.ts'
import { splitWords } from './command.ts'
import { asPlainText } from './interpolation.ts'
import { readTemplate, withDefaults, type ValueContext } from './node-values.ts'
import type { YamlNode } from './yaml-tree.ts'

const commandHint = 'Write a command as text, or as a list of its words.'

/**
 * A command in compose's notation: text is split into words by the quoting rules of a shell. A variable without a value in `.env` is left to a shell,
 * which takes it from the environment of the service, because a ProjectConfig has no secrets. An empty command is `[]`.
 */
export function readCommand(node: YamlNode | undefined, label: string, config: ServiceConfig, context: ValueContext): string[] | null {
  if (node === undefined || (node.kind === 'scalar' && node.value === null)) return null
  const words = node.kind === 'scalar' ? splitText(node.text) : node.kind === 'list' ? readList(node.items) : undefined
  if (words === undefined) {
    context.log.reject(node.at, `${label} is not a command.`, commandHint)
    return null
  }
  return fillCommand(words, node, label, config, context) ?? null
}

/** Fills in the variables of a command's words. */
export function fillCommand(
  words: readonly string[],
  node: YamlNode,
  label: string,
  config: ServiceConfig,
  context: ValueContext,
): string[] | undefined {
  const templates = words.map((word) => readTemplate(word, node.at, label, context))
  const parts = templates.filter((template) => template !== undefined).map(withDefaults)
  if (parts.length < words.length) return undefined
  const plain = parts.map(asPlainText)
  if (!plain.includes(null)) return plain.filter((word) => word !== null)
  const [program = '', flag] = plain
  const isShell = program !== null && /^(\/bin\/|\/usr\/bin\/)?(ba|da|a)?sh$/.test(program) && flag !== null && /^-[a-z]*c$/.test(flag ?? '')
  passVariables(parts, config)
  if (isShell) return parts.map((word, index) => (index === 2 ? toShellText(word, false) : (asPlainText(word) ?? toShellText(word, false))))
  if (program === null || program.startsWith('-') || program === '') {
    const names = [...new Set(parts.flat().flatMap((part) => (typeof part === 'string' ? [] : [part.variable])))].join(', ')
    context.log.reject(
      node.at,
      `${label}: ${names} ${names.includes(',') ? 'have' : 'has'} no value.`,
      `Add ${names} to a .env file in the source, or write a default, such as \${NAME:-value}.`,
    )
    return undefined
  }
  context.log.note(node.at, `${label} is run by /bin/sh, which fills in the variables of the service.`)
  return ['/bin/sh', '-c', `exec ${parts.map((word) => toShellText(word, true)).join(' ')}`]
}

const splitText = (text: string): string[] | undefined => splitWords(text) ?? undefined

function readList(items: readonly YamlNode[]): string[] | undefined {
  const words = items.map((item) => (item.kind === 'scalar' && item.value !== null ? item.text : undefined))
  return words.includes(undefined) ? undefined : words.filter((word) => word !== undefined)
}

/** Makes the variables known to the container, even if it gets none of the project's. */
function passVariables(words: readonly TemplatePart[][], config: ServiceConfig): void {
  for (const part of words.flat()) {
    if (typeof part === 'string' || Object.hasOwn(config.environment, part.variable)) continue
    config.environment_templates[part.variable] ??= [part]
  }
}

/** The text for a shell: plain text quoted if asked for, variables as `${NAME}`. */
function toShellText(parts: readonly TemplatePart[], isQuoted: boolean): string {
  if (!isQuoted) return parts.map((part) => (typeof part === 'string' ? part : `\${${part.variable}}`)).join('')
  const text = asPlainText(parts)
  if (text !== null) return /^[\w@%+=:,./-]+$/.test(text) ? text : quoteWord(text)
  return parts.map((part) => (typeof part === 'string' ? quoteWord(part) : `"\${${part.variable}}"`)).join('')
}

const quoteWord = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
