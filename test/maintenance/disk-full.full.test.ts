/** More of a full disk: builds, running deployments, clean-ups and starts. */
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { signalFileIn, startTestPlatform } from '../support/platform.ts'
import { requires } from '../support/requirements.ts'
import { until } from '../support/until.ts'
import { useSmallDiskPlatform } from './small-disk-platform.ts'

const mebibyte = 2 ** 20

describe.skipIf(!requires('tmpfs').ok)('a full disk', () => {
  const { platform, start, connect, live, names, makeRoom, slugs, fill, untilRefused } = useSmallDiskPlatform()

  test('a build that fills the disk fails with storage_full, leaves nothing, and the next one succeeds', async () => {
    const writes = (bytes: number) => ({
      'package.json': JSON.stringify({ name: 'big', private: true, scripts: { build: 'node build.js', start: 'node server.js' } }),
      'build.js': `require('node:fs').writeFileSync('big.bin', Buffer.alloc(${bytes}, 1))`,
      'server.js': "require('node:http').createServer((_, response) => response.end('big')).listen(process.env.PORT)",
    })
    await connect('big', writes(20 * mebibyte))
    fill(6 * mebibyte)
    const failed = await platform().waitForEnd('big', (await platform().deploy('big')).id)
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'storage_full' } })
    expect(names('work')).toEqual([])
    expect(names('bundles')).not.toContain(failed.id)
    makeRoom()
    await live('big')
  })

  test('a deployment whose end cannot be stored ends once there is space; a cancel meanwhile says why it fails', async () => {
    // The build continues once this file is removed, because on a full disk none can be created.
    const shut = signalFileIn(platform().data_dir, 'shut')
    writeFileSync(shut, '')
    await connect('stuck', {
      'package.json': JSON.stringify({ name: 'stuck', private: true, scripts: { build: 'node build.js', start: 'node server.js' } }),
      'build.js': `
const fs = require('node:fs')
console.log('it began')
setInterval(() => fs.existsSync(${JSON.stringify(shut)}) || process.exit(1), 20)`,
      'server.js': '',
    })
    // On a separate disk, so that files of the build do not free space for the database.
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', join(platform().data_dir, 'work')])
    const { id } = await platform().deploy('stuck')
    await until(async () => (await platform().getDeployment('stuck', id)).build_log.includes('it began') || undefined, { what: 'the build to begin' })
    fill()
    await untilRefused()
    rmSync(shut)
    await until(
      async () => {
        const { status, body } = await platform().api('POST', `/v1/projects/stuck/deployments/${id}/cancel`)
        return status === 507 && body.error === 'storage_full' ? body : undefined
      },
      { what: 'the cancel to be refused' },
    )
    expect((await platform().getDeployment('stuck', id)).status).toBe('building')
    makeRoom()
    const end = await platform().waitForEnd('stuck', id)
    expect(['failed', 'canceled']).toContain(end.status)
    execFileSync('umount', [join(platform().data_dir, 'work')])
    await live('chatty')
  })

  test('a clean-up does what it can even if the database cannot be written', async () => {
    fill()
    await untilRefused()
    const { status, body } = await platform().api('POST', '/instance/disk/clean', {})
    expect([status, body.error]).toEqual([200, undefined])
    makeRoom()
    expect((await platform().api('DELETE', '/v1/projects/big')).status).toBe(204)
  })

  test('a start on a full disk reports it; with space it recovers', async () => {
    const { data_dir } = platform()
    await platform().handle.stop()
    fill()
    await expect(startTestPlatform({ runtime: 'process', data_dir })).rejects.toThrow(/disk .*is full/)
    makeRoom()
    await start()
    expect(await slugs()).toContain('chatty')
    const isBack = async () => ((await platform().fetchEdge('chatty.localhost')).body === 'chatty' ? true : undefined)
    await until(isBack, { what: 'the app to be back' })
  })
})
