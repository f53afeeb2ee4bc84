/**
 * Prepares what the TypeScript code needs to run: dependencies and bundles. Plain JavaScript without dependencies, because it runs on the
 * machine's Node (20.19 or newer), also before `npm ci`.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The bundles of `out/`: main and preload, then the dashboard, as by the script `build` in package.json. */
const application = {
  sources: [
    'main',
    'preload',
    'renderer',
    'server',
    'electron.vite.config.ts',
    'resources/package/bundled-packages.ts',
    'tsconfig.json',
    'package.json',
    'package-lock.json',
  ],
  commands: [
    ['electron-vite/bin/electron-vite.js', 'build'],
    ['vite/bin/vite.js', 'build', join(root, 'renderer')],
  ],
  folder: 'out',
  files: ['main/index.js', 'main/homeport.js', 'main/edge-worker.js', 'preload/index.cjs', 'renderer/index.html'],
  announcement: 'Building Homeport; this takes a few seconds.',
}

/** Installs dependencies if a package of the lock file is missing or has another version. Takes a few milliseconds otherwise. */
export async function installMissing() {
  const missing = firstMissingPackage()
  if (missing === undefined) return
  say(`Installing dependencies (${missing}); this takes a minute or two.`)
  // Install scripts run only for the packages that package.json allows. An older npm would run all of them, and compile prebuilt binaries.
  const { allowScripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  const scripted = Object.keys(allowScripts).filter((name) => allowScripts[name] === true && `node_modules/${name}` in locked)
  const install = async () =>
    (await npm('ci', '--ignore-scripts')) === 0 &&
    (await npm('rebuild', ...scripted.filter((name) => name !== 'node'))) === 0 &&
    (await installNode())
  // Tried twice, because registries sometimes fail.
  if ((await install()) || (await install())) return
  throw new Error('npm ci failed (see its output above). Check the network and the registry, then run the same command again.')
}

/** Installs the bundled Node. If the registry has no package for this platform, the machine's Node is used if it is new enough. */
async function installNode() {
  if ((await npm('rebuild', 'node')) === 0 && existsSync(bundledNode())) return true
  if (!isModern) return false
  say(`Homeport’s bundled Node could not be installed. Using Node ${process.versions.node} of this machine.`)
  return true
}

/**
 * Runs npm, with the machine's own Node: `npm ci` deletes the bundled one, which runs this program when npm has put it first in PATH.
 * Under `npm start` the same npm is used.
 */
function npm(...args) {
  const installed = join(root, 'node_modules')
  const isInstalled = (path) => `${path}${sep}`.startsWith(`${installed}${sep}`)
  const own = process.env.npm_execpath?.endsWith('.js') && !isInstalled(process.env.npm_execpath) ? process.env.npm_execpath : undefined
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  const pathName = Object.keys(process.env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH'
  const path = (process.env[pathName] ?? '').split(delimiter).filter((folder) => !isInstalled(folder))
  const options = { env: { ...process.env, [pathName]: path.join(delimiter) } }
  if (!own) return run('npm', [...args, ...quiet], { ...options, shell: process.platform === 'win32' })
  return run(isInstalled(process.execPath) ? 'node' : process.execPath, [own, ...args, ...quiet], options)
}

function firstMissingPackage() {
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  let found
  try {
    found = JSON.parse(readFileSync(join(root, 'node_modules', '.package-lock.json'), 'utf8')).packages
  } catch {
    return 'none are here yet'
  }
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '' || entry.optional || entry.devOptional || entry.peer) continue
    if (found[path]?.version !== entry.version) return `${path.replace('node_modules/', '')} ${entry.version} is missing`
  }
  return existsSync(nodePath()) ? undefined : 'Node 24 is missing'
}

/**
 * Flags for the platform's Node: a small young generation, a heap that grows in small steps, and `gc()` for collecting when idle.
 * Without them, a burst of log lines would leave a large heap behind.
 */
export const nodeFlags = ['--max-semi-space-size=4', '--heap-growing-percent=25', '--expose-gc']

/**
 * Settings of glibc's malloc. By default it keeps freed memory, so that an upload or a burst of log lines would leave tens of megabytes
 * behind. With these settings, buffers of 64 kB and more return to the system at once.
 */
const nodeEnvironment = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TRIM_THRESHOLD_: '131072' }

/** Memory settings apply only at process start, so a process without them replaces itself with one that has them. */
export function startOver(program) {
  if (nodeFlags.every((flag) => process.execArgv.includes(flag)) || process.platform === 'win32') return
  const args = [...process.execArgv, ...nodeFlags, program, ...process.argv.slice(2)]
  process.execve?.(process.execPath, [process.execPath, ...args], { ...nodeEnvironment, ...process.env })
}

/** The Node that runs Homeport: the npm package `node`, or this process's Node if that is missing and this one is new enough. */
export function nodePath() {
  return existsSync(bundledNode()) || !isModern ? bundledNode() : process.execPath
}

function bundledNode() {
  return join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
}

/** Whether this process's Node can run Homeport: Node-API 10 came with Node 22.14 and 23.6. */
export const isModern = Number(process.versions.napi) >= 10

