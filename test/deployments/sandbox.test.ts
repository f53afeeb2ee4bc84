/** What build scripts and a running app, as processes of this machine, can reach. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join, relative, sep } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLog } from '../../server/lib/log.ts'
import { createSandboxProvider } from '../../server/runtime/sandbox/sandbox-provider.ts'
import { createSeatbeltProfile } from '../../server/runtime/sandbox/seatbelt.ts'
import { makeRepository, tinyServer } from '../support/repository.ts'
import { requires } from '../support/requirements.ts'
import { type SharedPlatform, sharedPlatform } from '../support/shared-platform.ts'

/** Tries each path by reading, listing and writing, through a symlink, and every process; returns what succeeded. */
const readAttemptScript = `
const fs = require('node:fs')
const { paths, visible, pid } = JSON.parse(fs.readFileSync('aims.json', 'utf8'))
const tries = paths.flatMap((path) => [
  ['read ' + path, () => fs.readFileSync(path)],
  ['listed ' + path, () => { if (fs.readdirSync(path).some((name) => !visible.includes(name))) return true; throw 0 }],
  // The path may be in a private folder, so the test checks from outside whether anything was written.
  ['-', () => { try { fs.writeFileSync(path + '.stolen', 'x') } catch {} throw 0 }],
  ['linked ' + path, () => { fs.symlinkSync(path, 'link'); try { fs.readFileSync('link') } finally { fs.unlinkSync('link') } }],
])
tries.push(['signalled the platform', () => process.kill(pid, 0)])
tries.push(['saw the platform', () => { if (!fs.readdirSync('/proc').some((name) => /^\\d+$/.test(name) && fs.readFileSync('/proc/' + name + '/cmdline', 'utf8').includes('platform-process'))) throw 0 }])
tries.push(['changed the kernel', () => fs.accessSync('/proc/sys/kernel/core_pattern', fs.constants.W_OK)])
module.exports = tries.flatMap(([name, run]) => { try { run(); return [name] } catch { return [] } })
`

describe.skipIf(!requires('bubblewrap').ok)('with bubblewrap', () => {
  let platform: SharedPlatform
  const folder = mkdtempSync(join(homedir(), '.homeport-test-'))
  const outsideFolder = mkdtempSync(join(tmpdir(), 'homeport-elsewhere-'))
  for (const one of [folder, outsideFolder]) writeFileSync(join(one, 'secret'), 'x')
  beforeAll(async () => {
    platform = await sharedPlatform()
  })
  afterAll(async () => {
    await platform.remove()
    for (const one of [folder, outsideFolder]) rmSync(one, { recursive: true })
  })

  test('scripts and apps work, but cannot reach keys, tokens, the home folder, other projects or processes', async () => {
    const other = makeRepository(tinyServer('other'))
    await platform.createProject({ slug: 'other', repo_url: other.url })
    const { id } = await platform.waitForEnd('other', (await platform.deploy('other')).id)
    const files = ['master.key', 'homeport.db', 'instance.json', `bundles/${id}`, `bundles/${id}/app/server.js`, 'processes'].map((path) =>
      join(platform.data_dir, path),
    )
    const paths = [
      platform.data_dir,
      ...files,
      homedir(),
      folder,
      join(folder, 'secret'),
      join(outsideFolder, 'secret'),
      other.folder,
      '/var/run/docker.sock',
      '/etc/shadow',
    ]
    // Folders of the project itself, and the one in a home folder that contains this repository, whose Node runs the app.
    const visible = ['bundles', 'work', 'cache', 'toolchains', ...relative(homedir(), process.cwd()).split(sep).slice(0, 1)]
    const repository = makeRepository({
      'package.json': JSON.stringify({
        name: 'thief',
        private: true,
        scripts: {
          postinstall: `node -e "console.log('FOUND ' + JSON.stringify(require('./thief.js')))"`,
          build: 'touch built',
          start: 'node server.js',
        },
      }),
      'aims.json': JSON.stringify({ paths, visible, pid: platform.pid }),
      'thief.js': readAttemptScript,
      'server.js': `const fs = require('node:fs')
        fs.writeFileSync(require('node:os').tmpdir() + '/mine', 'x')
        const found = JSON.stringify([fs.existsSync('built'), ...require('./thief.js')])
        require('node:http').createServer((request, response) => response.end(found)).listen(process.env.PORT, process.env.HOST)`,
    })
    await platform.createProject({ slug: 'thief', repo_url: repository.url })
    // Without dependencies nothing would be installed.
    await platform.api('PATCH', '/v1/projects/thief', { install_command: 'npm install --foreground-scripts' })
    const { error, build_log } = await platform.waitForEnd('thief', (await platform.deploy('thief')).id)
    expect(error).toBeNull()
    expect(/^FOUND (.*)$/m.exec(build_log)?.[1]).toBe('[]')
    expect((await platform.fetchEdge('thief.localhost')).body).toBe('[true]')
    const written = paths.map((path) => `${path}.stolen`).filter((path) => existsSync(path))
    for (const path of written) rmSync(path)
    expect(written).toEqual([])
    for (const one of [other, repository]) one.remove()
  })

  test('the doctor names the sandbox', async () => {
    const { checks } = (await platform.api<{ checks: { name: string }[] }>('GET', '/instance/doctor?quick=true')).body
    expect(checks.find(({ name }) => name === 'sandbox')).toMatchObject({
      status: 'ok',
      message: expect.stringContaining('sandboxed with bubblewrap'),
    })
  })
})

test('with the sandbox off, the doctor says what can be read', async () => {
  const options = { instance_id: 'ins', data_dir: '/data', log: silentLog, node_path: process.execPath, npm_cli_path: '/npm/bin/npm-cli.js' }
  const off = createSandboxProvider({ ...options, sandbox: 'off' })
  expect(await off.find()).toBeNull()
  expect(await off.check()).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('the key, tokens and data of this instance (/data), your home folder'),
  })
})

test('the macOS profile hides users and data, then allows the project’s own paths', () => {
  const data = '/Users/me/Library/Application Support/Homeport'
  const lines = createSeatbeltProfile({ read: ['/Users/me/node/bin'], write: [`${data}/bundles/dpl_1`, '/a "b"'] }, [data]).split('\n')
  const at = (text: string) => lines.findIndex((line) => line.includes(text))
  expect(lines.slice(0, 4)).toEqual(['(version 1)', '(allow default)', '(deny file-write*)', expect.stringContaining(`(subpath "/Users") `)])
  expect(lines[3]).toContain(`(subpath "${data}"))`)
  // The last matching rule wins.
  expect(at(`(allow file-read* (subpath "/Users/me/node/bin") (subpath "${data}/bundles/dpl_1") (subpath "/a \\"b\\""))`)).toBeGreaterThan(3)
  expect(at(`(allow file-write* (subpath "${data}/bundles/dpl_1")`)).toBeGreaterThan(3)
  expect(at(`(literal "/Users/me")`)).toBe(4)
})
