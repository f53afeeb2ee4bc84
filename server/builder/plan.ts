import { posix } from 'node:path'
import type { BuildPlan, BuildSettings } from '../contract/build-plan.ts'
import type { App, Recipe } from './app.ts'
import { DetectFailure } from './detect-failure.ts'
import { planDockerfile } from './dockerfile.ts'
import { installInputs, installKey } from './install.ts'
import { readManifest, type Manifest } from './manifest.ts'
import { chooseNode } from './node-version.ts'
import { choosePackageManager, managerOfCommand } from './package-manager.ts'
import { nodeServer, procfile, serverFrameworks } from './server-frameworks.ts'
import { openSource, within, type SourceFolder } from './source-folder.ts'
import { builtServer, bundler, plainHtml, staticSites, vite } from './static-sites.ts'
import { findWorkspace, neighboursToBuild, type Workspace } from './workspace.ts'

export interface PlanOptions {
  /** Absolute path of the source. */
  folder: string
  settings: BuildSettings
  /** Whether the runtime can build a Dockerfile; when not, one is passed over if anything else can be built. */
  has_docker?: boolean
}

/** Looks at a source and decides what is to be done with it. Reads only; runs nothing. Throws DetectFailure. */
export async function planBuild({ folder, settings, has_docker = true }: PlanOptions): Promise<BuildPlan> {
  const source = await openSource(folder)
  const directory = within('.', settings.root_directory.trim() || '.')
  if (!(await source.isFolder(directory))) {
    throw new DetectFailure(
      `The source has no folder “${directory}”.`,
      'Correct root_directory in the project’s settings. A link that leads out of the repository is not followed.',
    )
  }
  const docker = await planDockerfile(source, directory)
  const manifest = await readManifest(source, directory)
  if (docker && has_docker) {
    const overridden = (['node_version', 'install_command', 'build_command'] as const).filter((name) => settings[name] !== 'auto')
    const note = overridden.length > 0 ? [`${overridden.join(', ')} of the project’s settings have no effect on a Dockerfile`] : []
    return { framework: 'dockerfile', explanation: [...docker.why, ...note], work: docker.work }
  }
  const passedOver = docker ? ['A Dockerfile was found, but there is no Docker engine: the app is built without it'] : []
  if (!manifest) {
    const recipe = await plainHtml({ source, directory })
    if (recipe) return planWithoutPackages(source, directory, settings, recipe, passedOver)
    if (docker)
      throw new DetectFailure(
        'The source has a Dockerfile, and this instance has no Docker engine.',
        'Install Docker and start it, then deploy again.',
      )
    throw await nothingFound(source, directory)
  }
  return planNode(source, directory, manifest, settings, passedOver)
}

