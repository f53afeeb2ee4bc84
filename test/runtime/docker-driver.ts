import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createRuntimes } from '../../server/runtime/index.ts'
import { createDockerView } from '../support/docker.ts'
import { runProgram, listEntries, findFilesContaining } from '../support/runtime.ts'
import type { Driver } from './suite-context.ts'

/** The output of a docker command, by lines. */
export const dockerLines = async (args: string[]) => (await runProgram('docker', args)).trim().split('\n').filter(Boolean)

export const dockerDriver: Driver = {
  tested_as: 'docker',
  create: (options) => createRuntimes(options).docker,
  has_own_grace: true,
  async leftovers(options, id) {
    const isProject = id.startsWith('prj_')
    const instance = ['--filter', `label=homeport.instance=${options.instance_id}`]
    const ours = [...instance, '--filter', `label=homeport.${isProject ? 'project' : 'deployment'}=${id}`]
    const [containers, images, volumes, folders] = await Promise.all([
      dockerLines(['ps', '-aq', ...ours]),
      // The tag of an image names its deployment.
      isProject ? dockerLines(['images', '-q', ...ours]) : dockerLines(['images', '-q', ...instance, '--filter', `reference=*/*:${id}*`]),
      isProject ? dockerLines(['volume', 'ls', '-q', ...ours]) : [],
      listEntries(join(options.data_dir, 'bundles')),
    ])
    return [...containers, ...images, ...volumes, ...folders.filter((name) => name.startsWith(id))]
  },
  async search(artifact, texts) {
    if (artifact.kind !== 'image') return []
    const { image } = artifact
    const said = { history: await runProgram('docker', ['history', '--no-trunc', image]), inspect: await runProgram('docker', ['inspect', image]) }
    const outputs = Object.entries(said).filter(([, out]) => texts.some((text) => out.includes(text)))
    const layers = await ownLayers(image)
    const found = layers
      ? (await Promise.all(layers.flatMap((layer) => texts.map((text) => findFilesContaining(text, layer))))).flat()
      : await searchSaved(image, texts)
    return [...outputs.map(([name]) => name), ...found]
  },
  async cleanUp(options, runtime) {
    for (const found of await runtime.list()) await runtime.stop(found.id, 0)
    await createDockerView(options.instance_id).removeAll()
  },
}

/** Folders of the layers that an image adds to its base; undefined if the engine stores them differently, or only root can read them. */
async function ownLayers(image: string): Promise<string[] | undefined> {
  const layersOf = async (name: string) => {
    const [{ GraphDriver }] = JSON.parse(await runProgram('docker', ['image', 'inspect', name])) as [
      { GraphDriver?: { Data?: Record<string, string> } },
    ]
    const { UpperDir = '', LowerDir = '' } = GraphDriver?.Data ?? {}
    return [UpperDir, ...LowerDir.split(':')].filter(Boolean)
  }
  const base = await layersOf('node:24-bookworm-slim')
  const own = (await layersOf(image)).filter((layer) => !base.includes(layer))
  return own.length > 0 && own.every((layer) => existsSync(layer)) ? own : undefined
}

/** In the output of `save`, layers are plain tar files. */
export async function searchSaved(image: string, texts: string[], environment: Record<string, string> = {}): Promise<string[]> {
  const search = 'image=$1; shift; docker save "$image" | grep -acF "$@" || true'
  const count = await runProgram('sh', ['-c', search, 'sh', image, ...texts.flatMap((text) => ['-e', text])], environment)
  return count.trim() === '0' ? [] : ['layers']
}
