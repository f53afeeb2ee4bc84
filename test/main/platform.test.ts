import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startEmbeddedPlatform } from '../../main/platform.ts'
import { silentLog } from '../../server/lib/log.ts'
import { readOptions } from '../../server/options.ts'
import { startPlatform } from '../../server/index.ts'
import { resetFakeElectron } from '../support/fake-electron.ts'

let folder: string

beforeEach(() => {
  resetFakeElectron()
  folder = mkdtempSync(join(tmpdir(), 'homeport-embedded-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const options = () => readOptions({ data: folder, port: '0', 'edge-port': '0', runtime: 'process' })

test('a folder that headless Homeport has used keeps its key file', async () => {
  await (await startPlatform(options())).stop()
  const key = readFileSync(join(folder, 'master.key'))
  const platform = await startEmbeddedPlatform(options(), silentLog)
  await platform.stop()
  expect(readFileSync(join(folder, 'master.key'))).toEqual(key)
  expect(existsSync(join(folder, 'master.key.sealed'))).toBe(false)
})
