import { execFile } from 'node:child_process'
import { access, constants, readdir, realpath, stat } from 'node:fs/promises'
import { platform } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import semver from 'semver'
import { toolNames, type ToolName, type ToolRequirement } from '../../contract/build-plan.ts'
import type { DoctorCheck } from '../../contract/instance.ts'
import { isWithin } from '../files.ts'
import { BuildFailure, type RuntimeOptions } from '../runtime.ts'
import { type ToolDefinition, toolDefinitions } from './tool-definitions.ts'
import { defaultPath, type Toolchains } from './toolchains.ts'

/** A tool of this machine. */
export interface FoundTool {
  tool: ToolName
  version: string
  /** Its main program. */
  file: string
  /** The folder of its programs, for the PATH. */
  folder: string
  root: string
  /** The paths that a sandbox must show, because they are outside of the system's folders. */
  visible: string[]
}

export interface MachineTools {
  /** The tools that a plan requires, in its order, without optional ones that are missing. Throws `BuildFailure`. */
  find(requirements: readonly ToolRequirement[], signal: AbortSignal): Promise<FoundTool[]>
  /** A tool of an existing build: this version if it still exists, else another that satisfies the requirement. */
  findAgain(requirement: ToolRequirement & { version: string }, signal: AbortSignal): Promise<FoundTool | undefined>
  /** For the doctor: the tools of this machine, and the missing ones. */
  check(): Promise<DoctorCheck>
}

/** Always visible in a sandbox. */
const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/opt', '/nix', '/gnu', '/System', '/Library']

/**
 * Finds the toolchains of this machine: on the PATH, and in the folders of version managers. A version is read once per program file, so a
 * toolchain that is installed later is found by the next build.
 */
export function createMachineTools(options: RuntimeOptions, toolchains: Toolchains): MachineTools {
  const probes = new Map<string, Promise<FoundTool | undefined>>()
  const pathFolders = (options.path ?? defaultPath).split(delimiter).filter((folder) => folder !== '')

  const findCandidates = async (tool: ToolName): Promise<FoundTool[]> => {
    const { programs, folders } = toolDefinitions[tool]
    const known = (await Promise.all(folders.map((pattern) => expandFolder(pattern, options.home)))).flat()
    const files: string[] = []
    for (const folder of new Set([...pathFolders, ...known]))
      for (const program of programs) {
        const file = join(folder, platform() === 'win32' ? `${program}.exe` : program)
        if (await isExecutable(file)) files.push(file)
      }
    const found = await Promise.all(files.map((file) => probe(tool, file)))
    return found.filter((one) => one !== undefined).filter((one, index, all) => all.findIndex((other) => other.file === one.file) === index)
  }

  const probe = async (tool: ToolName, file: string): Promise<FoundTool | undefined> => {
    const real = await realpath(file)
    // Links to one program, such as those in /bin, are one program, unless it does what its name says, like those of rustup.
    const path = basename(real).startsWith(basename(file)) ? real : file
    const key = `${tool} ${path} ${(await stat(real)).mtimeMs}`
    let result = probes.get(key)
    if (!result) {
      result = probeProgram(tool, path, real, options).catch(() => undefined)
      probes.set(key, result)
    }
    return result
  }

  const install = async (tool: ToolName, requirement: ToolRequirement, signal: AbortSignal): Promise<FoundTool | undefined> => {
    const { package: source, label } = toolDefinitions[tool]
    const found = source?.find()
    if (!source || !found) return undefined
    const program = { name: tool, label, package_name: found.name, path: found.path, version: source.version }
    const { file, version } = await toolchains.program(program, signal)
    return semver.satisfies(version, requirement.range) ? { tool, version, file, folder: dirname(file), root: dirname(file), visible: [] } : undefined
  }

  const findOne = async (requirement: ToolRequirement, signal: AbortSignal): Promise<FoundTool | undefined> => {
    const { tool, range, is_optional } = requirement
    const candidates = await findCandidates(tool)
    signal.throwIfAborted()
    const fitting = candidates.find((one) => semver.satisfies(one.version, range)) ?? (await install(tool, requirement, signal))
    if (fitting || is_optional) return fitting
    throw createMissingFailure(requirement, candidates)
  }

  return {
    async find(requirements, signal) {
      if (platform() === 'win32')
        throw new BuildFailure(
          'runtime_unavailable',
          'On Windows, apps in this language are built with Docker, which is not available.',
          'Install and start Docker, then deploy again.',
        )
      const found = []
      for (const requirement of requirements) found.push(await findOne(requirement, signal))
      return found.filter((one) => one !== undefined)
    },

    async findAgain(requirement, signal) {
      const candidates = await findCandidates(requirement.tool)
      return candidates.find((one) => one.version === requirement.version) ?? (await findOne({ ...requirement, is_optional: true }, signal))
    },

    async check() {
      const lists = await Promise.all(toolNames.map(async (tool) => ({ tool, versions: (await findCandidates(tool)).map((one) => one.version) })))
      const found = lists.filter(({ versions }) => versions.length > 0)
      const missing = lists.filter(({ tool, versions }) => versions.length === 0 && toolDefinitions[tool].package === undefined)
      const onDemand = lists.filter(({ tool, versions }) => versions.length === 0 && toolDefinitions[tool].package !== undefined)
      const name = ({ tool }: { tool: ToolName }) => toolDefinitions[tool].label
      const sentences = [
        found.length === 0
          ? 'This machine has no toolchains of other languages.'
          : `Found: ${found.map((one) => `${name(one)} ${formatVersions(one.versions)}`).join('; ')}.`,
        ...(missing.length > 0 ? [`Missing: ${missing.map(name).join(', ')}.`] : []),
        ...(onDemand.length > 0 ? [`Installed from npm when an app needs them: ${onDemand.map(name).join(', ')}.`] : []),
      ]
      return { name: 'toolchains', status: 'ok', message: sentences.join(' '), hint: null }
    },
  }
}

