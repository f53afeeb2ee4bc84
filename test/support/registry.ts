import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../../server/lib/free-port.ts'
import { buildImage } from './docker.ts'
import { until } from './until.ts'
import { runProgram } from './runtime.ts'

/** Debian's registry on loopback, which Docker reaches without TLS. Only `ada` with her password may push and pull. */
export interface TestRegistry {
  /** Such as `127.0.0.1:41234`. */
  host: string
  username: string
  password: string
  /** Builds an image from these files on no base, pushes it, and removes it from this machine; returns its name. */
  push(name: string, files: Record<string, string>): Promise<string>
  close(): void
}

/** bcrypt of the password below. */
const passwordHash = '$2b$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2'

export async function startRegistry(): Promise<TestRegistry> {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-registry-'))
  const [username, password] = ['ada', 'correct horse']
  const host = `127.0.0.1:${await findFreePort()}`
  writeFileSync(join(folder, 'htpasswd'), `${username}:${passwordHash}\n`)
  writeFileSync(
    join(folder, 'config.yml'),
    JSON.stringify({
      version: 0.1,
      log: { level: 'error', accesslog: { disabled: true } },
      storage: { filesystem: { rootdirectory: join(folder, 'data') }, delete: { enabled: true } },
      http: { addr: host },
      auth: { htpasswd: { realm: 'homeport', path: join(folder, 'htpasswd') } },
    }),
  )
  const server: ChildProcess = spawn('docker-registry', ['serve', join(folder, 'config.yml')], { stdio: 'ignore' })
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  await until(async () => ((await fetch(`http://${host}/v2/`, { headers: { authorization } })).ok ? true : undefined), {
    what: 'the registry',
  })
  const configFolder = join(folder, 'docker')
  mkdirSync(configFolder)
  writeFileSync(join(configFolder, 'config.json'), JSON.stringify({ auths: { [host]: { auth: authorization.slice('Basic '.length) } } }))
  return {
    host,
    username,
    password,
    async push(name, files) {
      const image = `${host}/${name}`
      const source = mkdtempSync(join(folder, 'image-'))
      for (const [path, text] of Object.entries(files)) writeFileSync(join(source, path), text)
      await buildImage(image, source)
      await runProgram('docker', ['--config', configFolder, 'push', '--quiet', image])
      await runProgram('docker', ['image', 'rm', '--force', image])
      return image
    },
    close() {
      server.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
