import { posix } from 'node:path'
import type { BuildPlan, BuildSettings, DockerfilePlan, SourcePlan } from '../contract/build-plan.ts'
import type { ProjectConfig, ServiceConfig } from '../contract/project-config.ts'
import { toServiceName } from './config/platform-file.ts'
import { createWebService, noConfig } from './config/service-draft.ts'
import { readProjectConfig } from './config/read-project-config.ts'
import { DetectFailure } from './detect-failure.ts'
import { formatOrigin } from './config/config-lines.ts'
import { explain, projectOrigins, type SettingOrigins } from './plan-facts.ts'
import { planBuild, type PlanOptions } from './plan-build.ts'
import { joinInside, openSourceFolder, type SourceFolder } from './source-folder.ts'

/** Plans several folders of a source as services of one project. The one named web, else the first, answers on the project's address. */
export async function planApps(options: PlanOptions, directories: readonly string[]): Promise<SourcePlan> {
  const services: ServiceConfig[] = []
  const source = await openSourceFolder(options.folder)
  for (const directory of new Set(directories.map((path) => joinInside('.', path)))) {
    if (!(await source.isFolder(directory)))
      throw new DetectFailure(`The source has no folder “${directory}”, which is one of the project’s apps.`, 'Change apps in the project settings.')
    const base = toServiceName(posix.basename(directory)) ?? 'app'
    const name = services.some((service) => service.name === base) ? `${base.slice(0, 36)}-${services.length + 1}` : base
    const service = createWebService()
    services.push({
      ...service,
      name,
      source: { ...service.source, kind: 'build', directory, dockerfile: null, target: null, arguments: {}, files: [] },
    })
  }
  const main = services.find(({ name }) => name === 'web') ?? services[0]
  const explanation = [`Apps of this source as services: ${services.map(({ name }) => name).join(', ')}`]
  return planServices(options, { ...noConfig, services, main: main?.name ?? null, explanation }, '.')
}

/**
 * Plans the services of a source: its configuration file, and a build for each different thing to build. A source without such a file is
 * one web service that is detected, or those of the selected apps. Only reads files. Throws DetectFailure.
 */
export async function planSource(options: PlanOptions): Promise<SourcePlan> {
  const { folder, settings, apps = [] } = options
  const root = joinInside('.', settings.root_directory.trim() || '.')
  const source = await openSourceFolder(folder)
  // Throws for a link that leaves the source; planBuild explains a folder that does not exist.
  const config = (await source.isFolder(root)) ? await readProjectConfig(posix.join(folder, root)) : undefined
  if (!config || config.services.length === 0) {
    if (root === '.' && apps.length > 0) return planApps(options, apps)
    const plan = await planBuild(options)
    return { config: null, builds: [{ services: [], plan: { ...plan, explanation: [...(config?.explanation ?? []), ...plan.explanation] } }] }
  }
  return planServices(options, config, root)
}

async function planServices(options: PlanOptions, config: ProjectConfig, root: string): Promise<SourcePlan> {
  const source = await openSourceFolder(options.folder)
  const builtServices = config.services.filter(needsBuild)
  const groups = Map.groupBy(builtServices, (service) => JSON.stringify(service.source))
  const main = config.services.find(({ name }) => name === config.main)
  const builds: SourcePlan['builds'] = []
  for (const services of groups.values()) {
    const plan = await addFiles(await planService(options, config, root, services), services, root, source)
    const build = { services: services.map(({ name }) => name), plan }
    if (main && services.includes(main)) builds.unshift(build)
    else builds.push(build)
  }
  return { config, builds }
}

/** A prebuilt image is only built to copy files of the source into it. */
const needsBuild = ({ source }: ServiceConfig): boolean => source.kind === 'build' || source.files.length > 0

