import type { PlanFact, SourcePlan } from '../contract/build-plan.ts'
import { type ManagedName, managedNames } from '../contract/managed-names.ts'
import type { ProjectConfig, ServiceConfig } from '../contract/project-config.ts'
import { describeManaged, getPreset, isPresetName } from '../contract/service-presets.ts'
import type { PlannedBuild, PlannedService, PlannedSource } from '../contract/source-plans.ts'
import { ConfigFailure } from './config/config-failure.ts'
import { formatOrigin } from './config/config-lines.ts'
import { formatHomeportYaml } from './config/format-config.ts'
import { requireFreeNames } from './config/managed.ts'
import { createWebService } from './config/service-draft.ts'
import { DetectFailure } from './detect-failure.ts'
import { findApps } from './find-apps.ts'
import type { PlanOptions } from './plan-build.ts'
import { planApps, planSource } from './plan-source.ts'
import { openSourceFolder } from './source-folder.ts'

export interface DescribeOptions extends PlanOptions {
  /** Folders to plan as services of one project, regardless of a configuration file. */
  chosen_apps?: readonly string[]
  /** Names of the variables that the project has. */
  variables: readonly string[]
  health_path: string
  /** Managed services that the project has. */
  managed?: readonly ManagedName[]
  /** Address of the JSON Schema in the file that can be saved. */
  schema_url: string
}

/** The plan of a source as data, with the origin of each fact. Anything that prevents a deployment is a problem of the plan. Only reads files. */
export async function describeSource(options: DescribeOptions): Promise<Omit<PlannedSource, 'commit'>> {
  const { settings, chosen_apps = [] } = options
  const root_directory = settings.root_directory.trim() || '.'
  const empty = {
    root_directory,
    file: null,
    services: [],
    builds: [],
    managed: [],
    facts: [],
    missing_variables: [],
    notes: [],
    homeport_yaml: null,
  }
  try {
    const plan = chosen_apps.length > 0 ? await planApps(options, chosen_apps) : await planSource(options)
    const isDetected = plan.config?.file == null
    return {
      ...empty,
      ...(await describePlan(plan, options)),
      problems: [],
      apps: isDetected && root_directory === '.' ? await findApps(options) : [],
    }
  } catch (error) {
    if (!(error instanceof DetectFailure)) throw error
    const problems =
      error instanceof ConfigFailure
        ? error.problems.map(({ line, message, hint }) => ({ file: error.file, line, message, hint }))
        : [{ file: null, line: null, message: error.message, hint: error.hint }]
    const file = error instanceof ConfigFailure ? error.file : null
    return { ...empty, file, problems, apps: file === null ? await findApps(options).catch(() => []) : [] }
  }
}

async function describePlan(plan: SourcePlan, options: DescribeOptions) {
  const { config } = plan
  const main: ServiceConfig = { ...createWebService(), health_check: null }
  const services = config?.services ?? [main]
  const source = await openSourceFolder(options.folder)
  const builds: PlannedBuild[] = []
  for (const { services: names, plan: build } of plan.builds) {
    const { work, facts, explanation, framework } = build
    const said = new Set(facts.map(({ sentence }) => sentence))
    const text = work.kind === 'dockerfile' ? (work.text ?? (await source.read(work.dockerfile))) : null
    // A command in the file replaces that of the build.
    const isStarted = names.length === 0 || names.some((name) => services.find((service) => service.name === name)?.command === null)
    builds.push({
      services: names.length > 0 ? names : [main.name],
      framework,
      facts: facts.filter((fact) => isStarted || fact.name !== 'start_command').map(withoutSentence),
      notes: explanation.filter((sentence) => !said.has(sentence)),
      dockerfile: work.kind === 'dockerfile' && text !== null ? { path: work.dockerfile, text, is_generated: work.text !== null } : null,
    })
  }
  const required = config?.required_variables ?? []
  const saved = config ?? { ...emptyConfig, main: main.name, services }
  const managed = describeManagedServices(config, options.managed ?? [])
  return {
    file: config?.file ?? null,
    services: services.map((service) => describeService(service, config, builds, options)),
    builds,
    managed,
    facts: config ? describeWhole(config) : [],
    missing_variables: required.filter((name) => !options.variables.includes(name)),
    notes: config?.explanation.filter((sentence) => config.file !== null && sentence.startsWith(config.file)) ?? [],
    homeport_yaml: formatHomeportYaml(
      { ...saved, managed: managed.map(({ name }) => name) },
      {
        schema_url: options.schema_url,
        build_notes: new Map(plan.builds.map(({ services: names, plan: build }) => [names[0] ?? main.name, build.explanation.slice(0, 1)])),
      },
    ),
  }
}

