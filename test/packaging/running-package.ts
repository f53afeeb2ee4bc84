import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import { expect, test } from 'vitest'
import { type InstanceFile, readInstanceFile } from '../../server/lib/instance-file.ts'
import { fetchFromEdge } from '../support/instance-process.ts'
import { requires } from '../support/requirements.ts'
import { until } from '../support/until.ts'
import type { Package } from './pack.ts'

/** What runs the platform of a package, and from which of its folders the programs must come. */
export interface LaunchMode {
  name: string
  /** The command, before `serve`. */
  start: string[]
  unpacked: string
}

/** Like a user who installed the package: the command, through a symlink in a folder of the PATH. */
export function launchByCommand(made: Package): LaunchMode {
  const link = join(made.folder, 'homeport')
  symlinkSync(join(made.resources, 'bin/homeport'), link)
  return { name: 'command', start: [link], unpacked: made.unpacked }
}

/** Like the desktop: the code is in the archive, and the running binary is not Node. */
export function launchFromArchive(made: Package, archive: string): LaunchMode {
  const electronPreload = "data:text/javascript,Object.defineProperty(process.versions,'electron',{value:'45.0.0'})"
  return {
    name: 'archive',
    start: [join(made.unpacked, 'node_modules/node/bin/node'), `--import=${electronPreload}`, join(archive, 'out/main/homeport.js')],
    unpacked: `${archive}.unpacked`,
  }
}

export function testRunningPackage(title: string, prepare: () => { made: Package; way: LaunchMode }): void {
  test.skipIf(!requires('linux').ok)(title, { timeout: 180_000 }, async () => {
    const { made, way } = prepare()
    const folder = join(made.folder, way.name)
    const data = join(folder, 'data')
    const home = join(folder, 'home')
    mkdirSync(home, { recursive: true })
    // The checkout is out of reach, and no Node on the machine is required.
    const env = { PATH: '/usr/bin:/bin', HOME: home, NO_COLOR: '1', HOMEPORT_CHROMIUM: 'off', HOMEPORT_DATA: data, npm_config_offline: 'true' }
    const run = async (args: string[]) => {
      const child = spawn(way.start[0]!, [...way.start.slice(1), ...args], { env, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
      const [code] = (await once(child, 'close')) as [number | null]
      expect(code, `${args.join(' ')}:\n${output}`).toBe(0)
      return output
    }

    const platform = spawn(way.start[0]!, [...way.start.slice(1), 'serve', '--port', '0', '--edge-port', '0', '--runtime', 'process', '--no-open'], {
      env,
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const ended = once(platform, 'exit')
    try {
      const instance = await until(() => ready(data, platform.exitCode), { what: 'the platform of the package' })
      const node = join(way.unpacked, 'node_modules/node/bin/node')
      if (way.name === 'command') expect(readlinkSync(`/proc/${instance.pid}/exe`)).toBe(node)
      expect((await fetch(`${instance.api_url}/healthz`)).status).toBe(200)
      const page = await fetch(`${instance.api_url}/app/`)
      expect(page.status).toBe(200)
      const script = /src="(\/app\/assets\/[^"]+\.js)"/.exec(await page.text())?.[1]
      expect((await fetch(`${instance.api_url}${script}`)).headers.get('content-type')).toMatch(/javascript/)

      // The package's npm installs, and its Node runs.
      await run(['deploy', createApp(join(folder, 'hello'))])
      expect(await fetchFromEdge(instance.edge_url, 'hello')).toEqual({ status: 200, text: `installed ${node}` })

      // The package's PostgreSQL and pg_dump.
      await run(['db', 'create', 'hello'])
      await run(['db', 'dump', 'hello', join(folder, 'hello.sql')])
      expect(readFileSync(join(folder, 'hello.sql'), 'utf8')).toContain('PostgreSQL database dump')
      expect(await run(['samples'])).toContain('tide-clock')

      // The packages for mail are in the bundle: receiving, reading, and the HTML that is shown.
      await run(['mail', 'hello', 'on'])
      const url = await until(
        async () => {
          const { text } = await fetchFromEdge(instance.edge_url, 'hello', '/smtp')
          return text.startsWith('smtp://') ? text : undefined
        },
        { what: 'the app with SMTP_URL' },
      )
      const attachments = [{ filename: 'ä.txt', content: 'attached' }]
      const html = '<p onclick="alert(1)">Grüße</p><script>alert(1)</script>'
      await createTransport(url).sendMail({ from: 'a@example.com', to: 'b@example.com', subject: 'テスト', text: 'Grüße', html, attachments })
      const { messages } = JSON.parse(await run(['mail', 'hello', '--json'])) as { messages: { id: string; subject: string }[] }
      expect(messages.map(({ subject }) => subject)).toEqual(['テスト'])
      const { message } = JSON.parse(await run(['mail', 'hello', 'show', messages[0]!.id, '--json'])) as {
        message: { text: string; html: string; files: { name: string }[] }
      }
      expect(message).toMatchObject({ text: expect.stringContaining('Grüße'), files: [{ name: 'ä.txt' }] })
      expect(message.html).toContain('<p>Grüße</p>')
      expect(message.html).not.toContain('alert')
      await run(['mail', 'hello', 'download', messages[0]!.id, join(folder, 'file'), '--attachment', '1'])
      expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('attached')
    } finally {
      platform.kill('SIGTERM')
      await ended
    }
    expect(platform.exitCode).toBe(0)
  })
}

function ready(data: string, code: number | null): InstanceFile | undefined {
  if (code !== null) throw new Error(`homeport serve ended with ${code} before it was ready.`)
  return readInstanceFile(data)
}

/** An app with a dependency that needs no network. */
function createApp(folder: string): string {
  mkdirSync(join(folder, 'dep'), { recursive: true })
  const write = (path: string, text: string) => writeFileSync(join(folder, path), text)
  write('package.json', JSON.stringify({ name: 'hello', private: true, scripts: { start: 'node server.js' }, dependencies: { dep: 'file:./dep' } }))
  write('dep/package.json', JSON.stringify({ name: 'dep', version: '1.0.0', main: 'index.js' }))
  write('dep/index.js', "module.exports = 'installed'")
  write(
    'server.js',
    "require('node:http').createServer((req, res) => res.end(req.url === '/smtp' ? process.env.SMTP_URL : require('dep') + ' ' + process.execPath)).listen(process.env.PORT)",
  )
  return folder
}