async function planService(options: PlanOptions, config: ProjectConfig, root: string, services: ServiceConfig[]): Promise<BuildPlan> {
  const [{ name, source }] = services as [ServiceConfig]
  if (source.kind === 'image') return planImageWithFiles(root, source)
  const fileSettings = pickBuildSettings(config.settings)
  const settings = { ...options.settings, ...fileSettings, root_directory: joinInside(root, source.directory) }
  const { dockerfile, target } = source
  try {
    return await planBuild({
      ...options,
      settings,
      setting_origins: createOrigins(fileSettings, config),
      dockerfile: dockerfile === null ? null : joinInside(root, dockerfile),
      dockerfile_options: { target, arguments: source.arguments },
      needs_start_command: services.some(({ command, entrypoint }) => command === null && entrypoint === null),
    })
  } catch (error) {
    if (!(error instanceof DetectFailure)) throw error
    throw new DetectFailure(`The service “${name}” cannot be built: ${error.message}`, error.hint)
  }
}

/** The origin of a setting in the file is the file, with the line if known. */
function createOrigins(set: Partial<BuildSettings>, { file, lines }: ProjectConfig): SettingOrigins {
  const originOf = (name: keyof SettingOrigins) => (set[name] === undefined ? projectOrigins[name] : formatOrigin(file ?? '', lines, name))
  return { node_version: originOf('node_version'), install_command: originOf('install_command'), build_command: originOf('build_command') }
}

function pickBuildSettings(settings: ProjectConfig['settings']): Partial<BuildSettings> {
  const names = ['node_version', 'install_command', 'build_command'] as const
  return Object.fromEntries(names.flatMap((name) => (settings[name] === undefined ? [] : [[name, String(settings[name])]])))
}

/** Adds the files that a compose file mounts to the Dockerfile of the services that are built. */
async function addFiles(plan: BuildPlan, services: ServiceConfig[], root: string, folder: SourceFolder): Promise<BuildPlan> {
  const [{ name, source }] = services as [ServiceConfig]
  const { work } = plan
  if (source.kind === 'image' || source.files.length === 0) return plan
  if (work.kind !== 'dockerfile') {
    throw new DetectFailure(
      `The service “${name}” mounts ${source.files[0]?.source}, which its build cannot copy.`,
      'Build the service with a Dockerfile, or use a variable of the project instead.',
    )
  }
  const added_files: NonNullable<DockerfilePlan['added_files']> = []
  const files: typeof source.files = []
  for (const file of source.files) {
    const inSource = joinInside(root, file.source)
    const inContext = posix.relative(work.context_directory, inSource) || '.'
    // Not in the context, where the Dockerfile could copy it into a folder that the app serves.
    if (inContext === '..' || inContext.startsWith('../')) added_files.push({ source: inSource, path: file.path })
    else files.push({ source: inContext, path: file.path })
  }
  const text = (work.text ?? (await folder.read(work.dockerfile)) ?? '').trimEnd()
  const stage = work.target === null ? [] : [`FROM ${work.target} AS homeport-files`]
  const target = work.target === null ? null : 'homeport-files'
  const explanation = [...plan.explanation, `${source.files.map((file) => file.source).join(', ')} of the source is copied into the image`]
  if (files.length === 0) return { ...plan, explanation, work: { ...work, added_files } }
  return { ...plan, explanation, work: { ...work, text: [text, ...stage, ...createCopies(files), ''].join('\n'), target, added_files } }
}

const createCopies = (files: readonly { source: string; path: string }[]): string[] =>
  files.map((file) => `COPY ${JSON.stringify([file.source, file.path])}`)

function planImageWithFiles(root: string, { image, files }: { image: string; files: { source: string; path: string }[] }): BuildPlan {
  return {
    framework: 'image',
    ...explain([
      { name: 'image', value: image, origin: 'image', sentence: `${image}, with ${files.map((file) => file.source).join(', ')} of the source` },
    ]),
    work: {
      kind: 'dockerfile',
      context_directory: root,
      dockerfile: joinInside(root, 'Dockerfile'),
      text: [`FROM ${image}`, ...createCopies(files), ''].join('\n'),
      ignored: [],
      port: null,
      target: null,
      arguments: {},
    },
  }
}
