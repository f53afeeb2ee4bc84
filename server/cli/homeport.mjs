#!/usr/bin/env node
/**
 * The command `homeport` in a checkout. It runs on the machine's Node, installs dependencies and builds the bundle if needed, and
 * then runs the bundle on the bundled Node.
 */
import { existsSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { become, buildChanged, endWithNpm, installMissing, isModern, nodeFlags, nodePath, root, startOver } from './prepare.mjs'

const bundle = join(root, 'out', 'main', 'homeport.js')

try {
  if (isModern && process.argv[2] === 'serve') startOver(import.meta.filename)
  endWithNpm()
  await installMissing()
  await buildChanged()
  if (isModern) {
    module.enableCompileCache?.(join(root, 'node_modules', '.cache', 'homeport'))
    await import(pathToFileURL(bundle).href)
  } else {
    become(existsSync(nodePath()) ? nodePath() : 'node', [...nodeFlags, import.meta.filename, ...process.argv.slice(2)])
  }
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
