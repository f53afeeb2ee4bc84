import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isRuntimeName, type RuntimeName } from '../contract/runtimes.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { DeploymentContext } from './context.ts'
import type { Supervisor } from './supervisor.ts'

/** The id of every volume starts with the id of its project. */
const projectPrefix = 'prj_'

/** Writes every volume of every project as `{runtime}/{volume}.tar` below a folder, each as of one moment. */
export async function writeVolumeArchives(
  context: DeploymentContext,
  supervisor: Supervisor,
  folder: string,
  signal: AbortSignal,
): Promise<{ names: string[]; left_out: string[] }> {
  const names: string[] = []
  const left_out: string[] = []
  for (const name of context.runtimeNames) {
    const runtime = context.runtime(name)
    if (!(await runtime.probe()).available) continue
    for (const { id } of await runtime.listVolumes(projectPrefix)) {
      const file = join(folder, name, `${id}.tar`)
      const write = async () => {
        const archive = await runtime.exportVolume(id)
        if (!archive) return
        await mkdir(join(folder, name), { recursive: true, mode: 0o700 })
        await pipeline(archive, createWriteStream(file, { flags: 'wx', mode: 0o600 }), { signal })
        names.push(`${name}/${id}.tar`)
      }
      const live = supervisor.findEnvironment(id.slice(0, id.indexOf('.')))
      try {
        await (live ? supervisor.freezeWhile(live.spec, write) : write())
      } catch (error) {
        signal.throwIfAborted()
        if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw error
        await rm(file, { force: true })
        left_out.push(`The volume ${id}: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
  }
  return { names, left_out }
}

/** Creates a volume from a backup; false if it exists already, because an app has used it since. */
export async function restoreVolume(runtimes: Record<RuntimeName, Runtime>, runtimeName: string, id: string, archive: Readable): Promise<boolean> {
  const projectId = /^prj_[0-9a-z]+/.exec(id)?.[0]
  if (!isRuntimeName(runtimeName) || projectId === undefined) throw new Error('The archive names no runtime or project.')
  const runtime = runtimes[runtimeName]
  if ((await runtime.listVolumes(id)).some((one) => one.id === id)) return false
  await runtime.importVolume(id, projectId, archive)
  return true
}
