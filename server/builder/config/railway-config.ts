import { normalizeCronExpression, validateCronExpression } from '../../contract/cron-expression.ts'
import { maxReplicas } from '../../contract/homeport-yaml.ts'
import type { ProjectConfig } from '../../contract/project-config.ts'
import type { SourceFolder } from '../source-folder.ts'
import { parseCommand } from './command.ts'
import { createPathCheck, limitHealthTimeout } from './health-check.ts'
import {
  addService,
  findNamedDockerfile,
  finishPlatformFile,
  mapOf,
  noteOthers,
  numberOf,
  openPlatformFile,
  setSetting,
  textOf,
  textsOf,
} from './platform-file.ts'
import { parseToml } from './toml-tree.ts'
import { parseYaml } from './yaml-tree.ts'

/** railway.json or railway.toml: one service, with how it is built, started and checked. */
export async function readRailwayConfig(file: string, text: string, source: SourceFolder): Promise<ProjectConfig> {
  const context = openPlatformFile(file, source)
  const { log } = context
  const root = file.endsWith('.toml') ? parseToml(text, log) : parseYaml(text, log)
  const map = mapOf(root)
  if (map) noteOthers(map, ['build', 'deploy'], ['$schema'], context)
  const draft = addService('web', root.at, context)
  const { config } = draft

  const build = mapOf(map?.entries.get('build')?.value)
  if (build) noteOthers(build, ['buildCommand', 'dockerfilePath'], ['builder'], context, 'build: ')
  const buildCommand = build?.entries.get('buildCommand')
  if (buildCommand && textOf(buildCommand.value) !== undefined)
    setSetting('build_command', textOf(buildCommand.value) ?? '', buildCommand.at, context)
  const dockerfile = build?.entries.get('dockerfilePath')
  const path = textOf(dockerfile?.value)
  if (dockerfile && path !== undefined && config.source.kind === 'build')
    config.source.dockerfile = await findNamedDockerfile(path, dockerfile.at, context)

  const deploy = mapOf(map?.entries.get('deploy')?.value)
  const read = ['startCommand', 'preDeployCommand', 'healthcheckPath', 'numReplicas', 'cronSchedule', 'restartPolicyType', 'healthcheckTimeout']
  if (deploy) noteOthers(deploy, read, ['restartPolicyMaxRetries', 'runtime', 'region'], context, 'deploy: ')
  const start = textOf(deploy?.entries.get('startCommand')?.value)
  if (start !== undefined) config.command = parseCommand(start)
  const health = textOf(deploy?.entries.get('healthcheckPath')?.value)
  config.replicas = numberOf(deploy?.entries.get('numReplicas')?.value, 1, maxReplicas) ?? null
  if (/^(NEVER|ON_FAILURE)$/.test(textOf(deploy?.entries.get('restartPolicyType')?.value) ?? '')) config.restart = 'on_failure'
  const commands = textsOf(deploy?.entries.get('preDeployCommand')?.value)
  const release = commands.length === 0 ? null : { service: 'web', command: parseCommand(commands.join(' && ')) }

  const schedule = deploy?.entries.get('cronSchedule')
  const expression = textOf(schedule?.value)
  if (schedule && expression !== undefined) {
    const problem = config.command === null ? 'it needs a startCommand' : validateCronExpression(expression)
    if (problem !== undefined) log.note(schedule.at, `cronSchedule has no effect: ${problem}`)
    else {
      config.schedule = normalizeCronExpression(expression)
      config.replicas = null
      return finishPlatformFile(context, null, release)
    }
  }
  const timeout = numberOf(deploy?.entries.get('healthcheckTimeout')?.value, 1, 86_400)
  if (health?.startsWith('/')) config.health_check = createPathCheck(health, timeout && limitHealthTimeout(timeout))
  return finishPlatformFile(context, draft, release)
}
