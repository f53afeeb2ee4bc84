#!/usr/bin/env node
/**
 * The command `homeport` in a checkout. It runs on whatever Node the machine has, sees to it that dependencies and bundles are
 * there, and hands over to the bundle on our own Node.
 */
import { existsSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { become, buildChanged, endWithNpm, installMissing, isModern, nodeFlags, nodePath, root } from './prepare.mjs'

const bundle = join(root, 'out', 'main', 'homeport.js')

try {
  endWithNpm()
  await installMissing()
  await buildChanged()
  const lacksFlags = process.argv[2] === 'serve' && nodeFlags.some((flag) => !process.execArgv.includes(flag))
  if (isModern) {
    // How the heap grows is decided as a process starts: a platform, which runs for long, starts once more in its own place.
    if (lacksFlags && process.platform !== 'win32')
      process.execve?.(process.execPath, [process.execPath, ...process.execArgv, ...nodeFlags, import.meta.filename, ...process.argv.slice(2)])
    module.enableCompileCache?.(join(root, 'node_modules', '.cache', 'homeport'))
    await import(pathToFileURL(bundle).href)
  } else {
    become(existsSync(nodePath()) ? nodePath() : 'node', [...nodeFlags, import.meta.filename, ...process.argv.slice(2)])
  }
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
