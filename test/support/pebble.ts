import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../../server/lib/free-port.ts'
import { createAuthorityCertificate, createLeafCertificate } from '../../server/tls/certificate.ts'
import { until } from './until.ts'

/** Pebble, an ACME authority for tests, with a DNS server of its own. Both are of the package `pebble`. */
export interface Pebble {
  directory: string
  /** A file with the authority of the directory's own address, for NODE_EXTRA_CA_CERTS. */
  ca_file: string
  /** The DNS server, as `127.0.0.1:PORT`. Every name has the address 127.0.0.1. */
  dns: string
  /** The root of the certificates that it issues, in PEM. */
  fetchRoot(): Promise<string>
  /** Changes the DNS server: `set-txt`, `clear-txt`, `set-servfail`, `clear-servfail` and others, with their JSON. */
  changeDns(action: string, body: Record<string, unknown>): Promise<void>
  /** Lines of its log. */
  readonly log: string[]
  stop(): Promise<void>
}

/** `http_port`: where it looks for HTTP-01 responses, instead of 80. It refuses a third of all nonces and sometimes uses an authorization again. */
export async function startPebble({ http_port, validity_s = 90 * 24 * 3600 }: { http_port: number; validity_s?: number }): Promise<Pebble> {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-pebble-'))
  const authority = createAuthorityCertificate({ machine: 'pebble', now: Date.now() })
  const own = createLeafCertificate(authority, { host: '127.0.0.1', now: Date.now() })
  const ports = { directory: await findFreePort(), management: await findFreePort(), dns: await findFreePort(), dns_management: await findFreePort() }
  const files = {
    ca: join(folder, 'ca.crt'),
    certificate: join(folder, 'own.crt'),
    key: join(folder, 'own.key'),
    config: join(folder, 'config.json'),
  }
  writeFileSync(files.ca, authority.certificate)
  writeFileSync(files.certificate, own.certificate + authority.certificate)
  writeFileSync(files.key, own.key)
  const pebble = {
    listenAddress: `127.0.0.1:${ports.directory}`,
    managementListenAddress: `127.0.0.1:${ports.management}`,
    certificate: files.certificate,
    privateKey: files.key,
    httpPort: http_port,
    tlsPort: 1,
    ocspResponderURL: '',
    externalAccountBindingRequired: false,
    certificateValidityPeriod: validity_s,
  }
  writeFileSync(files.config, JSON.stringify({ pebble }))
  const dns = `127.0.0.1:${ports.dns}`
  const log: string[] = []
  const start = (program: string, args: string[], env: Record<string, string> = {}): ChildProcess => {
    const child = spawn(program, args, { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const output of [child.stdout, child.stderr]) output.on('data', (bytes: Buffer) => log.push(...bytes.toString().split('\n')))
    return child
  }
  const closed = ['-http01', '', '-https01', '', '-tlsalpn01', '']
  const children = [
    start('pebble-challtestsrv', ['-dns01', dns, '-management', `127.0.0.1:${ports.dns_management}`, '-defaultIPv6', '', ...closed]),
    start('pebble', ['-config', files.config, '-dnsserver', dns, '-strict'], {
      PEBBLE_VA_NOSLEEP: '1',
      PEBBLE_WFE_NONCEREJECT: '33',
      PEBBLE_AUTHZREUSE: '20',
    }),
  ]
  const get = (url: string): Promise<string> =>
    new Promise((resolve, reject) => {
      request(url, { ca: authority.certificate }, (response) => {
        let text = ''
        response.on('data', (bytes: Buffer) => (text += bytes.toString())).on('end', () => resolve(text))
      })
        .on('error', reject)
        .end()
    })
  const directory = `https://127.0.0.1:${ports.directory}/dir`
  const changeDns = async (action: string, body: Record<string, unknown>) => {
    const { status } = await fetch(`http://127.0.0.1:${ports.dns_management}/${action}`, { method: 'POST', body: JSON.stringify(body) })
    if (status !== 200) throw new Error(`The DNS server answered ${status} to ${action}.`)
  }
  await until(() => get(directory), { what: 'pebble to start' })
  await until(() => changeDns('clear-txt', { host: 'nothing.test.' }).then(() => true), { what: 'the DNS server to start' })
  return {
    directory,
    ca_file: files.ca,
    dns,
    fetchRoot: () => get(`https://127.0.0.1:${ports.management}/roots/0`),
    changeDns,
    log,
    async stop() {
      for (const child of children) {
        const ended = once(child, 'exit')
        child.kill()
        await ended
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
