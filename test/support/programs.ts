import { join } from 'node:path'
import { buildChanged, root } from '../../server/cli/prepare.mjs'

const programs = {
  sources: ['server', 'test/support', 'resources/package/bundled-packages.ts', 'package-lock.json'],
  commands: [['vite/bin/vite.js', 'build', '--config', 'test/support/programs.config.ts']],
  folder: 'out/programs',
  files: ['homeport.js', 'platform-process.js', 'edge-worker.js', 'node-edge.js'],
}

/** What V8 compiled of them, as a user's bundle has it. */
export const compileCache = join(root, 'node_modules/.cache/homeport-compile')

/**
 * The path of a program that a test starts as a process: the command line, a platform, an edge worker, or the edge of a node. It is bundled, because loading its hundreds of source
 * files takes longer than most tests, and bundled again after a change.
 */
export async function buildProgram(name: 'homeport' | 'platform-process' | 'edge-worker' | 'node-edge'): Promise<string> {
  await buildChanged(programs)
  return join(root, programs.folder, `${name}.js`)
}
