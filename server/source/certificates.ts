import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { type Environment, pickVariables } from '../lib/environment.ts'

/**
 * Makes git trust the certificates that the host trusts in addition to the public ones (`NODE_EXTRA_CA_CERTS`, `SSL_CERT_FILE`). git reads neither
 * variable, so it gets one file with all certificates. A `GIT_SSL_CAINFO` of the host is kept.
 */
export async function trustHostCertificates(environment: Environment, folder: string): Promise<Environment> {
  const { GIT_SSL_CAINFO, SSL_CERT_FILE, NODE_EXTRA_CA_CERTS } = pickVariables(environment, [
    'GIT_SSL_CAINFO',
    'SSL_CERT_FILE',
    'NODE_EXTRA_CA_CERTS',
  ])
  if (GIT_SSL_CAINFO !== undefined) return environment
  if (NODE_EXTRA_CA_CERTS === undefined) return SSL_CERT_FILE === undefined ? environment : { ...environment, GIT_SSL_CAINFO: SSL_CERT_FILE }
  const extra = await readFile(NODE_EXTRA_CA_CERTS, 'utf8').catch(() => undefined)
  // A missing file is ignored, as Node and the builds ignore it.
  if (extra === undefined) return environment
  const path = join(folder, 'certificates.pem')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(`${path}.new`, `${rootCertificates.join('\n')}\n${extra}`)
  await rename(`${path}.new`, path)
  return { ...environment, GIT_SSL_CAINFO: path }
}
