import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { trustHostCertificates } from '../../server/source/certificates.ts'
import { createSourceFetcher } from '../../server/source/index.ts'
import { createRecordedLog } from '../support/runtime.ts'
import { gitRequest } from '../support/source.ts'

const folder = mkdtempSync(join(tmpdir(), 'homeport-certificates-'))
const certificate = join(folder, 'own.pem')
const key = join(folder, 'own.key')

beforeAll(() => {
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  const made = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2'.split(' ')
  execFileSync('openssl', [...made, '-keyout', key, '-out', certificate, ...subject], { stdio: 'ignore' })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Git's message about a host whose certificate only its own authority has signed. */
async function fetchFrom(environment: Record<string, string | undefined>): Promise<string> {
  const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (_request, response) => response.writeHead(404).end())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const into = mkdtempSync(join(folder, 'into-'))
  try {
    const request = gitRequest(`https://127.0.0.1:${port}/x.git`)
    await createSourceFetcher({ environment }).fetchSource({ ...request, into, log: createRecordedLog(), signal: new AbortController().signal })
    return 'fetched'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

const path = { PATH: process.env.PATH }

test('without it the host is not trusted', async () => expect(await fetchFrom(path)).toMatch(/certificate/i))

test.for(['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'])('%s reaches git', async (name) => {
  const environment = await trustHostCertificates({ ...path, [name]: certificate }, folder)
  // Trusted, and then not found, because the server has no repository.
  expect(await fetchFrom(environment)).toMatch(/repository does not exist/i)
})

test('a missing file changes nothing; git’s own setting stays', async () => {
  expect(await trustHostCertificates({ NODE_EXTRA_CA_CERTS: '/nowhere.pem' }, folder)).toEqual({ NODE_EXTRA_CA_CERTS: '/nowhere.pem' })
  const own = { GIT_SSL_CAINFO: '/own.pem', NODE_EXTRA_CA_CERTS: certificate }
  expect(await trustHostCertificates(own, folder)).toEqual(own)
})