const maxVersions = 4

/** The version that an app gets without a requirement, then the others. */
function formatVersions(versions: string[]): string {
  const [first, ...others] = [...new Set(versions)]
  const some = others.toSorted((a, b) => semver.rcompare(a, b)).slice(0, maxVersions)
  const rest = others.length - some.length
  return `${first}${some.length > 0 ? ` (also ${some.join(', ')}${rest > 0 ? ` and ${rest} more` : ''})` : ''}`
}

function createMissingFailure({ tool, range, from }: ToolRequirement, candidates: FoundTool[]): BuildFailure {
  const { label, how_to_install } = toolDefinitions[tool]
  const versions = [...new Set(candidates.map((one) => one.version))]
  if (range === '*' || versions.length === 0)
    return new BuildFailure(
      'runtime_unavailable',
      `This app needs ${label}${describeRange(range)}, which this machine does not have.`,
      `Install ${how_to_install}, or install and start Docker, then deploy again.`,
    )
  return new BuildFailure(
    'runtime_unavailable',
    `This app needs ${label}${describeRange(range)}${from === null ? '' : ` (${from})`}. This machine has ${label} ${formatVersions(versions)}.`,
    `Install ${label}${describeRange(range)}, ${from === null ? '' : `change ${from}, `}or install and start Docker, then deploy again.`,
  )
}

/** `>=1.22` as “ 1.22 or newer”, `3.11.x` as “ 3.11”. */
function describeRange(range: string): string {
  if (range === '*') return ''
  return ` ${range
    .replace(/^>=([\d.]+)$/, '$1 or newer')
    .replaceAll('.x', '')
    .replaceAll('||', 'or')}`
}

/** Folders that match a pattern with `~` and `*`; newer versions first. */
async function expandFolder(pattern: string, home: string | undefined): Promise<string[]> {
  if (pattern.startsWith('~') && home === undefined) return []
  const [before = '', after] = pattern.replace(/^~/, home ?? '').split('/*')
  if (after === undefined) return [before]
  const names = await readdir(before).catch((): string[] => [])
  const version = (name: string) => semver.coerce(name) ?? new semver.SemVer('0.0.0')
  return names.toSorted((a, b) => semver.rcompare(version(a), version(b))).map((name) => `${before}/${name}${after}`)
}

async function probeProgram(tool: ToolName, path: string, real: string, options: RuntimeOptions): Promise<FoundTool | undefined> {
  const definition = toolDefinitions[tool]
  // The programs of rustup choose a toolchain by the folder in which they run, and need their settings in the home folder.
  if (basename(real) === 'rustup' || (basename(dirname(path)) === 'shims' && tool !== 'python')) return undefined
  const output = await readOutput(path, definition.version_arguments, options)
  const parsed = definition.parse ? definition.parse(output) : parseFirstVersion(output)
  const version = semver.parse(parsed?.version)?.version ?? semver.coerce(parsed?.version)?.version
  if (!parsed || version === undefined) return undefined
  const file = parsed.file ?? path
  const folder = dirname(file)
  const root = parsed.root ?? (basename(dirname(real)) === 'bin' ? dirname(dirname(real)) : dirname(real))
  const visible = findVisiblePaths(definition, { root, file, real }, options)
  return visible && { tool, version, file, folder, root, visible }
}

/** undefined: the tool shares its folder with personal files, which a sandbox must not show. */
function findVisiblePaths(
  definition: ToolDefinition,
  { root, file, real }: { root: string; file: string; real: string },
  { home, data_dir }: RuntimeOptions,
): string[] | undefined {
  if (definition.is_file) return [...new Set([file, real])].filter((path) => !isSystemPath(path))
  if (isSystemPath(root)) return []
  const isPersonal = [home, home && join(home, '.local'), data_dir].some((folder) => folder !== undefined && isWithin(folder, root))
  return isPersonal ? undefined : [root]
}

const isSystemPath = (path: string): boolean => systemFolders.some((folder) => isWithin(path, folder))

function parseFirstVersion(output: string): ReturnType<NonNullable<ToolDefinition['parse']>> {
  const version = /\d+\.\d+(?:\.\d+)?(?:-[\w.]+)?/.exec(output)?.[0]
  return version === undefined ? undefined : { version }
}

const probeTimeout_ms = 20_000

function readOutput(file: string, args: string[], { path, home }: RuntimeOptions): Promise<string> {
  const env = { PATH: path ?? defaultPath, LANG: 'C.UTF-8', ...(home === undefined ? {} : { HOME: home }) }
  return new Promise((resolve, reject) => {
    execFile(file, args, { cwd: '/', env, timeout: probeTimeout_ms, windowsHide: true }, (error, stdout, stderr) => {
      if (error) reject(error)
      else resolve(`${stdout}\n${stderr}`)
    })
  })
}

const isExecutable = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  )
