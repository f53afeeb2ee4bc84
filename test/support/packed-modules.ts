import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './instance-process.ts'

/** Packages of this checkout with their dependencies, as files of an app, so that nothing is downloaded. */
export function packModules(names: readonly string[]): Record<string, string> {
  const files: Record<string, string> = {}
  const pack = (name: string): void => {
    const folder = join(root, 'node_modules', name)
    if (!existsSync(folder)) return
    const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { dependencies?: Record<string, string> }
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
      if (/\.(?:js|cjs|mjs|json)$/.test(file)) files[join('node_modules', name, file)] ??= readFileSync(join(folder, file), 'utf8')
    for (const one of Object.keys(dependencies)) if (!files[join('node_modules', one, 'package.json')]) pack(one)
  }
  for (const name of names) pack(name)
  return files
}
