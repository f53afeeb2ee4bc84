import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { EdgeProgram } from '../runtime/nodes.ts'

const entry = 'node-edge.js'
/** Also of minified modules. */
const importPattern = /\b(?:import|from)\s*["']\.\/([^"'/]+)["']/g

/** The program of the edge of a node, which is beside that of the workers. Undefined where nothing is bundled. */
export async function readEdgeProgram(edgeWorkerPath: string): Promise<EdgeProgram | undefined> {
  const folder = dirname(edgeWorkerPath)
  const files: Record<string, string> = {}
  const add = async (name: string): Promise<void> => {
    const text = await readFile(join(folder, name), 'utf8')
    files[name] = text
    for (const [, imported = ''] of text.matchAll(importPattern)) if (!(imported in files)) await add(imported)
  }
  try {
    await add(entry)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && !(entry in files)) return undefined
    throw error
  }
  return { files, entry }
}
