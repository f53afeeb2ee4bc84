import { posix } from 'node:path'
import type { BuildPlan, BuildSettings, PlanFact } from '../contract/build-plan.ts'
import { type DetectionContext, type FrameworkDetection, getStartCommand } from './detector.ts'
import { DetectFailure } from './detect-failure.ts'
import { type DockerfileOptions, planDockerfile } from './dockerfile.ts'
import { findInstallInputs, createInstallKey } from './install-inputs.ts'
import { languages } from './languages/index.ts'
import { planToolchain } from './languages/plan-toolchain.ts'
import { type BuildTarget, buildTargets, type LanguageBuild, openLanguageApp } from './languages/language.ts'
import { readManifest, type Manifest } from './manifest.ts'
import { chooseNodeVersion } from './node-version.ts'
import {
  explain,
  findStartOrigin,
  frameworkEntries,
  languageEntries,
  projectOrigins,
  readDockerfileFacts,
  type SettingOrigins,
} from './plan-facts.ts'
import { choosePackageManager, parseManagerName } from './package-manager.ts'
import { nodeServer, readProcfileCommand, serverFrameworks } from './server-frameworks.ts'
import { openSourceFolder, joinInside, type SourceFolder } from './source-folder.ts'
import { serverOrStatic, bundler, plainSite, staticSites, vite } from './static-sites.ts'
import { findWorkspace, findDependenciesToBuild, type Workspace } from './workspace.ts'

export interface PlanOptions {
  /** Absolute path of the source. */
  folder: string
  settings: BuildSettings
  /** The origin of settings that are not `auto`. */
  setting_origins?: SettingOrigins
  /** Whether the runtime builds Dockerfiles. If not, an app of another language is built with the toolchains of the machine. */
  builds_dockerfiles?: boolean
  /** The path of the Dockerfile, relative to the source; null: the one in the app's folder, if any. */
  dockerfile?: string | null
  dockerfile_options?: DockerfileOptions
  /** Folders that are services of one project if the source has no configuration file. */
  apps?: readonly string[]
  /** False when a configuration file has the start commands of every service that uses the result. */
  needs_start_command?: boolean
}

/** Inspects a source and plans its build. Only reads files; runs no commands. Throws DetectFailure. */
export async function planBuild(options: PlanOptions): Promise<BuildPlan> {
  const { folder, settings, builds_dockerfiles = true, needs_start_command = true, setting_origins: origins = projectOrigins } = options
  const source = await openSourceFolder(folder)
  const directory = joinInside('.', settings.root_directory.trim() || '.')
  if (!(await source.isFolder(directory))) {
    throw new DetectFailure(
      `The source has no folder “${directory}”.`,
      'Fix root_directory in the project settings. Links that leave the repository are not followed.',
    )
  }
  const dockerfile = await planDockerfile(source, directory, options.dockerfile, options.dockerfile_options)
  const manifest = await readManifest(source, directory)
  if (dockerfile) {
    const overridden = (['node_version', 'install_command', 'build_command'] as const).filter((name) => settings[name] !== 'auto')
    const note = overridden.length > 0 ? [`${overridden.join(', ')} in the project settings have no effect on a Dockerfile`] : []
    const path = dockerfile.work.dockerfile
    const [found = '', ...more] = dockerfile.why
    const facts = readDockerfileFacts((await source.read(path)) ?? '', path)
    return {
      framework: 'dockerfile',
      ...explain([{ name: 'dockerfile', value: path, origin: path, sentence: found }, ...facts, ...more, ...note]),
      work: dockerfile.work,
    }
  }
  const language = await detectLanguage(source, directory, settings, buildTargets[builds_dockerfiles ? 'image' : 'machine'])
  const isNode = language?.framework !== 'bun' && manifest !== null && (await isNodeServer(source, directory, manifest))
  if (language && !isNode) {
    const isSet = { install: settings.install_command !== 'auto', build: settings.build_command !== 'auto' }
    const entries = languageEntries(language, origins, isSet)
    return builds_dockerfiles ? planLanguage(directory, language, entries) : planToolchain(source, directory, language, entries)
  }
  if (!manifest) {
    const detection = await plainSite({ source, directory })
    if (detection) return planWithoutPackages(source, directory, settings, detection, origins)
    throw await createNothingFoundFailure(source, directory)
  }
  return planNode(source, directory, manifest, settings, origins, needs_start_command)
}