async function planNode(source: SourceFolder, directory: string, manifest: Manifest, settings: BuildSettings, notes: string[]): Promise<BuildPlan> {
  const workspace = await findWorkspace(source, directory, manifest)
  const asked = settings.install_command === 'auto' ? null : settings.install_command
  const detected = await choosePackageManager(source, workspace.directory, workspace.manifest)
  const implied = asked === null ? null : managerOfCommand(asked)
  const manager =
    implied !== null && implied !== detected.name ? { name: implied, version: null } : { name: detected.name, version: detected.version }
  const hasPackages = detected.lock !== null || Object.keys(manifest.all_dependencies).length > 0 || workspace.members.size > 0

  const ownBuild = settings.build_command === 'auto' ? null : settings.build_command
  const runner = implied !== null && implied !== detected.name ? implied : detected.script_runner
  const starter = manifest.dev_manager === null || manifest.dev_manager === 'npm' ? 'npm' : manager.name
  const app: App = { source, directory, manifest, runner, starter, build_script: ownBuild ?? manifest.scripts.build ?? '' }
  const recipe = await detect(app, workspace)
  const web = await procfile(app)
  const work = web && recipe.work.kind === 'server' ? { ...recipe.work, start_command: web } : recipe.work

  const node = await chooseNode(source, unique([directory, workspace.directory]), unique([manifest, workspace.manifest]), settings.node_version)
  const install = asked ?? (hasPackages ? detected.install_command : null)
  const neighbours = ownBuild === null ? neighboursToBuild(workspace, directory, manifest).filter((path) => /^[\w@./+-]+$/.test(path)) : []
  const build = ownBuild ?? buildCommand(app, recipe, neighbours)
  const inputs = install === null ? { inputs: [], why: null } : await installInputs(source, workspace, directory, manifest)

  const explanation = [
    ...notes,
    ...recipe.why,
    node.why,
    ...(asked !== null
      ? [`Install: ${asked}, from the project’s settings`]
      : hasPackages
        ? [detected.why]
        : ['Nothing to install: package.json names no packages']),
    ...(workspace.directory !== directory
      ? [`A workspace: packages are installed in ${workspace.directory === '.' ? 'the root of the source' : workspace.directory}`]
      : []),
    ...(neighbours.length > 0 ? [`Built before it, because it needs them: ${neighbours.join(', ')}`] : []),
    ...(ownBuild !== null
      ? [`Build: ${ownBuild}, from the project’s settings`]
      : build === null
        ? ['Nothing to build: package.json has no build script']
        : [`Build: ${build}`]),
    ...(web && work.kind === 'server'
      ? ['Start: the web line of Procfile']
      : work.kind === 'server'
        ? [`Start: ${work.start_command.join(' ')}`]
        : []),
    ...(work.kind === 'static' ? [`Served: the files of ${within(directory, work.output_directory)}`] : []),
    ...(inputs.why ? [inputs.why] : []),
  ]
  const common = {
    node_version: node.version,
    package_manager: install === null && build === null && work.kind === 'static' ? null : manager,
    install_directory: workspace.directory,
    app_directory: directory,
    install_command: install,
    build_command: build,
    install_inputs: inputs.inputs,
    install_key: await installKey(source, inputs.inputs, node.version, manager, install ?? ''),
    cache_directories: recipe.cache_directories ?? [],
  }
  if (work.kind === 'server') {
    return {
      framework: recipe.framework,
      explanation,
      work: { ...common, kind: 'server', start_command: work.start_command, variables: work.variables ?? {} },
    }
  }
  const output = within(directory, work.output_directory)
  return {
    framework: recipe.framework,
    explanation,
    work: { ...common, kind: 'static', output_directory: output, spa_fallback: work.spa_fallback, server_entries: work.server_entries ?? [] },
  }
}

/** The first detector that knows the app decides: frameworks with a server, site generators, servers, bundlers, plain files. */
async function detect(app: App, workspace: Workspace): Promise<Recipe> {
  const recipe = await findRecipe(app)
  if (recipe) return recipe
  if (await procfile(app))
    return { framework: 'node', why: ['Node app found (Procfile)'], default_build: null, work: { kind: 'server', start_command: [] } }
  const apps = await appsOf(app, workspace)
  if (apps.length > 0)
    throw new DetectFailure(
      `This is a repository of several packages, and nothing says which app to deploy. Apps found: ${apps.join(', ')}.`,
      `Set root_directory to the folder of the app, such as ${apps[0]}; each app is a project of its own.`,
    )
  throw new DetectFailure(
    `${within(app.directory, 'package.json')} names no framework that Homeport knows, and nothing says how the app starts.`,
    'Add a start script to package.json, such as "start": "node server.js", or a Dockerfile. If the app lies in a subfolder, set root_directory.',
  )
}

async function findRecipe(app: App): Promise<Recipe | null> {
  for (const detector of [...serverFrameworks, ...staticSites, builtServer, nodeServer, vite, bundler, plainHtml]) {
    const recipe = await detector(app)
    if (recipe) return recipe
  }
  return null
}

const mostApps = 10

/** Folders below with something to deploy: members of the workspace, else what a look finds. */
async function appsOf(app: App, workspace: Workspace): Promise<string[]> {
  if (workspace.directory !== app.directory) return []
  if (workspace.members.size === 0) return nestedApps(app.source, app.directory, await app.source.list(app.directory))
  const apps: string[] = []
  for (const [directory, manifest] of workspace.members) {
    if (apps.length >= mostApps) break
    const member = { ...app, directory, manifest, build_script: manifest.scripts.build ?? '' }
    // An app whose own configuration is wrong is an app.
    const isApp = (await planDockerfile(app.source, directory)) !== null || (await findRecipe(member).catch(() => true))
    if (isApp) apps.push(directory)
  }
  return apps
}

