import { X509Certificate } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect, type DetailedPeerCertificate } from 'node:tls'
import { Problem } from '../../contract/errors.ts'
import { fingerprintOf } from './cluster-identity.ts'

const timeout_ms = 10_000

/**
 * Lets the Docker engine of this machine pull from the registry that another Homeport manages: `HOST:PORT@sha256:FINGERPRINT`. The authority comes from the
 * registry itself and is checked against the fingerprint. `folder`: where Docker looks for authorities. Throws a `Problem`.
 */
export async function trustRegistry(reference: string, folder = '/etc/docker/certs.d'): Promise<{ host: string }> {
  const [, host = '', name = '', port = '', fingerprint = ''] = /^((\[[\da-f:]+\]|[\w.-]+):(\d{1,5}))@sha256:([\da-f]{64})$/.exec(reference) ?? []
  if (host === '')
    throw new Problem('invalid_input', 'The registry is HOST:PORT@sha256:FINGERPRINT. homeport node token prints it where Homeport runs.')
  const certificate = await readAuthority(name.replace(/^\[|\]$/g, ''), Number(port)).catch((error: unknown) => {
    throw new Problem('runtime_unavailable', `The registry at ${host} was not reached. Check that its port is open between the nodes.`, {
      cause: error,
    })
  })
  if (certificate === undefined || fingerprintOf(certificate) !== fingerprint)
    throw new Problem('runtime_unavailable', `The registry at ${host} has another certificate. Copy the command again from homeport node token.`)
  try {
    await mkdir(join(folder, host), { recursive: true })
    await writeFile(join(folder, host, 'ca.crt'), certificate)
  } catch (error) {
    throw new Problem('runtime_unavailable', `${join(folder, host)} cannot be written. Run the command as root, for example with sudo.`, {
      cause: error,
    })
  }
  return { host }
}

/** The certificate at the end of the chain that a server presents, in PEM. Nothing is trusted for it. */
function readAuthority(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, rejectUnauthorized: false, timeout: timeout_ms }, () => {
      let found: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true)
      const seen = new Set<string>()
      while (found?.issuerCertificate && !seen.has(found.fingerprint256)) {
        seen.add(found.fingerprint256)
        found = found.issuerCertificate
      }
      resolve(found?.raw && new X509Certificate(found.raw).toString())
      socket.destroy()
    })
    socket.once('timeout', () => socket.destroy(new Error('No answer.')))
    socket.once('error', reject)
  })
}