async function detectLanguage(source: SourceFolder, directory: string, settings: BuildSettings, target: BuildTarget): Promise<LanguageBuild | null> {
  const app = await openLanguageApp(source, directory, settings, target)
  for (const language of languages) {
    const build = await language(app)
    if (build) return build
  }
  return null
}

/** The package.json of an app in another language only builds its assets. */
async function isNodeServer(source: SourceFolder, directory: string, manifest: Manifest): Promise<boolean> {
  const app: DetectionContext = { source, directory, manifest, script_runner: 'npm', start_runner: 'npm', build_script: manifest.scripts.build ?? '' }
  if (getStartCommand(app) !== null) return true
  for (const detector of serverFrameworks) if (await detector(app)) return true
  return false
}

const planLanguage = (directory: string, { framework, dockerfile, ignored }: LanguageBuild, entries: (PlanFact | string)[]): BuildPlan => ({
  framework,
  ...explain([...entries, 'Built with a generated Dockerfile: homeport dockerfile prints it']),
  work: {
    kind: 'dockerfile',
    context_directory: directory,
    dockerfile: joinInside(directory, 'Dockerfile'),
    text: dockerfile,
    ignored,
    port: null,
    target: null,
    arguments: {},
  },
})

async function planNode(
  source: SourceFolder,
  directory: string,
  manifest: Manifest,
  settings: BuildSettings,
  origins: SettingOrigins,
  needsStart: boolean,
): Promise<BuildPlan> {
  const workspace = await findWorkspace(source, directory, manifest)
  const installSetting = settings.install_command === 'auto' ? null : settings.install_command
  const detected = await choosePackageManager(source, workspace.directory, workspace.manifest)
  const impliedManager = installSetting === null ? null : parseManagerName(installSetting)
  const manager =
    impliedManager !== null && impliedManager !== detected.name
      ? { name: impliedManager, version: null }
      : { name: detected.name, version: detected.version }
  const hasPackages = detected.lock !== null || Object.keys(manifest.all_dependencies).length > 0 || workspace.members.size > 0

  const buildSetting = settings.build_command === 'auto' ? null : settings.build_command
  const script_runner = impliedManager !== null && impliedManager !== detected.name ? impliedManager : detected.script_runner
  const start_runner = manifest.dev_manager === null || manifest.dev_manager === 'npm' ? 'npm' : manager.name
  const app: DetectionContext = {
    source,
    directory,
    manifest,
    script_runner,
    start_runner,
    build_script: buildSetting ?? manifest.scripts.build ?? '',
  }
  const detection = await detectFramework(app, workspace, needsStart)
  const procfileCommand = await readProcfileCommand(app)
  const work = procfileCommand && detection.work.kind === 'server' ? { ...detection.work, start_command: procfileCommand } : detection.work

  const node = await chooseNodeVersion(
    source,
    unique([directory, workspace.directory]),
    unique([manifest, workspace.manifest]),
    settings.node_version,
    origins.node_version,
  )
  const install = installSetting ?? (hasPackages ? detected.install_command : null)
  const dependencies =
    buildSetting === null ? findDependenciesToBuild(workspace, directory, manifest).filter((path) => /^[\w@./+-]+$/.test(path)) : []
  const build = buildSetting ?? createBuildCommand(app, detection, dependencies)
  const inputs = install === null ? { inputs: [], why: null } : await findInstallInputs(source, workspace, directory, manifest)

  const manifestPath = joinInside(directory, 'package.json')
  const explained = explain([
    ...frameworkEntries(detection.framework, detection.explanation),
    { name: 'node_version', value: node.version, origin: node.origin, sentence: node.reason },
    {
      name: 'package_manager',
      value: [manager.name, ...(manager.version === null ? [] : [manager.version])].join(' '),
      origin: manager.name !== detected.name ? origins.install_command : detected.origin,
      sentence: null,
    },
    {
      name: 'install_command',
      value: install,
      origin: installSetting !== null ? origins.install_command : hasPackages ? detected.origin : manifestPath,
      sentence:
        installSetting !== null
          ? `Install: ${installSetting}, from the project settings`
          : hasPackages
            ? detected.reason
            : 'Nothing to install: package.json has no dependencies',
    },
    ...(workspace.directory !== directory
      ? [
          {
            name: 'workspace' as const,
            value: workspace.directory,
            origin: joinInside(workspace.directory, workspace.patterns_file),
            sentence: `Workspace: packages are installed in ${workspace.directory === '.' ? 'the source root' : workspace.directory}`,
          },
        ]
      : []),
    ...(dependencies.length > 0 ? [`Workspace dependencies, built first: ${dependencies.join(', ')}`] : []),
    {
      name: 'build_command',
      value: build,
      origin:
        buildSetting !== null
          ? origins.build_command
          : build === null
            ? manifestPath
            : manifest.scripts.build !== undefined
              ? `${manifestPath} scripts.build`
              : `default of ${detection.framework}`,
      sentence:
        buildSetting !== null
          ? `Build: ${buildSetting}, from the project settings`
          : build === null
            ? 'Nothing to build: package.json has no build script'
            : `Build: ${build}`,
    },
    ...(work.kind === 'static'
      ? [
          {
            name: 'output_directory' as const,
            value: joinInside(directory, work.output_directory),
            origin: `default of ${detection.framework}`,
            sentence: `Output: ${joinInside(directory, work.output_directory)}`,
          },
        ]
      : [
          {
            name: 'start_command' as const,
            value: work.start_command.join(' ') || null,
            origin: procfileCommand ? joinInside(directory, 'Procfile') : findStartOrigin(app, work.start_command, detection.framework),
            sentence: procfileCommand ? 'Start: the web process in the Procfile' : `Start: ${work.start_command.join(' ')}`,
          },
        ]),
    ...(inputs.why ? [inputs.why] : []),
  ])
  const common = {
    node_version: node.version,
    package_manager: install === null && build === null && work.kind === 'static' ? null : manager,
    install_directory: workspace.directory,
    app_directory: directory,
    install_command: install,
    build_command: build,
    install_inputs: inputs.inputs,
    install_key: await createInstallKey(source, inputs.inputs, node.version, manager, install ?? ''),
    cache_directories: detection.cache_directories ?? [],
  }
  if (work.kind === 'server') {
    return {
      framework: detection.framework,
      ...explained,
      work: { ...common, kind: 'server', start_command: work.start_command, variables: work.variables ?? {} },
    }
  }
  const output = joinInside(directory, work.output_directory)
  return {
    framework: detection.framework,
    ...explained,
    work: { ...common, kind: 'static', output_directory: output, spa_fallback: work.spa_fallback, server_entries: work.server_entries ?? [] },
  }
}

