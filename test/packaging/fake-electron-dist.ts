import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/instance-process.ts'

/** The marker by which electron-builder, Electron and @electron/fuses find the fuses in a binary. */
const sentinel = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX'
/** The fuses as Electron is delivered: the behavior from before fuses existed. */
const defaultFuses = '10110001'
export const fuseWire = Buffer.concat([Buffer.from(sentinel), Buffer.from([1, defaultFuses.length]), Buffer.from(defaultFuses)])

/** A folder that electron-builder accepts as Electron's distribution; its binary identifies itself and does nothing. */
export function createFakeElectronDist(folder: string): void {
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules/electron/package.json'), 'utf8')) as { version: string }
  const program = Buffer.concat([Buffer.from('#!/bin/sh\necho "This is no Electron." >&2\nexit 1\n'), fuseWire, Buffer.from('\n')])
  for (const name of ['locales', 'resources']) mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, 'electron'), program)
  chmodSync(join(folder, 'electron'), 0o755)
  writeFileSync(join(folder, 'version'), version)
  for (const name of ['LICENSE', 'LICENSES.chromium.html', 'locales/en-US.pak', 'locales/de.pak', 'chrome-sandbox'])
    writeFileSync(join(folder, name), name)
}
