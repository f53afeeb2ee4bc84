import { execFile, execFileSync } from 'node:child_process'
import { dirname, basename } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isPublicAddress, parseRepositoryAddress } from '../../server/source/repository-address.ts'
import { gitFetchEnvironment, fetchGitSettings } from '../../server/source/git-environment.ts'
import { listenAsGitServer, startGitServer, type GitServer } from '../support/git-server.ts'
import { makeRepository, type Repository } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { createTestSource, gitRequest } from '../support/source.ts'

describe('public addresses', () => {
  test.for(['8.8.8.8', '1.1.1.1', '140.82.121.3', '2606:4700::1111', '2a00:1450:4001:81b::200e'])('%s is public', (ip) =>
    expect(isPublicAddress(ip)).toBe(true),
  )
  const others = `
    127.0.0.1 127.1.2.3 0.0.0.0 10.1.2.3 172.17.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1 168.63.129.16 198.18.0.1 224.0.0.1
    255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:7f00:1 64:ff9b::7f00:1 2002:7f00:1:: 2001:0:1::1 fc00::1 fd12::1 fe80::1
    fe80::1%eth0 ff02::1 fec0::1 2001:db8::1 localhost`
  test.for(['', ...others.trim().split(/\s+/)])('“%s” is not public', (ip) => expect(isPublicAddress(ip)).toBe(false))
})

describe('addresses', () => {
  test('credentials are extracted', () => {
    expect(parseRepositoryAddress('https://me:p%40ss@example.com:8443/a.git')).toMatchObject({
      url: 'https://example.com:8443/a.git',
      host: 'example.com',
      port: 8443,
      credentials: { username: 'me', password: 'p@ss' },
    })
  })

  test('a token alone is a credential; the user of ssh is not', () => {
    expect(parseRepositoryAddress('https://token@example.com/a').credentials).toEqual({ username: 'token', password: '' })
    expect(parseRepositoryAddress('ssh://git@example.com/a')).toMatchObject({ url: 'ssh://git@example.com/a', port: 22, credentials: null })
  })
})

describe.skipIf(!requires('git').ok)('only the instance owner can reach a private address', () => {
  let canary: GitServer
  let repository: Repository
  beforeAll(async () => {
    canary = await listenAsGitServer([], (request, response) => {
      canary.requested_paths.push(request.url ?? '')
      response.end('HPSENT body')
    })
    repository = makeRepository({ 'index.html': 'x' })
  })
  afterAll(async () => {
    await canary.close()
    repository.remove()
  })

  const addresses = `
    http://127.0.0.1:PORT/x http://localhost:PORT/x http://2130706433:PORT/x http://0x7f000001:PORT/x http://0x7f.1:PORT/x
    http://0177.0.0.1:PORT/x http://127.1:PORT/x http://0:PORT/x http://[::1]:PORT/x http://[::ffff:127.0.0.1]:PORT/x http://[::]:PORT/x
    http://ⓛocalhost:PORT/x http://１２７.0.0.1:PORT/x http://127.0.0.1.:PORT/x http://LOCALHOST.:PORT/x git://127.0.0.1:PORT/x
    git://0x7f.1:PORT/x git://2130706433:PORT/x git://localhost:PORT/x ssh://127.0.0.1:PORT/x file:///etc`
  test.for(addresses.trim().split(/\s+/))('%s', async (pattern) => {
    const source = createTestSource()
    const failure: unknown = await source
      .fetch(gitRequest(pattern.replace('PORT', String(canary.port)), { allow_local: false }))
      .catch((error: unknown) => error)
    expect(failure).toMatchObject({ name: 'SourceError', code: 'clone_failed' })
    expect(JSON.stringify([String(failure), source.log.lines])).not.toContain('HPSENT')
    expect(canary.requested_paths).toEqual([])
    source.remove()
  })

  test('requests go to the address that was checked, and redirects are not followed', async () => {
    const host = await startGitServer({ root: dirname(repository.folder) })
    const redirector = await listenAsGitServer([], (request, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${canary.port}${request.url}` }).end(),
    )
    const ask = (port: number, path: string) => {
      const address = { ...parseRepositoryAddress(`http://pinned.invalid:${port}/${path}`), pinned_ip: '127.0.0.1' }
      const args = [...fetchGitSettings(address, false), 'ls-remote', '--', address.url]
      return new Promise<string>((resolve) => {
        execFile('git', args, { env: gitFetchEnvironment(process.env, repository.folder, address, null) }, (error, stdout, stderr) =>
          resolve(error ? stderr : stdout),
        )
      })
    }
    expect(await ask(host.port, `${basename(repository.folder)}/.git`)).toContain('refs/heads/main')
    expect(await ask(redirector.port, 'x')).toContain('302')
    expect(canary.requested_paths).toEqual([])
    await host.close()
    await redirector.close()
  })

  test('git is recent enough to pin addresses', () => {
    expect(execFileSync('git', ['--version'], { encoding: 'utf8' })).toMatch(/git version (2\.(3[7-9]|[4-9]\d)|[3-9])/)
  })
})