/** The first detector that matches decides. Order: frameworks with a server, site generators, servers, bundlers, plain files. */
async function detectFramework(app: DetectionContext, workspace: Workspace, needsStart: boolean): Promise<FrameworkDetection> {
  const detection = await findFramework(app)
  if (detection && (needsStart || detection.work.kind === 'server')) return detection
  if (!needsStart)
    return {
      framework: 'node',
      explanation: ['Node app found (package.json); the configuration file has its commands'],
      default_build: detection?.default_build ?? null,
      work: { kind: 'server', start_command: [] },
    }
  if (await readProcfileCommand(app))
    return { framework: 'node', explanation: ['Node app found (Procfile)'], default_build: null, work: { kind: 'server', start_command: [] } }
  const apps = await findApps(app, workspace)
  if (apps.length > 0)
    throw new DetectFailure(
      `This repository contains several apps, and root_directory is not set. Apps found: ${apps.join(', ')}.`,
      `Set root_directory to the app’s folder, for example ${apps[0]}. Create one project per app.`,
    )
  throw new DetectFailure(
    `${joinInside(app.directory, 'package.json')} lists no supported framework and has no start script.`,
    'Add a start script to package.json, such as "start": "node server.js", or add a Dockerfile. If the app is in a subfolder, set root_directory.',
  )
}

async function findFramework(app: DetectionContext): Promise<FrameworkDetection | null> {
  for (const detector of [...serverFrameworks, ...staticSites, serverOrStatic, nodeServer, vite, bundler, plainSite]) {
    const detection = await detector(app)
    if (detection) return detection
  }
  return null
}

const maxApps = 10

/** Folders below the app that can be deployed: members of the workspace, else the apps that a scan of subfolders finds. */
async function findApps(app: DetectionContext, workspace: Workspace): Promise<string[]> {
  if (workspace.directory !== app.directory) return []
  if (workspace.members.size === 0) return findNestedApps(app.source, app.directory, await app.source.list(app.directory))
  const apps: string[] = []
  for (const [directory, manifest] of workspace.members) {
    if (apps.length >= maxApps) break
    const member = { ...app, directory, manifest, build_script: manifest.scripts.build ?? '' }
    // A member with an invalid configuration still counts as an app.
    const isApp = (await planDockerfile(app.source, directory)) !== null || (await findFramework(member).catch(() => true))
    if (isApp) apps.push(directory)
  }
  return apps
}