/** What builds the app: its own script, else the framework's command; what it needs of its workspace comes first. */
function buildCommand(app: App, recipe: Recipe, neighbours: string[]): string | null {
  const script = app.manifest.scripts.build !== undefined ? `${app.runner} run build` : recipe.default_build
  if (script === null) return null
  const before = neighbours.map((path) => `(cd ${posix.relative(app.directory, path)} && ${app.runner} run build)`)
  const own = recipe.build_prefix ? `${recipe.build_prefix} ${script}` : script
  return [...before, own, ...(recipe.build_suffix ? [recipe.build_suffix] : [])].join(' && ')
}

async function planWithoutPackages(
  source: SourceFolder,
  directory: string,
  settings: BuildSettings,
  recipe: Recipe,
  notes: string[],
): Promise<BuildPlan> {
  if (recipe.work.kind !== 'static') throw new DetectFailure('There is no package.json.', 'Add one with a start script.')
  const node = await chooseNode(source, [directory], [], settings.node_version)
  const install = settings.install_command === 'auto' ? null : settings.install_command
  const build = settings.build_command === 'auto' ? null : settings.build_command
  const manager = { name: managerOfCommand(install ?? '') ?? 'npm', version: null } as const
  return {
    framework: recipe.framework,
    explanation: [
      ...notes,
      ...recipe.why,
      ...(install ? [`Install: ${install}, from the project’s settings`] : []),
      ...(build ? [`Build: ${build}, from the project’s settings`] : []),
    ],
    work: {
      kind: 'static',
      node_version: node.version,
      package_manager: install || build ? manager : null,
      install_directory: directory,
      app_directory: directory,
      install_command: install,
      build_command: build,
      install_inputs: install ? ['.'] : [],
      install_key: await installKey(source, install ? ['.'] : [], node.version, manager, install ?? ''),
      cache_directories: [],
      output_directory: within(directory, recipe.work.output_directory),
      spa_fallback: recipe.work.spa_fallback,
      server_entries: [],
    },
  }
}

const otherLanguages: [file: string, language: string][] = [
  ['go.mod', 'Go'],
  ['requirements.txt', 'Python'],
  ['pyproject.toml', 'Python'],
  ['Gemfile', 'Ruby'],
  ['Cargo.toml', 'Rust'],
  ['pom.xml', 'Java'],
  ['composer.json', 'PHP'],
  ['mix.exs', 'Elixir'],
]

async function nothingFound(source: SourceFolder, directory: string): Promise<DetectFailure> {
  const names = await source.list(directory)
  const where = directory === '.' ? 'The source' : `“${directory}”`
  if (names.length === 0) return new DetectFailure(`${where} is empty.`, 'Commit the app’s files and push them, then deploy again.')
  const language = otherLanguages.find(([file]) => names.includes(file))
  if (language)
    return new DetectFailure(
      `${where} is a ${language[1]} app (${language[0]}), and has no Dockerfile.`,
      'Add a Dockerfile: Homeport builds anything that has one.',
    )
  const nested = await nestedApps(source, directory, names)
  const message = `${where} has no package.json, no Dockerfile and no index.html.`
  if (nested.length > 0) return new DetectFailure(message, `There is an app in ${nested.join(', ')}: set root_directory to it.`)
  return new DetectFailure(message, 'Add one of them, or set root_directory to the folder of the app.')
}

async function nestedApps(source: SourceFolder, directory: string, names: string[]): Promise<string[]> {
  const apps: string[] = []
  for (const name of names.filter((entry) => entry.endsWith('/') && !entry.startsWith('.') && entry !== 'node_modules/').slice(0, 50)) {
    const path = within(directory, name)
    const inside = await source.list(path)
    if (inside.some((file) => file === 'package.json' || file === 'Dockerfile' || file === 'index.html')) apps.push(path)
    for (const deeper of inside.filter((entry) => entry.endsWith('/')).slice(0, 20)) {
      if (await source.has(within(path, `${deeper}package.json`))) apps.push(within(path, deeper))
    }
  }
  return apps.slice(0, 5)
}

const unique = <T>(values: T[]): T[] => [...new Set(values)]
