/** Electron treats files that end in `.asar` as folders, unless they are read with `original-fs`, which plain Node does not have. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { afterAll, expect, test } from 'vitest'
import config, { originalFs } from '../../electron.vite.config.ts'
import { createTempFolder } from '../support/instance-process.ts'

const { path: folder, remove } = createTempFolder('original-fs')
afterAll(remove)

test('the server in the desktop reads files with original-fs, and its own archive with the archive-aware file system', async () => {
  const write = (path: string, text: string) => {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const report = (name: string) =>
    `import { existsSync } from 'node:fs'\nimport { access } from 'node:fs/promises'\nexport const ${name} = [existsSync('/'), await access('/')].join()\n`
  write('server/source/files.ts', report('files'))
  write('server/options.ts', report('options'))
  write(
    'main/index.ts',
    `import { files } from '../server/source/files.ts'\nimport { options } from '../server/options.ts'\nconsole.log(files, options)`,
  )
  const entry = join(folder, 'main/index.ts')
  const output = { format: 'es' as const, entryFileNames: 'index.mjs' }
  // Externals as electron-vite names them.
  const rollupOptions = { input: entry, output, external: ['node:fs', 'node:fs/promises'] }
  const built = { ssr: true, target: 'esnext', outDir: join(folder, 'out'), rollupOptions }
  await build({ configFile: false, root: folder, logLevel: 'error', plugins: [originalFs], build: built })

  const electron = `data:text/javascript,const files = { existsSync: () => 'original', promises: { access: async () => 'original' } };
const get = process.getBuiltinModule; process.getBuiltinModule = (id) => id === 'original-fs' ? files : get(id)`
  const run = (...args: string[]) => execFileSync(process.execPath, [...args, join(folder, 'out/index.mjs')], { encoding: 'utf8' })
  expect(run('--import', electron)).toBe('original,original true,\n')
  expect(run()).toBe('true, true,\n')
  expect(config).toMatchObject({ main: { plugins: expect.arrayContaining([originalFs]) } })
})
