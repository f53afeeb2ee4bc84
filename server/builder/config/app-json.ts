import { normalizeCronExpression, validateCronExpression } from '../../contract/cron-expression.ts'
import { validateKey } from '../../contract/env-var-rules.ts'
import { maxReplicas } from '../../contract/homeport-yaml.ts'
import type { ProjectConfig } from '../../contract/project-config.ts'
import type { SourceFolder } from '../source-folder.ts'
import { parseCommand } from './command.ts'
import {
  addDefaultVariables,
  addService,
  finishPlatformFile,
  mapOf,
  mapsOf,
  noteOthers,
  numberOf,
  openPlatformFile,
  type PlatformFile,
  textOf,
} from './platform-file.ts'
import { parseYaml, quote, type YamlMap, type YamlNode } from './yaml-tree.ts'

const described = 'name description keywords website repository logo success_url $schema'.split(' ')

/** Heroku's app.json, or Dokku's. Expo has a file of the same name, which says nothing about processes. */
export function isHerokuFile(root: YamlNode): root is YamlMap {
  return (
    root.kind === 'map' &&
    !root.entries.has('expo') &&
    ['env', 'formation', 'scripts', 'cron', 'addons', 'buildpacks'].some((key) => root.entries.has(key))
  )
}

/** An app.json without a Procfile: one web service with its variables. */
export async function readAppJson(file: string, text: string, source: SourceFolder): Promise<ProjectConfig | null> {
  const context = openPlatformFile(file, source)
  const root = parseYaml(text, context.log)
  if (!isHerokuFile(root)) return null
  const main = addService('web', root.at, context)
  applyAppJson(root, context)
  readCronJobs(root, context)
  return finishPlatformFile(context, main)
}

/** Adds the variables and the numbers of app.json to the services. */
export function applyAppJson(root: YamlMap, context: PlatformFile): void {
  const { log } = context
  noteOthers(root, ['env', 'formation', 'cron', 'scripts', 'addons'], described, context, 'app.json: ')
  for (const { key, value } of mapOf(root.entries.get('env')?.value)?.entries.values() ?? []) readVariable(key, value, context)
  for (const { key, value } of mapOf(root.entries.get('formation')?.value)?.entries.values() ?? []) {
    const draft = context.services.find(({ config }) => config.name === key)
    const quantity = numberOf(mapOf(value)?.entries.get('quantity')?.value, 0, maxReplicas)
    if (quantity === 0 && key !== 'web') {
      context.services = context.services.filter((one) => one !== draft)
      log.note(null, `app.json: ${quote(key)} is not started, because its quantity is 0`)
    } else if (draft && quantity !== undefined) draft.config.replicas = Math.max(1, quantity)
  }
  for (const { key } of mapOf(root.entries.get('scripts')?.value)?.entries.values() ?? [])
    log.note(null, `app.json: the script ${quote(key)} is not run. To run it before each version gets traffic, add release to the Procfile`)
  const addons = root.entries.get('addons')?.value
  for (const addon of addons?.kind === 'list' ? addons.items : []) {
    const name = textOf(addon) ?? textOf(mapOf(addon)?.entries.get('plan')?.value) ?? ''
    if (/postgres/i.test(name)) log.note(null, `app.json: ${quote(name)} is not added. homeport db create SLUG adds a PostgreSQL database`)
    else log.note(null, `app.json: ${quote(name)} is not added. Set the variables of such a service in the project`)
  }
}

function readVariable(name: string, node: YamlNode, context: PlatformFile): void {
  if (validateKey(name) !== undefined) {
    context.log.note(null, `app.json: the variable ${quote(name)} is left out. ${validateKey(name)}`)
    return
  }
  const value = node.kind === 'map' ? textOf(node.entries.get('value')?.value) : textOf(node)
  const required = mapOf(node)?.entries.get('required')?.value
  const isGenerated = mapOf(node)?.entries.has('generator') ?? false
  if (value !== undefined) addDefaultVariables(context.services, name, value)
  else if (!(required?.kind === 'scalar' && required.value === false)) {
    context.required_variables.add(name)
    if (isGenerated) context.log.note(null, `app.json: ${name} is not generated. Set it to a random value in the project`)
  }
}

/** Dokku's `cron`: commands at given times. */
export function readCronJobs(root: YamlMap, context: PlatformFile): void {
  for (const [index, job] of mapsOf(root.entries.get('cron')?.value).entries()) {
    const command = textOf(job.entries.get('command')?.value)
    const schedule = textOf(job.entries.get('schedule')?.value)
    const problem = schedule === undefined ? 'it has no schedule' : validateCronExpression(schedule)
    if (command === undefined || schedule === undefined || problem !== undefined) {
      context.log.note(null, `app.json: the cron job ${index + 1} has no effect: ${problem ?? 'it has no command'}`)
      continue
    }
    const { config } = addService(`cron-${index + 1}`, job.at, context)
    config.command = parseCommand(command)
    config.schedule = normalizeCronExpression(schedule)
  }
}