/** The command that builds the app: its own script, else the framework's command, after the builds of its workspace dependencies. */
function createBuildCommand(app: DetectionContext, detection: FrameworkDetection, dependencies: string[]): string | null {
  const script = app.manifest.scripts.build !== undefined ? `${app.script_runner} run build` : detection.default_build
  if (script === null) return null
  const dependencyBuilds = dependencies.map((path) => `(cd ${posix.relative(app.directory, path)} && ${app.script_runner} run build)`)
  const appBuild = detection.build_prefix ? `${detection.build_prefix} ${script}` : script
  return [...dependencyBuilds, appBuild, ...(detection.build_suffix ? [detection.build_suffix] : [])].join(' && ')
}

async function planWithoutPackages(
  source: SourceFolder,
  directory: string,
  settings: BuildSettings,
  detection: FrameworkDetection,
  origins: SettingOrigins,
): Promise<BuildPlan> {
  if (detection.work.kind !== 'static') throw new DetectFailure('The source has no package.json.', 'Add a package.json with a start script.')
  const node = await chooseNodeVersion(source, [directory], [], settings.node_version, origins.node_version)
  const install = settings.install_command === 'auto' ? null : settings.install_command
  const build = settings.build_command === 'auto' ? null : settings.build_command
  const manager = { name: parseManagerName(install ?? '') ?? 'npm', version: null } as const
  return {
    framework: detection.framework,
    ...explain([
      ...frameworkEntries(detection.framework, detection.explanation),
      ...(install
        ? [
            {
              name: 'install_command' as const,
              value: install,
              origin: origins.install_command,
              sentence: `Install: ${install}, from the project settings`,
            },
          ]
        : []),
      ...(build
        ? [{ name: 'build_command' as const, value: build, origin: origins.build_command, sentence: `Build: ${build}, from the project settings` }]
        : []),
      { name: 'output_directory', value: joinInside(directory, detection.work.output_directory), origin: 'index.html', sentence: null },
    ]),
    work: {
      kind: 'static',
      node_version: node.version,
      package_manager: install || build ? manager : null,
      install_directory: directory,
      app_directory: directory,
      install_command: install,
      build_command: build,
      install_inputs: install ? ['.'] : [],
      install_key: await createInstallKey(source, install ? ['.'] : [], node.version, manager, install ?? ''),
      cache_directories: [],
      output_directory: joinInside(directory, detection.work.output_directory),
      spa_fallback: detection.work.spa_fallback,
      server_entries: [],
    },
  }
}

async function createNothingFoundFailure(source: SourceFolder, directory: string): Promise<DetectFailure> {
  const names = await source.list(directory)
  const where = directory === '.' ? 'The source' : `“${directory}”`
  if (names.length === 0) return new DetectFailure(`${where} is empty.`, 'Commit the app’s files and push them, then deploy again.')
  const nested = await findNestedApps(source, directory, names)
  const message = `${where} has no package.json, no Dockerfile and no index.html.`
  if (nested.length > 0) return new DetectFailure(message, `Set root_directory to the app’s folder. Found: ${nested.join(', ')}.`)
  return new DetectFailure(message, 'Add one of them, or set root_directory to the app’s folder.')
}

async function findNestedApps(source: SourceFolder, directory: string, names: string[]): Promise<string[]> {
  const apps: string[] = []
  for (const name of names.filter((entry) => entry.endsWith('/') && !entry.startsWith('.') && entry !== 'node_modules/').slice(0, 50)) {
    const path = joinInside(directory, name)
    const entries = await source.list(path)
    if (entries.some((file) => file === 'package.json' || file === 'Dockerfile' || file === 'index.html')) apps.push(path)
    for (const subfolder of entries.filter((entry) => entry.endsWith('/')).slice(0, 20)) {
      if (await source.has(joinInside(path, `${subfolder}package.json`))) apps.push(joinInside(path, subfolder))
    }
  }
  return apps.slice(0, 5)
}

const unique = <T>(values: T[]): T[] => [...new Set(values)]
