import { join } from 'node:path'
import { createRuntimes } from '../../server/runtime/index.ts'
import { listEntries, findFilesContaining } from '../support/runtime.ts'
import type { Driver } from './suite-context.ts'

export const processDriver: Driver = {
  tested_as: 'process',
  create: (options) => createRuntimes(options).process,
  has_own_grace: false,
  async leftovers(options, id) {
    const folders = ['bundles', 'work', 'cache/dependencies', 'cache/frameworks']
    const found = await Promise.all(
      folders.map(async (folder) => (await listEntries(join(options.data_dir, folder))).filter((name) => name.startsWith(id))),
    )
    return found.flat()
  },
  search: async (artifact, texts) =>
    artifact.kind === 'image' ? [] : (await Promise.all(texts.map((text) => findFilesContaining(text, artifact.directory)))).flat(),
  async cleanUp(_options, runtime) {
    for (const found of await runtime.list()) await runtime.stop(found.id, 0)
  },
}
