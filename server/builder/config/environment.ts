import { parseDotenvLines } from '../../contract/dotenv.ts'
import { validateServiceVariable } from '../../contract/homeport-yaml.ts'
import type { ServiceConfig } from '../../contract/project-config.ts'
import type { Position } from './config-failure.ts'
import { addDefaults, asPlainText, parseTemplate } from './interpolation.ts'
import { readSourceFile } from './source-paths.ts'
import type { ConfigContext } from './service-draft.ts'
import { quote, type YamlNode } from './yaml-tree.ts'

export interface NamedValue {
  name: string
  /** null: the name has no value and passes on the project's variable. */
  value: string | null
  at: Position
}

/** A map of names, or a list of `NAME=value`, in the order of the file. Anything else is a problem. */
export function readNamedValues(node: YamlNode, context: ConfigContext, label: string): NamedValue[] {
  const { log } = context
  if (node.kind === 'scalar' && node.value === null) return []
  if (node.kind === 'map') {
    return [...node.entries.values()].flatMap(({ key, at, value }) => {
      if (value.kind === 'scalar') return [{ name: key, value: value.value === null ? null : value.text, at }]
      log.reject(at, `${label}.${quote(key)} is not text.`, 'Write one value for each name.')
      return []
    })
  }
  if (node.kind === 'list') {
    return node.items.flatMap((item) => {
      if (item.kind === 'scalar' && item.value !== null) {
        const [, name = '', value] = /^([^=]*)(?:=([\s\S]*))?$/.exec(item.text) ?? []
        return [{ name: name.trim(), value: value ?? null, at: item.at }]
      }
      log.reject(item.at, `${label} has an item that is not text.`, 'Write each item as NAME=value.')
      return []
    })
  }
  log.reject(node.at, `${label} is neither a map nor a list.`, 'Write NAME: value, or a list of NAME=value.')
  return []
}

/** Adds variables to a service. `defaults` are those of a `.env` file of the source. */
export function addEnvironment(
  config: ServiceConfig,
  values: readonly NamedValue[],
  defaults: ReadonlyMap<string, string>,
  context: ConfigContext,
): void {
  for (const { name, value, at } of values) {
    const label = `services.${config.name}.environment`
    const problem = validateServiceVariable(name, value ?? '')
    if (problem !== undefined) {
      context.log.reject(at, `${label}: ${quote(name)} is not a variable. ${problem}`, 'Rename or remove the variable.')
      continue
    }
    if (value === null) {
      const fallback = defaults.get(name)
      setTemplate(config, name, [
        fallback === undefined ? { variable: name, operator: null, word: [] } : { variable: name, operator: '-', word: [fallback] },
      ])
      continue
    }
    const template = parseTemplate(value)
    if (template === null) {
      context.log.reject(at, `${label}: the value of ${name} has an invalid \${...}.`, 'Write ${NAME} or ${NAME:-default}, and $$ for a dollar sign.')
      continue
    }
    for (const required of template.required) if (!defaults.has(required)) context.required_variables.add(required)
    const parts = addDefaults(template.parts, defaults)
    const text = asPlainText(parts)
    if (text === null) setTemplate(config, name, parts)
    else setText(config, name, text)
  }
}

function setText(config: ServiceConfig, name: string, value: string): void {
  delete config.environment_templates[name]
  config.environment[name] = value
}

function setTemplate(config: ServiceConfig, name: string, parts: ServiceConfig['environment_templates'][string]): void {
  delete config.environment[name]
  config.environment_templates[name] = parts
}

/** Adds the variables of a file of the source. Project variables of the same names override them, because anyone with the source can read it. */
export async function addEnvironmentFile(
  config: ServiceConfig,
  path: string,
  at: Position,
  isRequired: boolean,
  context: ConfigContext,
): Promise<void> {
  const label = `services.${config.name}.env_file`
  const file = await readSourceFile(path, at, label, context)
  if (file === undefined) return
  if (file === null) {
    // A prebuilt image gets no variables of the project but those that its service names.
    const advice =
      config.source.kind === 'image' ? 'Set its variables in the project, and name each in environment.' : 'Set its variables in the project.'
    if (isRequired) context.log.note(at, `${label}: ${quote(path)} is not in the source. ${advice}`)
    return
  }
  for (const { key, value } of parseDotenvLines(file).entries) {
    const problem = validateServiceVariable(key, value)
    if (problem === undefined) setTemplate(config, key, [{ variable: key, operator: '-', word: value === '' ? [] : [value] }])
    else context.log.note(at, `${label}: ${quote(key)} of ${quote(path)} is left out. ${problem}`)
  }
}

/** PORT belongs to the platform: a value in the file is the port on which the service listens. */
export function takePort(config: ServiceConfig): void {
  const text = config.environment['PORT']
  delete config.environment['PORT']
  const template = config.environment_templates['PORT']
  delete config.environment_templates['PORT']
  const fallback = template?.length === 1 && typeof template[0] === 'object' ? asPlainText(template[0].word) : null
  const port = /^\d{1,5}$/.test(text ?? fallback ?? '') ? Number(text ?? fallback) : 0
  if (port > 0 && port < 65_536) config.port ??= port
}