const emptyConfig: ProjectConfig = {
  file: null,
  services: [],
  main: null,
  release: null,
  managed: null,
  required_variables: [],
  settings: {},
  lines: {},
  explanation: [],
}

const withoutSentence = ({ name, value, origin }: PlanFact) => ({ name, value, origin })

function describeService(
  service: ServiceConfig,
  config: ProjectConfig | null,
  builds: readonly PlannedBuild[],
  options: DescribeOptions,
): PlannedService {
  const { name, kind, source, is_public } = service
  const index = builds.findIndex(({ services }) => services.includes(name))
  const file = config?.file ?? null
  const at = (...keys: string[]) =>
    file === null ? 'default' : formatOrigin(file, config?.lines ?? {}, ...keys.map((key) => `services.${name}.${key}`), `services.${name}`)
  const facts: PlannedService['facts'] = []
  const add = (fact: PlanFact['name'], value: string | null, origin: string) => void (value !== null && facts.push({ name: fact, value, origin }))
  if (source.kind === 'image') add('image', source.image, at('image'))
  else if (source.directory !== '.') add('directory', source.directory, at('build'))
  add('start_command', service.command?.join(' ') ?? null, at('command'))
  add('schedule', service.schedule === null ? null : [service.schedule, service.time_zone ?? 'UTC'].join(', '), at('schedule'))
  const build = builds[index]
  const isStatic = build?.facts.some((fact) => fact.name === 'output_directory') ?? false
  if (service.port !== null) add('port', String(service.port), at('port', 'ports', 'expose'))
  else if (kind === 'web' && !isStatic && !build?.facts.some((fact) => fact.name === 'port')) add('port', 'PORT', 'default')
  for (const port of service.ports ?? []) add('port', `${port}, with its own address`, at('ports'))
  const check = service.health_check
  if (check)
    add(
      'health_check',
      check.kind === 'path' ? `GET ${check.path}${check.timeout_s === undefined ? '' : `, up to ${check.timeout_s} s`}` : check.command.join(' '),
      at('healthcheck'),
    )
  else if (kind === 'web' && !isStatic) add('health_check', `GET ${options.health_path}`, options.health_path === '/' ? 'default' : 'project setting')
  for (const volume of service.volumes) add('volume', `${volume.name}: ${volume.path}`, at('volumes'))
  return {
    name,
    kind,
    is_main: config === null || config.main === name,
    is_public,
    build: index === -1 ? null : index,
    depends_on: service.depends_on.map((one) => one.service),
    volumes: [...new Set(service.volumes.map((volume) => volume.name))],
    facts,
  }
}

/** What the file lists, then what the project has besides. A service of the source under the name of one is refused, as a deployment does. */
function describeManagedServices(config: ProjectConfig | null, added: readonly ManagedName[]): PlannedSource['managed'] {
  requireFreeNames(config, added)
  const listed = config?.managed ?? []
  return managedNames
    .filter((name) => listed.includes(name) || added.includes(name))
    .map((name) => {
      const { label, variables } = describeManaged(name)
      const is_listed = listed.includes(name)
      return {
        name,
        label,
        image: isPresetName(name) ? getPreset(name).image : null,
        variables,
        is_listed,
        is_added: added.includes(name),
        origin: is_listed ? formatOrigin(config?.file ?? '', config?.lines ?? {}, `managed.${name}`, 'managed') : 'project setting',
      }
    })
}

/** The release command, and the settings of the project that the file sets. */
function describeWhole({ file, lines, release, settings }: ProjectConfig): PlannedSource['facts'] {
  const at = (key: string) => (file === null ? 'default' : formatOrigin(file, lines, key))
  return [
    ...(release ? [{ name: 'release_command' as const, value: release.command.join(' '), origin: at('release') }] : []),
    ...Object.entries(settings).map(([name, value]) => ({ name: 'setting' as const, value: `${name}: ${String(value)}`, origin: at(name) })),
  ]
}
