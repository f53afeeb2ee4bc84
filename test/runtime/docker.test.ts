import { join } from 'node:path'
import { describe } from 'vitest'
import { createRuntimes } from '../../server/runtime/index.ts'
import { requires } from '../support/requirements.ts'
import { command, entriesOf } from '../support/runtime.ts'
import { runtimeSuite } from './suite.ts'

const docker = requires('docker')

const lines = async (args: string[]) => (await command('docker', args)).trim().split('\n').filter(Boolean)

describe.skipIf(!docker.ok)('docker runtime', { timeout: 90_000 }, () => {
  runtimeSuite({
    create: (options) => createRuntimes(options).docker,
    async leftovers(options, id) {
      const label = id.startsWith('prj_') ? `label=homeport.project=${id}` : `label=homeport.deployment=${id}`
      const ours = ['--filter', label, '--filter', `label=homeport.instance=${options.instance_id}`]
      const [containers, images, volumes, folders] = await Promise.all([
        lines(['ps', '-aq', ...ours]),
        lines(['images', '-q', ...ours]),
        id.startsWith('prj_') ? lines(['volume', 'ls', '-q', ...ours]) : [],
        entriesOf(join(options.data_dir, 'bundles')),
      ])
      return [...containers, ...images, ...volumes, ...folders.filter((name) => name.startsWith(id))]
    },
    async search(artifact, text) {
      if (artifact.kind !== 'image') return []
      const history = await command('docker', ['history', '--no-trunc', artifact.image])
      const inspect = await command('docker', ['inspect', artifact.image])
      // Layers are plain tar files in what `save` writes.
      const saved = await command('sh', ['-c', 'docker save "$1" | grep -acF -- "$2" || true', 'sh', artifact.image, text])
      return [...(history.includes(text) ? ['history'] : []), ...(inspect.includes(text) ? ['inspect'] : []), ...(saved.trim() === '0' ? [] : ['layers'])]
    },
    async cleanUp(options, runtime) {
      for (const found of await runtime.list()) await runtime.stop(found.id, 0)
      const ours = ['--filter', `label=homeport.instance=${options.instance_id}`]
      const remove = async (kind: string, names: string[]) => void (names.length && (await command('docker', [kind, 'rm', '-f', ...names]).catch(() => {})))
      await remove('container', await lines(['ps', '-aq', ...ours]))
      await remove('image', await lines(['images', '-q', ...ours]))
      await remove('volume', await lines(['volume', 'ls', '-q', ...ours]))
      for (const network of await lines(['network', 'ls', '-q', ...ours])) await command('docker', ['network', 'rm', network])
    },
  })
})
