import { app } from 'electron'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readOptions } from '../server/options.ts'
import { openCity } from './city.ts'
import { runDesktop } from './desktop.ts'

/** The desktop: Electron's main process. It takes the options of `homeport serve`, Chromium's own pass by. */
const flag = { type: 'string' } as const
const { values } = parseArgs({
  args: process.argv.slice(1),
  options: { data: flag, host: flag, port: flag, 'edge-port': flag, 'edge-https-port': flag, runtime: flag },
  strict: false,
})
const text = (name: string) => (typeof values[name] === 'string' ? values[name] : undefined)
const options = readOptions({
  data: text('data'),
  host: text('host'),
  port: text('port'),
  'edge-port': text('edge-port'),
  'edge-https-port': text('edge-https-port'),
  runtime: text('runtime'),
})

// Not awaited: Electron gets ready only after this module has run to its end.
runDesktop({
  data_dir: options.data_dir,
  preload: join(import.meta.dirname, '../preload/index.cjs'),
  openCity: () => openCity(options, (line) => void process.stderr.write(`${line}\n`)),
}).catch((error: unknown) => {
  console.error(error)
  app.exit(1)
})