/** Builds bundles if a source has changed since the last build; returns whether it did. Concurrent callers share one build. */
export async function buildChanged({ sources, commands, folder, files, announcement } = application) {
  const builds = commands.map(([tool, ...args]) => [join(root, 'node_modules', tool), ...args, '--logLevel', 'warn'])
  // An installation without development tools uses its existing bundles.
  if (!builds.every(([tool]) => existsSync(tool))) return false
  const stampFile = join(root, folder, '.built-from')
  const isFresh = () => existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stampOf(sources)
  if (isFresh()) return false

  const lock = join(root, 'node_modules', `.homeport-building-${folder.replaceAll('/', '-')}`)
  while (!takeLock(lock)) await new Promise((resolve) => setTimeout(resolve, 200))
  try {
    if (isFresh()) return true
    if (announcement) say(announcement)
    const stamp = stampOf(sources)
    for (const build of builds) {
      const { status, stdout, stderr } = await capture(nodePath(), build)
      if (status !== 0) throw new Error(`The build failed:\n${stdout}${stderr}`)
    }
    const missing = files.filter((file) => !existsSync(join(root, folder, file)))
    if (missing.length > 0) throw new Error(`The build did not create ${missing.join(', ')}.`)
    mkdirSync(join(root, folder), { recursive: true })
    writeFileSync(stampFile, stamp)
    return true
  } finally {
    rmSync(lock, { force: true })
  }
}

/** A hash of the names, sizes and modification times of all sources. */
function stampOf(sources) {
  const hash = createHash('sha256')
  const walk = (path) => {
    const entry = statSync(path, { throwIfNoEntry: false })
    // tsc writes its build info next to the sources.
    if (!entry || path.endsWith('.tsbuildinfo')) return
    if (entry.isDirectory()) for (const name of readdirSync(path).sort()) walk(join(path, name))
    else hash.update(`${relative(root, path)}\0${entry.size}\0${entry.mtimeMs}\n`)
  }
  for (const source of sources) walk(join(root, source))
  return hash.digest('hex')
}

function takeLock(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch {
    const holder = Number(readOr(lock, '0'))
    if (holder > 0 && !isAlive(holder)) rmSync(lock, { force: true })
    return false
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function readOr(path, fallback) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return fallback
  }
}

/** A program that fails within this time counts as not started. */
const falseStart_ms = 5_000

/**
 * Runs a program instead of this process: it shares the standard streams, gets the signals, and sets the exit code. If it fails within
 * `falseStart_ms` without a signal, `orElse` is called with the reason instead. With `endsByMessage` it is asked to quit over IPC, because
 * on Windows a signal kills a program at once, and Ctrl-C does not reach one without a console.
 */
export function become(command, args, orElse, endsByMessage = false) {
  const begun = Date.now()
  // Editors built on Electron pass this variable to child processes. With it, Electron would run as plain Node.
  const { ELECTRON_RUN_AS_NODE: _, ...env } = process.env
  const stdio = endsByMessage ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit'
  const child = spawn(command, args, { stdio, env: { ...nodeEnvironment, ...env } })
  let isAsked = false
  const pass = (signal) => {
    isAsked = true
    if (endsByMessage && child.connected) child.send('quit')
    // A terminal sends Ctrl-C to both processes; a signal from a supervisor must be forwarded.
    else if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, pass)
  const end = (code, why) => {
    for (const signal of signals) process.off(signal, pass)
    if (orElse && code !== 0 && !isAsked && Date.now() - begun < falseStart_ms) orElse(why)
    else process.exit(code)
  }
  child.on('error', (error) => {
    if (!orElse) say(`${command} could not be started: ${error.message}`)
    end(1, error.message)
  })
  child.on('exit', (code, signal) => end(code ?? (signal === 'SIGINT' ? 130 : 143), signal ?? `exit code ${code}`))
}

/** Runs a program. Its output goes to standard error, because standard output is for results. */
function run(command, args, options) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 2, 2], ...options })
    child.on('error', () => resolve(127))
    child.on('exit', (code) => resolve(code ?? 1))
  })
}

function capture(command, args) {
  return new Promise((resolve) => {
    // A test run sets another NODE_ENV, which would put local paths into the dashboard bundle.
    const env = { ...process.env, NODE_ENV: 'production' }
    const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk) => (stdout += chunk))
    child.stderr.on('data', (chunk) => (stderr += chunk))
    child.on('error', (error) => resolve({ status: 127, stdout, stderr: error.message }))
    child.on('close', (code) => resolve({ status: code ?? 1, stdout, stderr }))
  })
}

/** Messages go to standard error, because standard output is for `--json`. */
export function say(message) {
  process.stderr.write(`${message}\n`)
}

/**
 * Sends SIGTERM to this process when the npm that started it is gone, because npm does not forward a SIGTERM that ends
 * `npx homeport serve` or `npm start`.
 */
export function endWithNpm() {
  // A process started by any other npm script may outlive npm.
  const { npm_lifecycle_event: event, npm_lifecycle_script: script = '' } = process.env
  if (event !== 'start' && !(event === 'npx' && script.includes('homeport'))) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, 250)
  timer.unref()
}
