import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import { expect, test } from 'vitest'
import { runtimes } from '../../server/contract/runtimes.ts'
import { newId } from '../../server/lib/id.ts'
import type { ServiceRequest } from '../../server/runtime/runtime.ts'
import { eventually, runProgram, startApp, waitForResponse } from '../support/runtime.ts'
import { hello, type SuiteContext } from './suite-context.ts'

export const serviceRequest = (more: Partial<ServiceRequest> = {}): ServiceRequest => ({
  name: 'worker',
  entrypoint: null,
  command: null,
  working_directory: null,
  port: null,
  networks: [],
  volumes: [],
  health_command: null,
  is_ready_image: false,
  definition: 'one',
  ...more,
})

/** Requirements for every driver: services of a deployment. */
export function serviceTests(suite: SuiteContext): void {
  test('a service runs its own command, with its arguments unchanged, and is listed by name', async () => {
    const { runtime, app } = suite
    const print = [
      'node',
      '-e',
      'console.log(JSON.stringify(process.argv.slice(1))); setInterval(() => {}, 1000)',
      '--',
      'a b',
      `it's "quoted"`,
      '$HOME',
    ]
    const one = await startApp(runtime, app, { service: serviceRequest({ command: print, definition: 'abc' }) })
    await eventually(() => expect(one.lines).toEqual([JSON.stringify(['a b', `it's "quoted"`, '$HOME'])]))
    expect(await runtime.list()).toMatchObject([{ id: one.instance.id, deployment_id: app.deployment_id, service: 'worker', running: true }])
    await one.stop()
  })

  test('a volume keeps its files across replicas, is shared by name, and is removed separately', async () => {
    const { runtime, app } = suite
    const id = newId('prj')
    const path = runtimes[runtime.name].uses_host_network ? './data' : '/srv/data'
    const volumes = [{ id: `${id}.data`, path, is_read_only: false }]
    const write = `require('fs').appendFileSync('${path}/file', 'x'); console.log(require('fs').readFileSync('${path}/file', 'utf8'))`
    const readAll = async () => {
      const run = await startApp(runtime, app, { service: serviceRequest({ command: ['node', '-e', write], volumes }) })
      expect(await run.exit).toMatchObject({ code: 0 })
      await run.stop()
      return run.lines
    }
    expect(await readAll()).toEqual(['x'])
    expect(await readAll()).toEqual(['xx'])
    await runtime.discard(newId('dpl'), null)
    expect(await readAll()).toEqual(['xxx'])
    await runtime.removeVolumes(`${newId('prj')}.`)
    expect(await readAll()).toEqual(['xxxx'])
    expect(await runtime.listVolumes(`${id}.`)).toEqual([{ id: `${id}.data`, bytes: expect.any(Number) }])
    const archive = (await runtime.exportVolume(`${id}.data`))!
    // The program that creates it may have exited before it is read.
    await runtime.listVolumes(`${id}.`)
    const copy = await buffer(archive)
    expect(await readAll()).toEqual(['xxxxx'])
    await runtime.importVolume(`${id}.data`, app.project_id, Readable.from([copy]))
    expect(await readAll()).toEqual(['xxxxx'])
    await runtime.importVolume(`${id}.copy`, app.project_id, Readable.from([copy]))
    expect(await buffer((await runtime.exportVolume(`${id}.copy`))!)).toHaveLength(copy.length)
    expect(await runtime.exportVolume(`${id}.none`)).toBeUndefined()
    await runtime.removeVolumes(`${id}.`)
    expect(await readAll()).toEqual(['x'])
    await runtime.removeVolumes(`${id}.`)
  })

  test('the files of a volume are listed and read, and no symlink leads out of it', async () => {
    const { runtime, app } = suite
    const id = `${newId('prj')}.files`
    const archive = pack()
    for (const name of ['photos/', 'photos/2026/']) archive.entry({ name, type: 'directory' })
    archive.entry({ name: 'photos/2026/a “b”.txt' }, 'inside')
    archive.entry({ name: 'notes.txt', mtime: new Date('2026-01-31T12:00:00Z') }, 'four')
    archive.entry({ name: 'out', type: 'symlink', linkname: '/etc' })
    archive.entry({ name: 'passwd', type: 'symlink', linkname: '/etc/passwd' })
    archive.entry({ name: 'near', type: 'symlink', linkname: 'photos' })
    archive.entry({ name: 'up', type: 'symlink', linkname: '..' })
    archive.finalize()
    await runtime.importVolume(id, app.project_id, Readable.from(archive, { objectMode: false }))
    const list = async (path: string) => {
      const folder = await runtime.listVolumeFolder(id, path)
      return folder?.entries.map(({ name, kind, size_bytes }) => `${kind} ${name} ${size_bytes}`).sort()
    }
    expect(await list('')).toEqual(['file notes.txt 4', 'folder photos null', 'link near null', 'link out null', 'link passwd null', 'link up null'])
    expect(await list('photos')).toEqual(['folder 2026 null'])
    expect(await list('photos/2026')).toEqual(['file a “b”.txt 6'])
    const { entries = [], is_complete } = (await runtime.listVolumeFolder(id, '')) ?? {}
    expect([is_complete, entries.find(({ name }) => name === 'notes.txt')?.modified_at]).toEqual([true, '2026-01-31T12:00:00.000Z'])
    const read = async (path: string) => {
      const file = await runtime.readVolumeFile(id, path)
      return file && [file.bytes, (await buffer(file.content)).toString()]
    }
    expect(await read('photos/2026/a “b”.txt')).toEqual([6, 'inside'])
    for (const path of ['out', 'near', 'up', 'none', 'notes.txt', 'notes.txt/x', 'out/ssl', 'near/2026', 'up/..none'])
      expect(await runtime.listVolumeFolder(id, path), path).toBeUndefined()
    for (const path of ['passwd', 'photos', 'out/passwd', 'near/2026/a “b”.txt', 'none', 'notes.txt/x', 'up/none'])
      expect(await runtime.readVolumeFile(id, path), path).toBeUndefined()
    for (const path of ['..', 'photos/../..', '/etc', 'photos//2026', '.', 'a\0b']) {
      await expect(runtime.listVolumeFolder(id, path), path).rejects.toThrow('leaves its volume')
      await expect(runtime.readVolumeFile(id, path), path).rejects.toThrow('leaves its volume')
    }
    expect([await runtime.listVolumeFolder(`${id}2`, ''), await runtime.readVolumeFile(`${id}2`, 'notes.txt')]).toEqual([undefined, undefined])
    await runtime.importVolume(`${id}2`, app.project_id, (await runtime.exportVolume(id))!)
    await runtime.removeVolume(id)
    expect((await runtime.listVolumes(id)).map((volume) => volume.id)).toEqual([`${id}2`])
    await runtime.removeVolumes(id)
    await runtime.removeVolume(id)
  })

  test('a missing prebuilt image is named in the failure', async () => {
    const log = { line() {}, note() {} }
    const registries = { logins: [], uses_docker_login: false }
    const request = { image: 'homeport-test-missing:1', registries, refreshes: 'none' as const, signal: new AbortController().signal }
    await expect(suite.runtime.useImage(request, log)).rejects.toThrow(/homeport-test-missing:1/)
  })
}

