import { readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import type { NodePlan } from '../dependency-key.ts'
import type { DockerEngine } from './engine.ts'
import type { BuildRequest } from '../runtime.ts'

/** The user `node` of the base images. */
export const imageUserId = 1000
export const appRoot = '/app'
/** On the project's cache volume. */
export const cacheFolder = '/home/node/.homeport-kept'
/** Package managers that the base image does not have. They are part of the image because apps may be started with them. */
export const toolsFolder = '/opt/homeport'
/** A memory file system in every container, so that not even an empty folder is left in a layer. */
const secretFolder = '/dev/shm/homeport'

/** The instructions for a build container: one line of JSON on its standard input. */
export interface BuildInstructions {
  /** Written to a folder in memory; never part of a layer. */
  files: Record<string, string>
  /** Folders that outlive a build: copied in before and saved after; `from` is on the project's cache volume. */
  kept: { from: string; to: string }[]
  /** false: they are only saved. */
  restores_kept: boolean
  steps: { file: string; args: string[]; cwd: string; env: Record<string, string> }[]
}

/**
 * The program that runs the instructions. Variables reach the steps only through standard input, so they are not in the container's settings,
 * arguments, layers or history. CommonJS for old versions of Node.
 */
export const buildRunnerScript = `
const { spawn, spawnSync } = require('child_process')
const fs = require('fs')
const path = require('path')
let text = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', function more(chunk) {
  text += chunk
  const end = text.indexOf('\\n')
  if (end === -1) return
  process.stdin.removeListener('data', more)
  process.stdin.destroy()
  carryOut(JSON.parse(text.slice(0, end)))
})
function copy(from, to) {
  fs.mkdirSync(path.dirname(to), { recursive: true })
  spawnSync('cp', ['-a', from, to], { stdio: 'ignore' })
}
function carryOut(order) {
  fs.mkdirSync('${secretFolder}', { mode: 0o700 })
  for (const name of Object.keys(order.files)) fs.writeFileSync('${secretFolder}/' + name, order.files[name], { mode: 0o600 })
  if (order.restores_kept) for (const one of order.kept) if (fs.existsSync(one.from) && !fs.existsSync(one.to)) copy(one.from, one.to)
  next(order, 0)
}
function next(order, at) {
  const step = order.steps[at]
  if (!step) {
    for (const one of order.kept) {
      if (!fs.existsSync(one.to)) continue
      spawnSync('rm', ['-rf', one.from], { stdio: 'ignore' })
      copy(one.to, one.from)
    }
    return
  }
  const child = spawn(step.file, step.args, { cwd: step.cwd, env: step.env, stdio: ['ignore', 'inherit', 'inherit'] })
  child.on('error', (error) => {
    console.error(error.message)
    process.exit(127)
  })
  child.on('exit', (code, signal) => {
    if (code === 0) return next(order, at + 1)
    process.exit(code === null ? 128 + (require('os').constants.signals[signal] || 0) : code)
  })
}
`

type BuildStep = BuildInstructions['steps'][number]

export const createShellStep = (command: string, cwd: string, env: Record<string, string>): BuildStep => ({
  file: 'sh',
  args: ['-c', command],
  cwd,
  env,
})

/** Installs the package manager, unless it is the npm of the image. */
export function createPackageManagerSteps(plan: NodePlan): Omit<BuildStep, 'env'>[] {
  const manager = plan.package_manager
  if (!manager || (manager.name === 'npm' && manager.version === null)) return []
  const defaultVersions = { npm: '11', pnpm: '10', yarn: '1.22.22' }
  const version = manager.version ?? defaultVersions[manager.name]
  const name = manager.name === 'yarn' && !version.startsWith('1') ? '@yarnpkg/cli-dist' : manager.name
  const args = ['install', '--global', '--force', '--no-audit', '--no-fund', '--loglevel=error', `--prefix=${toolsFolder}`, `${name}@${version}`]
  return [{ file: 'npm', args, cwd: appRoot }]
}

/** The PATH of builds and of the resulting image. */
export const createSearchPath = (plan: NodePlan): string =>
  [
    posix.join(appRoot, plan.app_directory, 'node_modules/.bin'),
    ...(plan.install_directory === plan.app_directory ? [] : [posix.join(appRoot, plan.install_directory, 'node_modules/.bin')]),
    `${toolsFolder}/bin`,
    '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  ].join(':')

export function createBuildEnvironment(
  engine: DockerEngine,
  request: BuildRequest,
  plan: NodePlan,
  step: 'install' | 'build',
): Record<string, string> {
  const { ca_file, npmrc_file } = engine.options
  return {
    HOME: '/home/node',
    LANG: 'C.UTF-8',
    CI: 'true',
    npm_config_update_notifier: 'false',
    npm_config_fund: 'false',
    npm_config_audit: 'false',
    NEXT_TELEMETRY_DISABLED: '1',
    YARN_ENABLE_TELEMETRY: '0',
    ...(ca_file ? { NODE_EXTRA_CA_CERTS: `${secretFolder}/ca.crt` } : {}),
    ...(npmrc_file ? { npm_config_userconfig: `${secretFolder}/npmrc` } : {}),
    ...request.variables,
    // Build tools are development dependencies, which an install with NODE_ENV=production would omit.
    NODE_ENV: step === 'install' ? 'development' : (request.variables.NODE_ENV ?? 'production'),
    PATH: createSearchPath(plan),
  }
}

export async function readSecretFiles(engine: DockerEngine): Promise<Record<string, string>> {
  const { ca_file, npmrc_file } = engine.options
  const files: Record<string, string> = {}
  if (ca_file) files['ca.crt'] = await readFile(ca_file, 'utf8')
  if (npmrc_file) files.npmrc = await readFile(npmrc_file, 'utf8')
  return files
}
