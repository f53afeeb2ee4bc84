import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { PublicNames } from '../../server/contract/network.ts'
import { findFreePort } from '../../server/lib/free-port.ts'
import { startPebble, type Pebble } from '../support/pebble.ts'
import { startTestPlatform, type TestPlatform, until } from '../support/platform.ts'
import { makeRepository, type Repository, tinyServer } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { getHttps } from '../support/tls.ts'

const hasPebble = requires('pebble').ok

describe.runIf(hasPebble).each([0, 1])('public names with %i edge workers', (edge_workers) => {
  let pebble: Pebble
  let root: string
  let platform: TestPlatform
  let repository: Repository

  beforeAll(async () => {
    const edge_port = await findFreePort()
    pebble = await startPebble({ http_port: edge_port })
    root = await pebble.fetchRoot()
    vi.stubEnv('NODE_EXTRA_CA_CERTS', pebble.ca_file)
    vi.stubEnv('HOMEPORT_APPS_DOMAIN', 'apps.example.com')
    vi.stubEnv('HOMEPORT_ACME_EMAIL', 'ops@example.com')
    vi.stubEnv('HOMEPORT_ACME_ACCEPT_TERMS', 'true')
    vi.stubEnv('HOMEPORT_ACME_DIRECTORY', pebble.directory)
    platform = await startTestPlatform({ runtime: 'process', edge_workers, edge_port })
    vi.unstubAllEnvs()
    repository = makeRepository(tinyServer('public'))
    await platform.createProject({ slug: 'shop', repo_url: repository.url })
  })
  afterAll(async () => {
    repository.remove()
    await platform.remove()
    await pebble.stop()
  })

  const httpsPort = () => Number(new URL(platform.handle.instance.edge_https_url ?? '').port)
  const getPublic = (name: string) => getHttps(httpsPort(), '/', { ca: root, servername: name })
  const readNames = async () => (await platform.api<{ public_names: PublicNames }>('GET', '/instance/public-names')).body.public_names

  test('a project gets a certificate when it is deployed, and answers with it', async () => {
    const { id } = await platform.deploy('shop')
    const deployment = await platform.waitForEnd('shop', id)
    expect(deployment).toMatchObject({ status: 'ready', url: `https://shop.apps.example.com:${httpsPort()}` })
    const response = await until(() => getPublic('shop.apps.example.com'), { what: 'the public certificate' })
    expect(response).toMatchObject({ status: 200, text: 'public' })
    expect(await platform.fetchEdge('shop.apps.example.com')).toMatchObject({ status: 200, body: 'public' })
    expect(await platform.fetchEdge('shop.localhost')).toMatchObject({ status: 200, body: 'public' })
    expect((await readNames()).certificates).toMatchObject([{ name: 'shop.apps.example.com', status: 'issued', last_error: null }])
  })
})
