import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSourceFetcher } from '../../server/source/index.ts'
import { makeRepository, tinyServer, type Repository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { createRecordedLog } from '../support/runtime.ts'
import { gitRequest } from '../support/source.ts'
import { until } from '../support/until.ts'

/** A real ssh server on loopback, and a real agent with one key. */
describe.skipIf(!requires('sshd').ok)('git over ssh', () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-ssh-'))
  const socket = join(folder, 'agent')
  let port = 0
  let repository: Repository
  const running: ChildProcess[] = []

  beforeAll(async () => {
    repository = makeRepository(tinyServer('by ssh'))
    for (const name of ['host', 'user']) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)])
    writeFileSync(join(folder, 'authorized'), readFileSync(join(folder, 'user.pub')))
    chmodSync(join(folder, 'authorized'), 0o600)
    const settings = {
      HostKey: join(folder, 'host'),
      AuthorizedKeysFile: join(folder, 'authorized'),
      PidFile: join(folder, 'pid'),
      StrictModes: 'no',
      UsePAM: 'no',
      PasswordAuthentication: 'no',
      PermitRootLogin: 'yes',
    }
    writeFileSync(
      join(folder, 'config'),
      Object.entries(settings)
        .map(([name, value]) => `${name} ${value}\n`)
        .join(''),
    )
    if (userInfo().uid === 0) mkdirSync('/run/sshd', { recursive: true })
    running.push(spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' }))
    await until(startServer, { what: 'sshd' })
    await until(() => addKey(), { what: 'the agent' })
  })
  afterAll(async () => {
    for (const child of running) {
      child.kill()
      await once(child, 'exit')
    }
    // The host key was stored at the first fetch.
    execFileSync('ssh-keygen', ['-R', `[127.0.0.1]:${port}`], { stdio: 'ignore' })
    repository.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  const fetch = async (environment: Record<string, string | undefined>) => {
    const into = mkdtempSync(join(folder, 'into-'))
    const request = gitRequest(`ssh://${userInfo().username}@127.0.0.1:${port}${repository.folder}`)
    return createSourceFetcher({ environment }).fetchSource({ ...request, into, log: createRecordedLog(), signal: new AbortController().signal })
  }
  const host = { PATH: process.env.PATH, HOME: process.env.HOME }

  test('the host’s SSH agent opens it', async () => {
    const source = await fetch({ ...host, SSH_AUTH_SOCK: socket })
    expect(source.commit_message).toBe('First')
    expect(readFileSync(join(source.folder, 'server.js'), 'utf8')).toContain('by ssh')
  })

  test('without a key it reports the refusal, and does not prompt', async () => {
    await expect(fetch(host)).rejects.toMatchObject({ code: 'clone_failed', hint: expect.stringMatching(/key/i) })
  })

  /** A free port may be taken before sshd binds it: then sshd exits, and another one is tried. */
  async function startServer(): Promise<true | undefined> {
    port = await freePort()
    const server = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', join(folder, 'config'), '-o', `ListenAddress=127.0.0.1:${port}`], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const listens = await new Promise<boolean>((resolve) => {
      let said = ''
      server.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text
        if (said.includes('Server listening on')) resolve(true)
      })
      server.once('exit', () => resolve(false))
    })
    if (!listens) return undefined
    running.push(server)
    return true
  }

  function addKey(): true | undefined {
    try {
      execFileSync('ssh-add', ['-q', join(folder, 'user')], { env: { ...process.env, SSH_AUTH_SOCK: socket }, stdio: 'ignore' })
      return true
    } catch {
      return undefined
    }
  }
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
