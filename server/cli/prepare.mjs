/**
 * What has to be there before any of our TypeScript can run: dependencies and the built bundles. Plain JavaScript on Node's own
 * modules, because it runs on whatever Node the machine has (20.19 or newer), before `npm ci` too.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

const sources = ['main', 'preload', 'renderer', 'server', 'electron.vite.config.ts', 'tsconfig.json', 'package.json', 'package-lock.json']
const stampFile = join(root, 'out', '.built-from')
/** The same as the script `build` of package.json: the desktop with its preload, then the dashboard. */
const builds = [
  [join(root, 'node_modules', 'electron-vite', 'bin', 'electron-vite.js'), 'build', '--logLevel', 'warn'],
  [join(root, 'node_modules', 'vite', 'bin', 'vite.js'), 'build', join(root, 'renderer'), '--logLevel', 'warn'],
]
/** What they make, below `out/`. */
const built = ['main/index.js', 'main/homeport.js', 'preload/index.cjs', 'renderer/index.html']
const buildLock = join(root, 'node_modules', '.homeport-building')

/** Installs when a package of the lock file is missing or has another version. A few milliseconds when all is there. */
export async function installMissing() {
  const missing = firstMissingPackage()
  if (missing === undefined) return
  say(`Installing dependencies (${missing}); this takes a minute or two.`)
  // Scripts only of the packages that package.json allows: an older npm would run them all, and compile what comes prebuilt.
  const { allowScripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  const scripted = Object.keys(allowScripts).filter((name) => allowScripts[name] === true && `node_modules/${name}` in locked)
  const install = async () =>
    (await npm('ci', '--ignore-scripts')) === 0 &&
    (await npm('rebuild', ...scripted.filter((name) => name !== 'node'))) === 0 &&
    (await installNode())
  // A registry may need a second try.
  if ((await install()) || (await install())) return
  throw new Error('npm ci failed (its own message is above). Check the network and the registry, then run the same command again.')
}

/** The npm package `node` fetches a package for this platform, which a registry may lack: then the machine's own Node, if it is new enough. */
async function installNode() {
  if ((await npm('rebuild', 'node')) === 0 && existsSync(bundledNode())) return true
  if (!isModern) return false
  say(`Homeport’s own Node could not be installed: it runs on this machine’s Node ${process.versions.node}.`)
  return true
}

/** Under `npm start` the npm that runs is used. */
function npm(...args) {
  const own = process.env.npm_execpath?.endsWith('.js') ? process.env.npm_execpath : undefined
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  return own ? run(process.execPath, [own, ...args, ...quiet]) : run('npm', [...args, ...quiet], { shell: process.platform === 'win32' })
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
 * How the platform's Node is started where we start it: new objects are looked through more often, the heap grows in smaller
 * steps, and garbage is collected when nothing happens. That keeps the memory that a flood of log lines would else leave behind.
 */
export const nodeFlags = ['--max-semi-space-size=4', '--heap-growing-percent=25', '--expose-gc']

/**
 * What the C library of Linux is told as a platform starts. By itself it keeps freed memory for whoever asks next, so that an upload or a
 * burst of log lines would leave tens of megabytes behind; with these, buffers of 64 kB and more go back to the system at once.
 */
const nodeEnvironment = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TRIM_THRESHOLD_: '131072' }

/** How memory is kept is decided as a process starts: a program that was started without is started once more, in its own place. */
export function startOver(program) {
  if (nodeFlags.every((flag) => process.execArgv.includes(flag)) || process.platform === 'win32') return
  const args = [...process.execArgv, ...nodeFlags, program, ...process.argv.slice(2)]
  process.execve?.(process.execPath, [process.execPath, ...args], { ...nodeEnvironment, ...process.env })
}

/** The Node that our code runs on: the npm package `node`; where that could not be installed, this very one if it is new enough. */
export function nodePath() {
  return existsSync(bundledNode()) || !isModern ? bundledNode() : process.execPath
}

function bundledNode() {
  return join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
}

/** Whether this very process can load our code: Node-API 10 came with Node 22.14 and 23.6. */
export const isModern = Number(process.versions.napi) >= 10

/** Builds `out/` when a source has changed since the last build; returns whether it had to. Two callers at once build once. */
export async function buildChanged() {
  // An installation without the tools of development runs what it was delivered with.
  if (!builds.every(([tool]) => existsSync(tool))) return false
  const isFresh = () => existsSync(stampFile) && readFileSync(stampFile, 'utf8') === sourceStamp()
  if (isFresh()) return false

  while (!takeLock()) await new Promise((resolve) => setTimeout(resolve, 200))
  try {
    if (isFresh()) return true
    say('Building Homeport; this takes a few seconds.')
    const stamp = sourceStamp()
    for (const build of builds) {
      const { status, stdout, stderr } = await capture(nodePath(), build)
      if (status !== 0) throw new Error(`The build failed:\n${stdout}${stderr}`)
    }
    const missing = built.filter((file) => !existsSync(join(root, 'out', file)))
    if (missing.length > 0) throw new Error(`The build did not make ${missing.join(', ')}.`)
    mkdirSync(join(root, 'out'), { recursive: true })
    writeFileSync(stampFile, stamp)
    return true
  } finally {
    rmSync(buildLock, { force: true })
  }
}

/** Names, sizes and times of all sources, hashed: contents need not be read to see a change. */
function sourceStamp() {
  const hash = createHash('sha256')
  const visit = (path) => {
    const entry = statSync(path, { throwIfNoEntry: false })
    // tsc's notes lie beside the sources and say nothing about them.
    if (!entry || path.endsWith('.tsbuildinfo')) return
    if (entry.isDirectory()) for (const name of readdirSync(path).sort()) visit(join(path, name))
    else hash.update(`${relative(root, path)}\0${entry.size}\0${entry.mtimeMs}\n`)
  }
  for (const source of sources) visit(join(root, source))
  return hash.digest('hex')
}

function takeLock() {
  try {
    writeFileSync(buildLock, String(process.pid), { flag: 'wx' })
    return true
  } catch {
    const holder = Number(readOr(buildLock, '0'))
    if (holder > 0 && !isAlive(holder)) rmSync(buildLock, { force: true })
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

/** A program that fails sooner than this did not get to its work. */
const falseStart_ms = 5_000

/**
 * Starts a program in our place: its streams are ours, signals reach it, its exit code becomes ours. `orElse` is called
 * instead when it fails at once by itself, with what it ended with. `endsByMessage`: it is asked to end over IPC, because a signal ends
 * a program of Windows at once, and Ctrl-C does not reach one without a console.
 */
export function become(command, args, orElse, endsByMessage = false) {
  const begun = Date.now()
  // Editors and agents built on Electron pass this variable on; with it Electron would run as plain Node.
  const { ELECTRON_RUN_AS_NODE: _, ...env } = process.env
  const stdio = endsByMessage ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit'
  const child = spawn(command, args, { stdio, env: { ...nodeEnvironment, ...env } })
  let isAsked = false
  const pass = (signal) => {
    isAsked = true
    if (endsByMessage && child.connected) child.send('quit')
    // The terminal sends Ctrl-C to both; what a supervisor sends to us alone is passed on.
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

/** Runs a program with our streams; its standard output goes to our standard error, which is free for talk. */
function run(command, args, options) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 2, 2], ...options })
    child.on('error', () => resolve(127))
    child.on('exit', (code) => resolve(code ?? 1))
  })
}

function capture(command, args) {
  return new Promise((resolve) => {
    // A test that builds has another one, which would put our folders into the dashboard.
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

/** Talk goes to standard error: standard output belongs to `--json`. */
export function say(sentence) {
  process.stderr.write(`${sentence}\n`)
}

/**
 * npm dies of a SIGTERM without passing it on. Whoever ends `npx homeport serve` or `npm start` means us too: when the
 * npm that started us is gone, we end in order.
 */
export function endWithNpm() {
  // Whoever was started by another script of npm's may outlive it.
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
