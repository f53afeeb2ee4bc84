/** Follows the tour of the README: runs its commands as written, in a separate home folder, on free ports. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from './runner/command.ts'
import { until } from './support/until.ts'

const [, tour = ''] = /^## Five minutes\n([\s\S]*?)^## /m.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? []
const [start = '', ...blocks] = [...tour.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)

const scratch = mkdtempSync(join(tmpdir(), 'homeport-tour-'))
const home = join(scratch, 'home')
const instance = join(home, '.local/share/homeport/instance.json')
/** The defaults that the tour assumes, and their replacements here, because the machine may run an instance on the default ports. */
const replaced: Record<string, string> = { '/tmp/': `${scratch}/` }
let platform: ReturnType<typeof spawn>

const environment = () => {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(HOMEPORT_|XDG_|DISPLAY$|WAYLAND_DISPLAY$|NODE_ENV$|VITEST)/.test(name))
  return {
    ...Object.fromEntries(inherited),
    HOME: home,
    HOMEPORT_PORT: replaced['4600'],
    HOMEPORT_EDGE_PORT: replaced['4680'],
    HOMEPORT_EDGE_HTTPS_PORT: '0',
  }
}
const asHere = (text: string) => text.replace(new RegExp(Object.keys(replaced).join('|'), 'g'), (found) => replaced[found]!)

beforeAll(async () => {
  mkdirSync(home)
  replaced['4600'] = await freePort()
  replaced['4680'] = await freePort()
  const [command = '', ...rest] = start.split('\n')
  expect(command).toMatch(/^npm start\b/)
  blocks.unshift(rest.join('\n'))
  platform = spawn('bash', ['-c', command], { cwd: root, env: environment(), stdio: 'ignore', detached: true })
  await until(async () => existsSync(instance) || undefined, { what: 'npm start to be ready' })
})
afterAll(async () => {
  const ended = new Promise((resolve) => platform.once('exit', resolve))
  process.kill(-platform.pid!, 'SIGTERM')
  await ended
  await until(async () => !existsSync(instance) || undefined, { what: 'the instance to end' })
  rmSync(scratch, { recursive: true, force: true })
})

test('every command of the tour succeeds and prints what the README says', async () => {
  const output: string[] = []
  for (const block of blocks) output.push(await runBash(asHere(block)))
  const [deployed = '', samples = '', api = ''] = output
  expect(deployed).toContain('Hello from /there\n')
  expect(deployed).toContain(`http://hello.localhost:${replaced['4680']}`)
  expect(deployed).toContain('GET /there\n')
  expect(deployed).toMatch(/http:\/\/127\.0\.0\.1:\d+\/sign-in/)
  expect(samples).toContain(`http://harbour-news.localhost:${replaced['4680']}`)
  expect((JSON.parse(api) as { projects: { slug: string }[] }).projects.map(({ slug }) => slug).toSorted()).toEqual(['harbour-news', 'hello'])
})

test('the commands in its text work', async () => {
  const [, rollback = ''] = /`(npx homeport deployments rollback) ID`/.exec(tour) ?? []
  expect(await runBash('npx homeport deployments hello')).toContain('Ready')
  const list = JSON.parse(await runBash('npx homeport deployments hello --json')) as { deployments: { id: string }[] }
  await runBash(`npx homeport deploy ${scratch}/hello`)
  expect(await runBash(`${rollback} ${list.deployments[0]?.id}`)).toContain('http')
  const [, settings = ''] = /`(npx homeport projects set SLUG\s[^`]+)`/.exec(tour) ?? []
  expect(settings).not.toBe('')
  await runBash(settings.replace(/\s+/g, ' ').replace('SLUG', 'hello').replace('root_directory=apps/web', 'root_directory=.'))
})

/** Runs lines as a user types them, and expects success. */
function runBash(script: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-e', '-o', 'pipefail', '-c', script], { cwd: root, env: environment(), stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    let all = ''
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString()
      all += chunk.toString()
    })
    child.stderr.on('data', (chunk: Buffer) => (all += chunk.toString()))
    child.on('close', (code) => (code === 0 ? resolve(out) : reject(new Error(`${script}\nended with ${code}:\n${all}`))))
  })
}

function freePort(): Promise<string> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? String(address.port) : ''))
    })
  })
}
