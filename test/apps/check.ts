// Does the plan hold? Installs, builds and starts the projects of this folder by their plans, on the bare host and
// without Homeport: `node test/apps/check.ts [NAME ...]`. What is served is asked for, as `apps.ts` expects it.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { planBuild } from '../../server/builder/index.ts'
import type { ServerPlan, StaticPlan } from '../../server/contract/build-plan.ts'
import { apps, type TestApp } from './apps.ts'

type NodePlan = ServerPlan | StaticPlan

const patience_ms = 60_000
const tools = join(tmpdir(), 'homeport-check-tools')
const nodeFolder = dirname(process.execPath)
const npmFolder = resolve(import.meta.dirname, '../../node_modules/.bin')

async function check(app: TestApp): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'homeport-check-'))
  try {
    const folder = join(root, 'source')
    await cp(app.directory, folder, { recursive: true, filter: (path) => !path.endsWith('/node_modules') })
    const settings = { node_version: 'auto', install_command: 'auto', build_command: 'auto', root_directory: '.', ...app.settings }
    const plan = await planBuild({ folder, settings })
    for (const line of plan.explanation) console.log(`   ${line}`)
    const { work } = plan
    if (plan.framework !== app.expects.framework || work.kind !== app.expects.kind) throw new Error(`found ${plan.framework} (${work.kind})`)
    if (work.kind === 'dockerfile') return 'planned (needs Docker to run)'
    const path = [...binFolders(folder, work.app_directory), await managerFolder(work), npmFolder, nodeFolder, process.env.PATH].filter(Boolean).join(delimiter)
    const environment = { ...process.env, PATH: path, NEXT_TELEMETRY_DISABLED: '1', ASTRO_TELEMETRY_DISABLED: '1' }
    if (work.install_command) await run(work.install_command, join(folder, work.install_directory), environment)
    if (work.build_command) await run(work.build_command, join(folder, work.app_directory), { ...environment, NODE_ENV: 'production' })
    return work.kind === 'static' ? await readStatic(app, folder, work) : await askServer(app, join(folder, work.app_directory), work, environment)
  } finally {
    await rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
}

function binFolders(folder: string, directory: string): string[] {
  const folders: string[] = []
  for (let at = join(folder, directory); at.startsWith(folder); at = dirname(at)) folders.push(join(at, 'node_modules/.bin'))
  return folders
}

/** Where the plan's package manager lies; fetched once by npm. npm itself stays the one that is here. */
async function managerFolder({ package_manager: manager }: NodePlan): Promise<string> {
  if (!manager || manager.name === 'npm') return ''
  const version = manager.version ?? 'latest'
  const isBerry = manager.name === 'yarn' && !version.startsWith('1.')
  const folder = join(tools, `${manager.name}-${version}`)
  if (!existsSync(join(folder, 'node_modules/.bin', manager.name))) {
    await mkdir(folder, { recursive: true })
    const name = isBerry ? '@yarnpkg/cli-dist' : manager.name
    await run(`npm install --no-save --no-audit --no-fund --prefix . ${name}@${version}`, folder, { ...process.env, PATH: [npmFolder, nodeFolder, process.env.PATH].join(delimiter) })
  }
  return join(folder, 'node_modules/.bin')
}

async function run(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(command, { cwd, env, shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (output = (output + bytes.toString()).slice(-8000)))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${command} ended with ${code}:\n${output}`)
}

async function readStatic(app: TestApp, folder: string, plan: StaticPlan): Promise<string> {
  const output = join(folder, plan.output_directory)
  if (plan.spa_fallback !== app.expects.spa_fallback) throw new Error(`spa_fallback is ${plan.spa_fallback}`)
  const path = app.expects.path.replace(/\/$/, '')
  for (const name of [`${path}/index.html`, `${path}.html`, ...(plan.spa_fallback ? ['/index.html'] : [])]) {
    const file = join(output, name)
    if (!(await stat(file).catch(() => null))?.isFile()) continue
    if ((await readFile(file, 'utf8')).includes(app.expects.contains)) return `${name} of ${plan.output_directory}`
    throw new Error(`${name} does not hold “${app.expects.contains}”`)
  }
  throw new Error(`nothing in ${plan.output_directory} answers ${app.expects.path}`)
}

async function askServer(app: TestApp, cwd: string, plan: ServerPlan, environment: NodeJS.ProcessEnv): Promise<string> {
  const port = await freePort()
  const [program = '', ...args] = plan.start_command
  const child = spawn(program, args, {
    cwd,
    env: { ...environment, ...plan.variables, NODE_ENV: 'production', PORT: String(port), HOST: '0.0.0.0' },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (output = (output + bytes.toString()).slice(-8000)))
  try {
    const ends = performance.now() + patience_ms
    while (performance.now() < ends && child.exitCode === null) {
      const response = await fetch(`http://127.0.0.1:${port}${app.expects.path}`).catch(() => null)
      if (!response) {
        await new Promise((wake) => setTimeout(wake, 100))
        continue
      }
      const body = await response.text()
      if (response.status === 200 && body.includes(app.expects.contains)) return `200 from ${plan.start_command.join(' ')}`
      throw new Error(`${response.status}: ${body.slice(0, 500)}`)
    }
    throw new Error(`it did not answer:\n${output}`)
  } finally {
    await stop(child)
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return
  const gone = once(child, 'close')
  process.kill(-child.pid, 'SIGKILL')
  await gone
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address ? address.port : 0
}

const wanted = process.argv.slice(2)
let failures = 0
for (const app of apps.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  const start = performance.now()
  console.log(`== ${app.name}`)
  try {
    console.log(`   ok: ${await check(app)} (${((performance.now() - start) / 1000).toFixed(1)} s)`)
  } catch (error) {
    failures++
    console.log(`   FAILED: ${error instanceof Error ? error.message : String(error)}`)
  }
}
process.exitCode = failures === 0 ? 0 : 1