interface InspectedNetworks {
  NetworkSettings: { Networks: Record<string, { IPAddress: string }> }
}

/** For runtimes with private networks. */
export function serviceNetworkTests(suite: SuiteContext): void {
  const get = (urls: string[], signal = 'undefined') =>
    `Promise.all(${JSON.stringify(urls)}.map((url) => fetch(url, { signal: ${signal} }).then((r) => r.text()).then((t) => console.log('got ' + t), (e) => console.log('no ' + (e.cause?.code ?? e.name))))).then(() => process.exit())`

  test('services of one network reach each other by name, those of another do not', async () => {
    const { runtime, app } = suite
    const [mine, other] = [newId('dpl'), newId('dpl')]
    const connect = (name: string, network: string, more: Partial<ServiceRequest> = {}) =>
      serviceRequest({ name, networks: [{ name: network, host_names: [name] }], ...more })
    const started = await Promise.all(
      [mine, other].map((network, index) =>
        startApp(runtime, app, { variables: { SCRIPT: hello, WHO: String(index) }, service: connect('api', network, { port: 3000 }) }),
      ),
    )
    try {
      for (const { instance } of started) await waitForResponse(instance)
      const ask = async (network: string) => {
        const one = await startApp(runtime, app, { service: connect('asker', network, { command: ['node', '-e', get(['http://api:3000/'])] }) })
        await one.exit
        await one.stop()
        return one.lines
      }
      // What a resolver says of an unknown name depends on whether the machine has one to forward it to.
      const unresolved = [expect.stringMatching(/^no (ENOTFOUND|EAI_AGAIN)$/)]
      expect(await Promise.all([ask(mine), ask(other), ask(newId('dpl'))])).toEqual([['got hello 0'], ['got hello 1'], unresolved])
      expect(started[0]!.instance.assigned_port).toBe(3000)

      // Not by its address in that network either.
      const [{ NetworkSettings }] = JSON.parse(await runProgram('docker', ['inspect', started[1]!.instance.id])) as [InspectedNetworks]
      const addresses = Object.values(NetworkSettings.Networks).map(({ IPAddress }) => IPAddress)
      expect(addresses).toHaveLength(2)
      const spy = await startApp(runtime, app, {
        service: connect('spy', mine, {
          command: [
            'node',
            '-e',
            get(
              addresses.map((address) => `http://${address}:3000/`),
              'AbortSignal.timeout(2000)',
            ),
          ],
        }),
      })
      await spy.exit
      expect(spy.lines).toEqual(['no TimeoutError', 'no TimeoutError'])
    } finally {
      for (const one of started) await one.stop()
    }
  })

  test('a prebuilt image may change its user at startup; an app may not', async () => {
    const { runtime, app } = suite
    const inspect = async (is_ready_image: boolean) => {
      const one = await startApp(runtime, app, {
        service: serviceRequest({ is_ready_image, command: ['node', '-e', 'setInterval(() => {}, 1000)'] }),
      })
      const [{ HostConfig }] = JSON.parse(await runProgram('docker', ['inspect', one.instance.id])) as [{ HostConfig: Record<string, unknown> }]
      await one.stop()
      const { CapAdd, CapDrop, SecurityOpt, Privileged, Binds } = HostConfig
      return { CapAdd: CapAdd ?? [], CapDrop, SecurityOpt, Privileged, Binds }
    }
    const shut = { CapDrop: ['ALL'], SecurityOpt: ['no-new-privileges'], Privileged: false, Binds: null }
    expect(await inspect(false)).toEqual({ ...shut, CapAdd: [] })
    expect(await inspect(true)).toEqual({
      ...shut,
      CapAdd: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID', 'KILL', 'NET_BIND_SERVICE'],
    })
  })
}
