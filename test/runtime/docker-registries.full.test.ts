import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRuntimes } from '../../server/runtime/index.ts'
import type { Runtime, RuntimeOptions } from '../../server/runtime/runtime.ts'
import type { RegistryAccess } from '../../server/runtime/registries.ts'
import { startRegistry, type TestRegistry } from '../support/registry.ts'
import { requires } from '../support/requirements.ts'
import { buildApp, createRecordedLog, dockerfilePlan, runProgram, runtimeOptions } from '../support/runtime.ts'

const noLogins: RegistryAccess = { logins: [], uses_docker_login: false }
const owner: RegistryAccess = { logins: [], uses_docker_login: true }

describe.skipIf(!requires('docker').ok || !requires('registry').ok)('images of a private registry, on Docker', () => {
  let registry: TestRegistry
  let options: RuntimeOptions & { remove(): Promise<void> }
  let runtime: Runtime
  let configFolder: string
  let image: string

  beforeAll(async () => {
    registry = await startRegistry()
    options = await runtimeOptions()
    configFolder = mkdtempSync(join(tmpdir(), 'homeport-docker-config-'))
    // With certificates for builds every Dockerfile would need BuildKit.
    delete options.ca_file
    runtime = createRuntimes({ ...options, docker: { ...options.docker, config_dir: configFolder } }).docker
    image = await registry.push('team/app:1.0', { Dockerfile: 'FROM scratch\nCOPY mark /mark\n', mark: 'one' })
  })
  afterAll(async () => {
    await forget()
    await runtime.close()
    registry.close()
    rmSync(configFolder, { recursive: true })
    await options.remove()
  })

  const project = (change: Partial<RegistryAccess['logins'][0]> = {}): RegistryAccess => ({
    logins: [{ host: registry.host, username: registry.username, password: registry.password, origin: 'project', ...change }],
    uses_docker_login: false,
  })
  const forget = () => runProgram('docker', ['image', 'rm', '--force', image]).catch(() => {})
  const use = (registries: RegistryAccess, refreshes: 'none' | 'moving_tags' | 'all' = 'none', name = image) => {
    const log = createRecordedLog()
    return runtime.useImage({ image: name, registries, refreshes, signal: new AbortController().signal }, log).then((artifact) => ({ artifact, log }))
  }
  const signIn = (config: object) => writeFileSync(join(configFolder, 'config.json'), JSON.stringify(config))
  const build = (registries: RegistryAccess, dockerfile: string) =>
    buildApp(runtime, options, { files: { Dockerfile: dockerfile }, plan: dockerfilePlan, registries })

  test('is refused without credentials, with the fix; with those of the project it is pulled once', async () => {
    await expect(use(noLogins)).rejects.toMatchObject({
      message: expect.stringContaining(`${registry.host} requires a sign-in`),
      hint: expect.stringContaining(`homeport registries SLUG add ${registry.host}`),
    })
    await expect(use(project({ password: 'wrong' }))).rejects.toMatchObject({
      message: expect.stringContaining('refused the project’s credentials of ada'),
    })
    await expect(use(project(), 'none', `${registry.host}/team/app:9`)).rejects.toMatchObject({
      message: expect.stringContaining('no such image or tag'),
    })
    const { artifact } = await use(project())
    expect(artifact).toMatchObject({ kind: 'image', image, id: expect.stringMatching(/^sha256:/) })
    const { log } = await use(project())
    expect(log.lines.join('\n')).not.toContain('Pulling')
    await forget()
  })

  test('the machine’s docker login is used for the owner only: plain, through a credential helper on the PATH, and as an identity token', async () => {
    const auth = Buffer.from(`${registry.username}:${registry.password}`).toString('base64')
    signIn({ auths: { [`https://${registry.host}/v1/`]: { auth } } })
    await expect(use(noLogins)).rejects.toMatchObject({ message: expect.stringContaining('requires a sign-in') })
    await use(owner)
    await forget()

    const helpers = mkdtempSync(join(tmpdir(), 'homeport-helpers-'))
    const environmentFile = join(helpers, 'environment')
    const helper = join(helpers, 'docker-credential-test')
    const answer = JSON.stringify({ ServerURL: registry.host, Username: registry.username, Secret: registry.password })
    writeFileSync(
      helper,
      `#!/bin/sh\n[ "$1" = get ] || exit 1\n[ "$(cat)" = '${registry.host}' ] || { echo 'credentials not found'; exit 1; }\nenv > ${environmentFile}\necho '${answer}'\n`,
    )
    chmodSync(helper, 0o755)
    const second = createRuntimes({
      ...options,
      path: `${helpers}:/usr/bin:/bin`,
      docker: { config_dir: configFolder, environment: { PATH: '/usr/bin:/bin' } },
    }).docker
    signIn({ credsStore: 'test', auths: { [registry.host]: {} } })
    const log = createRecordedLog()
    const request = { image, registries: owner, refreshes: 'none' as const, signal: new AbortController().signal }
    await second.useImage(request, log)
    expect(log.lines.join('\n')).not.toContain(registry.password)
    // A helper gets only the passed variables, and no secret of this process.
    expect(readFileSync(environmentFile, 'utf8')).not.toContain('NODE_')
    await forget()
    for (const name of ['../test', 'test;id', 'missing']) {
      signIn({ credHelpers: { [registry.host]: name } })
      await expect(second.useImage(request, log)).rejects.toMatchObject({ message: expect.stringContaining('requires a sign-in') })
    }
    signIn({ auths: { [registry.host]: { auth: Buffer.from('ada:stale').toString('base64') } } })
    await expect(use(owner)).rejects.toMatchObject({
      message: expect.stringContaining('refused your docker login of ada'),
      hint: expect.stringContaining(`docker login ${registry.host}`),
    })
    signIn({})
    await second.close()
    rmSync(helpers, { recursive: true })
  })

  test('a local image is not available to projects without access to its registry', async () => {
    await use(project())
    await expect(use(noLogins)).rejects.toMatchObject({ message: expect.stringContaining('requires a sign-in') })
    for (const dockerfile of [`FROM ${image}`, `FROM scratch\nCOPY --from=${image} /mark /mark`])
      await expect(build(noLogins, `${dockerfile}\nLABEL a=b\n`)).rejects.toMatchObject({ message: expect.stringContaining('refused this project') })
    await expect(build(noLogins, `ARG BASE=${image}\nFROM $BASE\nLABEL a=b\n`)).rejects.toMatchObject({
      message: expect.stringContaining(registry.host),
    })
    const built = await build(owner, `FROM ${image}\nLABEL a=b\n`)
    await runtime.discard(built.deployment_id, built.artifact)
    await use(owner)
    await forget()
  })

  test('a tag such as latest is refreshed on request, and an unreachable registry keeps the present image', async () => {
    const name = 'team/moving'
    const first = await registry.push(name, { Dockerfile: 'FROM scratch\nCOPY mark /mark\n', mark: 'first' })
    const before = await use(project(), 'moving_tags', first)
    await registry.push(name, { Dockerfile: 'FROM scratch\nCOPY mark /mark\n', mark: 'second' })
    await use(project(), 'moving_tags', first)
    await registry.push(`${name}:2`, { Dockerfile: 'FROM scratch\nCOPY mark /mark\n', mark: 'other' })
    const present = await use(project(), 'none', first)
    expect(present.artifact).not.toMatchObject({ id: (before.artifact as { id?: string }).id })
    const refused = await use({ ...owner, logins: project({ password: 'wrong' }).logins }, 'moving_tags', first)
    expect(refused.log.lines.join('\n')).toContain('The version on this machine is used.')
    expect(refused.artifact).toEqual(present.artifact)
    await runProgram('docker', ['image', 'rm', '--force', first])
  })

  test.each(['the classic builder', 'BuildKit'])(
    'a Dockerfile pulls its base image with credentials from %s, none of which remain',
    async (builder) => {
      const head = builder === 'BuildKit' ? 'ARG UNUSED\n' : ''
      const dockerfile = `${head}FROM ${image}\n${builder === 'BuildKit' ? 'COPY --chmod=644 Dockerfile /copied\n' : 'COPY Dockerfile /copied\n'}`
      await expect(build(noLogins, dockerfile)).rejects.toMatchObject({
        message: expect.stringMatching(
          new RegExp(`line \\d: the base image ${registry.host}/team/app:1.0 was not pulled: ${registry.host} requires a sign-in`),
        ),
      })
      const built = await build(project(), dockerfile)
      const { image: name } = built.artifact as { image: string }
      expect(built.log.lines.join('\n') + (await runProgram('docker', ['history', '--no-trunc', name]))).not.toContain(registry.password)
      await runtime.discard(built.deployment_id, built.artifact)
      await forget()
    },
  )

  test('a registry never gets credentials of another, whatever the image is called', async () => {
    const headers: string[] = []
    const stranger = createServer((request, response) => {
      headers.push(JSON.stringify(request.headers))
      response.writeHead(401, { 'www-authenticate': 'Basic realm="stranger"' }).end()
    }).listen(0, '127.0.0.1')
    await once(stranger, 'listening')
    const host = `127.0.0.1:${(stranger.address() as AddressInfo).port}`
    signIn({ auths: { [registry.host]: { auth: Buffer.from('ada:correct horse').toString('base64') } } })
    const access = { ...owner, logins: project().logins }
    for (const name of [`${host}/team/app:1`, `${host}/${registry.host.replace(':', '/')}/app`])
      await expect(use(access, 'none', name)).rejects.toThrow()
    await expect(build(access, `FROM ${host}/team/app:1\n# ${registry.host}\n`)).rejects.toThrow()
    expect(headers.length).toBeGreaterThan(2)
    expect(headers.filter((one) => one.includes('authorization'))).toEqual([])
    stranger.close()
  })
})
